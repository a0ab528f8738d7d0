"""S0's Table 1: what it costs to check programs for atomicity and for determinism, and what is reported.

All functions of a program are expected to be atomic, and then all to be deterministic (of programs with a pool: its
tasks). The paper's point: those that fork and join are not atomic and were never meant to be, so `atomicity` reports
them; `determinism` reports nothing but bugs.

Warnings are counted as the paper does: the functions that are reported. That takes findings that are explained, which
those of a long run need not be, so they are counted on a small input. The times are of a larger one.
"""
import shutil
import statistics
import tomllib

from running import BASELINE, PROGRAMS, Failed, TookTooLong, build, checked, median_and_spread, run, with_headers
from table import table

CHECKED_AS = {"atomicity": "atomic", "determinism": "deterministic"}
# What the runs on small inputs look for besides: a correct program has none of these.
ALWAYS = ["race", "deadlock"]
QUICK_THREADS = [2, 8]
# What programs are checked for when nothing is said, with the blocks that are expected by default.
ONLINE = [*ALWAYS, *CHECKED_AS]
BAR = 0.6  # of TSan's slowdown (DESIGN §4)
HELGRIND_SECONDS = 120
TOOLS = ["empty", "determinism", "atomicity", "online", "TSan", "Helgrind"]


def load(context):
    """The programs that are wanted, and what is no block in any of them."""
    with open(context.data, "rb") as file:
        data = tomllib.load(file)
    names = [program["name"] for program in data["program"]]
    for name in context.programs or []:
        if name not in names:
            raise LookupError(f"there is no program '{name}'; there are {', '.join(names)}")
    return [program for program in data["program"] if context.programs is None or program["name"] in context.programs], data["leave_out"]


def of_paper(programs):
    return [program for program in programs if "blocks" in program]


def build_by_default(context, name):
    return build(context.compiler, PROGRAMS / f"{name}.cpp", context.scratch / f"{name}.default")


def build_checked(context, program, leave_out, checker):
    """The program with its blocks marked as the checker wants them."""
    name = program["name"]
    if "blocks" not in program:
        return build_by_default(context, name)
    kind = CHECKED_AS[checker]
    spec = context.scratch / f"{name}.{kind}.toml"
    quoted = {key: ", ".join(f'"{pattern}"' for pattern in patterns)
              for key, patterns in ((kind, program["blocks"]), ("ignore", leave_out))}
    spec.write_text("".join(f"{key} = [{value}]\n" for key, value in quoted.items()), encoding="utf-8")
    return build([*context.compiler, f"--heddle-spec={spec}"], PROGRAMS / f"{name}.cpp", context.scratch / f"{name}.{kind}")


def functions_of(findings):
    """The functions that the findings say are not what they should be; S0 counts these."""
    return {block for finding in findings for block in finding["blocks"]}


def count(context, program, leave_out, checker, threads, is_broken=False):
    """The checker's findings on the small input, once they are compared with what is expected."""
    label = f"{program['name']}{' broken' if is_broken else ''}, {threads} threads"
    expected = program["broken"] if is_broken else program
    arguments = [threads, program["quick"]] + (["broken"] if is_broken else [])
    _, found = checked(context.heddle, [*ALWAYS, checker], build_checked(context, program, leave_out, checker), arguments,
                       may_be_wrong=is_broken)
    findings = {name: [finding for finding in found if finding["checker"] == name] for name in (*ALWAYS, checker)}
    functions = functions_of(findings[checker])
    context.expect(label, checker, expected.get(checker, "0"), len(functions), "functions reported", sorted(functions))
    if expected.get(checker, "0") == "0":
        context.expect(label, checker, "0", len(findings[checker]))
    for name in ALWAYS:
        context.expect(label, name, expected.get(name, "0"), len(findings[name]))
    return findings[checker]


