// All findings in groups, to search and to filter; and what was not covered.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isBox } from "./around";
import { counted, fileOf, findings, grouped, isGone, place, report, strengths, type Change, type Finding, type SequentialRun, type Strength } from "./data";
import { onKey } from "./keys";
import { ChangeTag, Copyable, StrengthLabel, StrengthMark } from "./parts";
import { hashOf } from "./route";

type Grouping = "rule" | "strength" | "file" | "change";

export interface Filter {
  search: string;
  strength: string;
  rule: string;
  change: string;
  grouping: Grouping;
}

export const noFilter: Filter = { search: "", strength: "", rule: "", change: "", grouping: "rule" };

const perGroup = 50; // rows shown at first, and more at a time

const haystack = new WeakMap<Finding, string>();
function textOf(finding: Finding): string {
  let text = haystack.get(finding);
  if (text === undefined) {
    const steps = finding.steps.flatMap((s) => [s.operation, s.phrase, s.because, s.block, s.held, ...s.frames.map((f) => f.text)]);
    const around = (finding.spans ?? []).map((span) => (isBox(span) ? span.name : `holding ${span.name}`));
    const claim = [finding.message, finding.conclusion, finding.advice, finding.rule, finding.name, finding.title, finding.checker, finding.fingerprint, finding.input];
    text = [...claim, ...finding.threads, ...finding.blocks, ...steps, ...around, ...(finding.chains ?? []).map((chain) => chain.title)]
      .join("\n")
      .toLowerCase();
    haystack.set(finding, text);
  }
  return text;
}

export function select(filter: Filter): Finding[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  return findings.filter(
    (f) =>
      (!filter.strength || f.strength === filter.strength) &&
      (!filter.rule || f.rule === filter.rule) &&
      (!filter.change || f.change === filter.change) &&
      words.every((word) => textOf(f).includes(word)),
  );
}

interface Group {
  key: string;
  title: string;
  note: string;
  findings: Finding[];
}

const order: Record<Grouping, string[]> = {
  rule: [],
  strength: Object.keys(strengths),
  file: [],
  change: ["new", "known", "fixed", "unchecked"],
};

function groups(selected: Finding[], grouping: Grouping): Group[] {
  const result = new Map<string, Group>();
  for (const finding of selected) {
    const key = grouping === "file" ? fileOf(finding) : (finding[grouping] ?? "");
    let group = result.get(key);
    if (!group) {
      const rule = report.rules.find((r) => r.id === key);
      const title = grouping === "rule" ? `${key} ${finding.title}` : key === "unchecked" ? "not checked" : key || "no file";
      const note = grouping === "rule" ? (rule?.brief ?? "") : grouping === "strength" ? strengths[key as Strength] : "";
      result.set(key, (group = { key, title, note, findings: [] }));
    }
    group.findings.push(finding);
  }
  const rank = (key: string) => order[grouping].indexOf(key);
  return [...result.values()].sort((a, b) => rank(a.key) - rank(b.key) || (grouping === "file" || grouping === "rule" ? a.key.localeCompare(b.key) : 0));
}

// The order in which the overview shows them is the order in which j and k go through them.
export function inOrder(filter: Filter): Finding[] {
  return groups(select(filter), filter.grouping).flatMap((g) => g.findings);
}

const total = report.sample?.all ?? findings.length;
const now = findings.filter((f) => !isGone(f)).length;
const present = report.compared ? report.compared.new + report.compared.known : report.sample ? total : now;
export const headline = present === 0 ? "No findings" : counted(present, "finding");

