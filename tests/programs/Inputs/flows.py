"""flows.py TRACE…: for each text trace, whether what was last written to `sink` comes from a read of `source`.

Follows every write and local back to what it was made of, by the trace's own words. Knows nothing of Heddle.
"""
import re
import sys

ACCESS = re.compile(r"(a?)(r|w|rmw|casfail)\(([^,)]+)[^)]*\)(?:[<>](\S+))?$")


def comes_from(lines):
    local, memory = {}, {}  # what each depends on: a set of variables read
    for line in lines:
        thread, operation, _ = line.rstrip("\n").split("|", 2)
        if found := re.match(r"set\(([^,)]+)(?:,(.*))?\)$", operation):
            sources = found.group(2).split(",") if found.group(2) else []
            local[found.group(1)] = set().union(*(local.get(name, set()) for name in sources))
        elif found := ACCESS.match(operation):
            kind, variable, name = found.group(2), found.group(3), found.group(4)
            before = memory.get(variable, set()) | {variable}
            if kind == "w":
                memory[variable] = set(local.get(name, set()))
            elif kind == "rmw":
                memory[variable] = before | local.get(name, set())
                local[name] = before
            elif name:
                local[name] = before
        elif found := re.match(r"free\((.+)\)$", operation):
            memory.pop(found.group(1), None)
    return memory.get("sink", set())


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as trace:
        print("connected" if "source" in comes_from(trace) else "apart")