def quick_jobs(program):
    """(checker, threads, broken)"""
    if "blocks" not in program:
        return [("atomicity", threads, False) for threads in QUICK_THREADS]
    jobs = [("atomicity", program["threads"], False)]
    jobs += [("determinism", threads, False) for threads in QUICK_THREADS]
    if "broken" in program:
        jobs += [(checker, program["threads"], True) for checker in CHECKED_AS]
    return jobs


def quick(context):
    """The warnings on small inputs; one program per core at a time, because building them is most of it."""
    programs, leave_out = load(context)
    context.say(f"S0: building and running {len(programs)} programs")
    context.compiler = with_headers(context.compiler, context.scratch)

    def all_jobs(program):
        for checker, threads, is_broken in quick_jobs(program):
            count(context, program, leave_out, checker, threads, is_broken)

    context.on_all_cores({program["name"]: (all_jobs, program) for program in programs})


def threads_of(context, program, checked_program):
    """How many threads there are in a run: the main one, those of the pool, those of the tasks."""
    trace = context.scratch / "threads.heddle"
    run([context.heddle, "record", "-o", trace, "--", checked_program, program["threads"], program["quick"]])
    try:
        return len(context.json([context.heddle, "trace", "info", "--format", "json", trace])["threads"])
    finally:
        trace.unlink(missing_ok=True)


def build_all(context, program, leave_out):
    """The program as each tool wants it."""
    name = program["name"]
    source = PROGRAMS / f"{name}.cpp"
    return {"plain": build(BASELINE, source, context.scratch / f"{name}.plain"),
            "TSan": build([*BASELINE, "-fsanitize=thread"], source, context.scratch / f"{name}.tsan"),
            "online": build_by_default(context, name)} | {
                checker: build_checked(context, program, leave_out, checker) for checker in CHECKED_AS}


def helgrind(context, command, base):
    """Its slowdown, or why there is none: it is there for comparison, and must not cost a row."""
    if shutil.which("valgrind") is None:
        return "not installed"
    try:
        return run(["valgrind", "--tool=helgrind", "-q", *command], seconds=HELGRIND_SECONDS).seconds / base
    except TookTooLong:
        return f"over {HELGRIND_SECONDS} s"
    except Failed as error:
        context.say(f"Helgrind fails: {error}")
        return "fails"


def measure(context, program, leave_out, built):
    """Ratios over the plain run of the same round, by tool, and the warnings."""
    threads, arguments = program["threads"], [program["threads"], program["size"]]
    label = f"{program['name']} {program['size']}, {threads} threads"
    base, ratios = [], {}
    for _ in range(context.runs):
        seconds = run([built["plain"], *arguments]).seconds
        base.append(seconds)
        times = {"empty": run([built["atomicity"], *arguments], {"HEDDLE_OFF": "1"}).seconds,
                 "TSan": run([built["TSan"], *arguments]).seconds}
        for tool, checkers in ((*((checker, [checker]) for checker in CHECKED_AS), ("online", ONLINE))):
            done, findings = checked(context.heddle, checkers, built[tool], arguments)
            times[tool] = done.seconds
            context.expect(label, tool, "0" if program.get(tool, "0") == "0" else "1+", len(findings))
        for tool, value in times.items():
            ratios.setdefault(tool, []).append(value / seconds)
    warnings = {(checker, is_broken): count(context, program, leave_out, checker, threads, is_broken)
                for is_broken in ([False, True] if "broken" in program else [False]) for checker in CHECKED_AS}
    return {"threads": threads_of(context, program, built["determinism"]), "base": base, "ratios": ratios,
            "Helgrind": helgrind(context, [built["plain"], *arguments], statistics.median(base)), "warnings": warnings}


def warned(findings):
    return f"{len(functions_of(findings))} ({len(findings)})" if findings else "0"