export function Overview({ filter, setFilter }: { filter: Filter; setFilter: (filter: Filter) => void }) {
  const selected = useMemo(() => select(filter), [filter]);
  const shownGroups = useMemo(() => groups(selected, filter.grouping), [selected, filter.grouping]);
  const search = useRef<HTMLInputElement>(null);
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });

  useLayoutEffect(() => {
    const move = (by: number) => {
      const rows = [...document.querySelectorAll<HTMLAnchorElement>("a.row")];
      const at = rows.indexOf(document.activeElement as HTMLAnchorElement);
      rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
    };
    return onKey({
      j: () => move(1),
      k: () => move(-1),
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      "/": () => search.current?.focus(),
    });
  }, []);

  return (
    <main id="content" class="overview" tabIndex={-1}>
      <header class="claim">
        <h1>{headline}</h1>
        <p class="conclusion">{extent()}</p>
        {report.compared && <Compared filter={filter} set={set} />}
        {report.sample && (
          <p class="notice">
            This page shows {grouped(findings.length)} of {grouped(total)} findings, some of every rule, strength and file; numbers marked “of” count them all. The findings file has the rest.
          </p>
        )}
      </header>
      {findings.length > 0 && (
        <>
          <search class="toolbar">
            <input
              ref={search}
              type="search"
              placeholder="Search names, files, locks, sentences  ( / )"
              aria-label="Search findings"
              value={filter.search}
              onInput={(event) => set({ search: event.currentTarget.value })}
              onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
            />
            <Choice label="Strength" value={filter.strength} all="any strength" options={kinds("strength")} onChoose={(strength) => set({ strength })} />
            <Choice label="Rule" value={filter.rule} all="any rule" options={kinds("rule")} onChoose={(rule) => set({ rule })} />
            <Choice
              label="Group by"
              value={filter.grouping}
              options={(["rule", "strength", "file", ...(report.compared ? ["change"] : [])] as Grouping[]).map((g) => [g, `by ${g}`])}
              onChoose={(grouping) => set({ grouping: grouping as Grouping })}
            />
            <span class="quiet" role="status">
              {selected.length === findings.length ? "" : `${grouped(selected.length)} of ${grouped(findings.length)}`}
            </span>
          </search>
          {selected.length === 0 && (
            <p class="quiet">
              Nothing fits.{" "}
              <button type="button" class="small" onClick={() => setFilter({ ...noFilter, grouping: filter.grouping })}>
                Show all
              </button>
            </p>
          )}
          {shownGroups.map((group) => (
            <GroupView key={`${filter.grouping}/${group.key}`} group={group} grouping={filter.grouping} />
          ))}
        </>
      )}
      <Coverage />
    </main>
  );
}

function extent(): string {
  const events = report.inputs.reduce((sum, input) => sum + input.events, 0);
  const of = report.inputs.length === 1 ? report.inputs[0]!.path : counted(report.inputs.length, "input");
  const clean = report.checkers.filter((c) => c.verdict === "clean").map((c) => c.name);
  return `${counted(events, "event")} of ${of}${clean.length ? `; ${list(clean)} found nothing` : ""}.`;
}