def section(context):
    programs, leave_out = load(context)
    programs = of_paper(programs)
    context.say(f"S0: building {len(programs)} programs, each in five ways")
    context.compiler = with_headers(context.compiler, context.scratch)
    built = context.on_all_cores({program["name"]: (build_all, context, program, leave_out) for program in programs})
    theirs = context.papers["S0"]
    their_rows = {name: dict(zip(theirs["columns"], row)) for name, row in theirs["rows"].items()}
    slowdowns = ("empty", "singletrack", "velodrome")
    rows, costs, kept = [], [], {}
    for number, program in enumerate(programs, 1):
        name = program["name"]
        context.say(f"S0: {name} ({number} of {len(programs)})")
        result = built[name] and context.attempt(f"S0: {name}", measure, context, program, leave_out, built[name])
        if result is None:
            continue
        paper = their_rows[program.get("paper", name)]
        warnings = result["warnings"]
        rows.append([name, str(result["threads"]),
                     *(warned(warnings[checker, is_broken]) if (checker, is_broken) in warnings else "" for is_broken in (False, True) for checker in CHECKED_AS),
                     *(str(paper[column]) for column in ("threads", "atomicity", "determinism"))])
        cells = {tool: median_and_spread(values) for tool, values in result["ratios"].items()}
        kept[name] = {tool: statistics.median(values) for tool, values in result["ratios"].items()}
        cells["Helgrind"] = result["Helgrind"]
        if isinstance(result["Helgrind"], float):
            kept[name]["Helgrind"] = result["Helgrind"]
            cells["Helgrind"] = f"{result['Helgrind']:.1f}"
        costs.append([name, median_and_spread(result["base"], 2), *(cells[tool] for tool in TOOLS), *(str(paper[column]) for column in slowdowns)])
    if not kept:
        return []
    # Of all programs, or none.
    means = {tool: statistics.geometric_mean(values[tool] for values in kept.values())
             for tool in TOOLS if all(tool in values for values in kept.values())}
    their_means = [statistics.geometric_mean(row[column] for row in their_rows.values()) for column in slowdowns]
    costs.append(["geometric mean", "", *(f"{means[tool]:.1f}" if tool in means else "" for tool in TOOLS), *(f"{mean:.1f}" for mean in their_means)])
    varying = [program["name"] for program in programs if program["atomicity"].endswith("+")]
    reasons = {program["name"]: program.get("slow", "not looked into yet") for program in programs}
    for name, values in kept.items():
        if values["online"] > BAR * values["TSan"]:
            context.miss("S0", f"{name}: {values['online'] / values['TSan']:.2f} × TSan's; {reasons[name]}")
    context.bar("S0", f"The default checkers together (*online*) at most {BAR} × TSan's slowdown; the geometric mean of all programs is "
                      f"{means['online'] / means['TSan']:.2f}")
    return [
        "All functions are expected to be atomic, then all to be deterministic (of hedc, queue_jg and queue_mm: the pool's tasks and what they call). "
        "Not blocks are the functions that would be fields, elements of arrays or arithmetic in the paper's Java (`leave_out` in "
        "[programs.toml](../bench/programs/programs.toml)). Warnings: functions that are reported, as the paper counts, and in parentheses in how many findings; on a small input, so that all findings can be explained. "
        f"{', '.join(varying)} and the broken programs: which functions `atomicity` reports depends on the schedule. "
        "*broken*: with the bug that the paper reports; the paper's own sor and raytracer are these.",
        table(["program", "threads", "atomicity", "determinism", "broken: atomicity", "determinism", "S0: threads",
               "S0: Velodrome", "S0: SingleTrack"], rows),
        "Functions that fork and join, or wait at barriers, cannot be atomic: all of the first ten programs have some, and are right. "
        "`determinism` reports the two bugs and nothing else.",
        f"CPU time of program and checker over that of the program built with plain -O2 in the same round: the median of {context.runs} rounds, least and "
        "greatest in parentheses; Helgrind once. *empty*: instrumented, all calls return at once (`HEDDLE_OFF=1`). *online*: what `heddle run` checks by default, "
        "with the blocks it expects by default.",
        table(["program", "base s", "empty ×", "determinism ×", "atomicity ×", "online ×", "TSan ×", "Helgrind ×", "S0: empty ×",
               "S0: SingleTrack ×", "S0: Velodrome ×"], costs)]