const list = (words: string[]) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`);

function kinds(field: "strength" | "rule"): [string, string][] {
  const present = [...new Set(findings.map((f) => f[field] as string))];
  const known = field === "strength" ? order.strength.filter((k) => present.includes(k)) : present.sort();
  return known.map((key) => [key, field === "rule" ? `${key} ${findings.find((f) => f.rule === key)!.name}` : key]);
}

interface ChoiceProps {
  label: string;
  value: string;
  all?: string; // what no choice is called
  options: [string, string][];
  onChoose: (value: string) => void;
}

function Choice({ label, value, all, options, onChoose }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      {all && <option value="">{all}</option>}
      {options.map(([key, text]) => (
        <option value={key}>{text}</option>
      ))}
    </select>
  );
}

function Compared({ filter, set }: { filter: Filter; set: (change: Partial<Filter>) => void }) {
  const compared = report.compared!;
  return (
    <div class="compared">
      <p>
        Compared with <code>{compared.with}</code>:{" "}
        {(["new", "known", "fixed", "unchecked"] as Change[])
          .filter((change) => change !== "unchecked" || compared.unchecked > 0)
          .map((change) => (
            <button
              type="button"
              class={`change ${change}`}
              aria-pressed={filter.change === change}
              onClick={() => set({ change: filter.change === change ? "" : change })}
            >
              {grouped(compared[change])} {change === "unchecked" ? "not checked again" : change}
            </button>
          ))}
      </p>
      {compared.caveats.map((caveat) => (
        <p class="quiet">{caveat}</p>
      ))}
    </div>
  );
}

function GroupView({ group, grouping }: { group: Group; grouping: Grouping }) {
  const [most, setMost] = useState(perGroup);
  const all = report.sample?.[grouping]?.[group.key];
  return (
    <section class="group" aria-label={group.title}>
      <h2>
        {grouping === "strength" && <StrengthMark strength={group.key as Strength} />} {group.title}{" "}
        <span class="count">{all && all > group.findings.length ? `${grouped(group.findings.length)} of ${grouped(all)}` : grouped(group.findings.length)}</span>
      </h2>
      {group.note && <p class="quiet">{group.note}</p>}
      <ul class={`rows by-${grouping} ${report.compared ? "compares" : ""}`}>
        {group.findings.slice(0, most).map((finding) => (
          <li>
            <Row finding={finding} grouping={grouping} />
          </li>
        ))}
      </ul>
      {group.findings.length > most && (
        <button type="button" class="small" onClick={() => setMost(most + 4 * perGroup)}>
          Show more ({grouped(group.findings.length - most)} left)
        </button>
      )}
    </section>
  );
}

function Row({ finding, grouping }: { finding: Finding; grouping: Grouping }) {
  const places = [...new Set(finding.steps.map(place).filter(Boolean))];
  return (
    <a class="row" href={hashOf(finding)}>
      <span class="row-strength">
        <StrengthLabel strength={finding.strength} />
      </span>
      <span class="row-message">{finding.message}</span>
      <span class="row-places">
        {places.slice(0, 3).join("  ")}
        {places.length > 3 ? " …" : ""}
      </span>
      <span class="row-threads">{finding.threads.join(", ")}</span>
      {grouping !== "rule" && <span class="row-rule">{finding.rule}</span>}
      <span class="row-count">
        {finding.count > 1 && <span title={`seen ${counted(finding.count, "time")}`}>×{grouped(finding.count)}</span>} <ChangeTag change={finding.change} />
      </span>
    </a>
  );
}

// A run of the nondeterministic sequential specification with the same outcome: what to debug instead of the parallel one.
function SequentialRunView({ run }: { run: SequentialRun }) {
  return (
    <>
      <h3>Tasks of {run.input}</h3>
      <p class="quiet">
        {counted(run.tasks, "task")}; {grouped(run.irrelevant_events)} of {counted(run.events, "event")} do not matter to the outcome;{" "}
        {counted(run.conflict_warnings, "warning")} by plain conflicts, {grouped(run.ndseq_warnings)} by what matters.
      </p>
      {run.found ? (
        <>
          <p>The tasks in this order, one after the other, give the same outcome:</p>
          <ol class="order">
            {run.order?.map((place) => (
              <li class={`depth-${Math.min(place.depth, 4)}`}>
                {place.task}
              </li>
            ))}
          </ol>
          {!!run.order_left_out && <p class="quiet">and {counted(run.order_left_out, "more task")}</p>}
          {!!run.skipped?.length && <p>without the bodies of these if (true*):</p>}
          <ul class="plain">
            {run.skipped?.map((step) => (
              <li>
                {step.thread} {step.phrase} <span class="path quiet">{place(step)}</span>
              </li>
            ))}
          </ul>
          {!!run.skipped_left_out && <p class="quiet">and {grouped(run.skipped_left_out)} more</p>}
        </>
      ) : (
        <p>No sequential run of the tasks gives the same outcome; the findings show why.</p>
      )}
    </>
  );
}

function Coverage() {
  const notes = report.inputs.filter((input) => input.note);
  const hidden = report.left_out > 0 || report.left_out_occurrences > 0;
  return (
    <section class="coverage" aria-labelledby="coverage-title">
      <h2 id="coverage-title">What was checked, and what was not</h2>
      <table>
        <thead>
          <tr>
            <th>Checker</th>
            <th>Verdict</th>
            <th>Not covered</th>
          </tr>
        </thead>
        <tbody>
          {report.checkers.map((checker) => (
            <tr>
              <td class="word">{checker.name}</td>
              <td class={`word ${checker.verdict}`}>{checker.verdict}</td>
              <td>{checker.note || <span class="quiet">—</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table>
        <thead>
          <tr>
            <th>Input</th>
            <th class="right">Events</th>
            <th>Not covered</th>
          </tr>
        </thead>
        <tbody>
          {[...notes, ...report.inputs.filter((input) => !input.note)].slice(0, 50).map((input) => (
            <tr>
              <td class="path">{input.path}</td>
              <td class="right">{grouped(input.events)}</td>
              <td>{input.note || <span class="quiet">—</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {report.inputs.length > 50 && <p class="quiet">and {counted(report.inputs.length - 50, "more input")}</p>}
      {hidden && (
        <p class="notice">
          {report.left_out > 0 && `${counted(report.left_out, "finding")} past the limit (--limit) ${report.left_out === 1 ? "is" : "are"} not in this report. `}
          {report.left_out_occurrences > 0 && `${counted(report.left_out_occurrences, "occurrence")} of further findings were not kept apart.`}
        </p>
      )}
      {report.notices.length > 0 && (
        <ul class="plain">
          {report.notices.slice(0, 200).map((notice) => (
            <li>{notice}</li>
          ))}
          {report.notices.length > 200 && <li class="quiet">and {counted(report.notices.length - 200, "more notice")}</li>}
        </ul>
      )}
      {report.suppressed_count > 0 && (
        <details>
          <summary>{counted(report.suppressed_count, "finding")} suppressed</summary>
          <table>
            <tbody>
              {report.suppressed.slice(0, 200).map((s) => (
                <tr>
                  <td class="word">{s.rule}</td>
                  <td>{s.message}</td>
                  <td>{s.suppression.reason}</td>
                  <td class="path">{s.suppression.where}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {report.suppressed_count > 200 && <p class="quiet">and {grouped(report.suppressed_count - 200)} more, which the findings file has</p>}
        </details>
      )}
      {report.sequential_runs?.slice(0, 20).map((run) => <SequentialRunView run={run} />)}
      {(report.sequential_runs?.length ?? 0) > 20 && <p class="quiet">and the tasks of {counted(report.sequential_runs!.length - 20, "more input")}, which the findings file has</p>}
      {report.command && (
        <>
          <h3>Made by</h3>
          <Copyable text={report.command} label="the command of this run" />
        </>
      )}
    </section>
  );
}
