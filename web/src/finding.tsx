// One finding: what is wrong, the pictures of it, its steps, its source, and what to do.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { argumentOf, shapeOf, type Edge, type Point } from "./argument";
import { counted, findings, report, type Finding, type Step } from "./data";
import { TransactionGraph, transactions } from "./graph";
import { Markdown } from "./markdown";
import { momentsOf, scheduleMoments } from "./moments";
import { ChangeTag, Copyable, StrengthLabel } from "./parts";
import { SourceView } from "./source";
import { StoreBufferView } from "./store_buffer";
import { Timeline } from "./timeline";
import { onKey } from "./keys";
import { hashOf } from "./route";

interface View {
  id: string;
  name: string;
  note?: string;
  content: ComponentChildren;
}

const stepList = "steps-in-words";

export function FindingPage({ finding, among }: { finding: Finding; among: Finding[] }) {
  const points = useMemo(() => argumentOf(finding), [finding]);
  const [at, setAt] = useState(-1); // index into points; -1: the whole argument
  const [chosen, choose] = useState("");
  useEffect(() => setAt(-1), [finding]);
  const current = points[at];
  const go = (by: number) => setAt((before) => Math.max(-1, Math.min(points.length - 1, before + by)));
  const views = useViews(finding, points, current, (edge) => setAt(points.findIndex((p) => p.edge === edge)), (step) =>
    setAt(points.findIndex((p) => p.step === step)),
  );
  const view = views.find((v) => v.id === chosen) ?? views[0]!;
  useEffect(() => {
    if (!current) return;
    revealInList(true);
    window.dispatchEvent(new CustomEvent("heddle-zoom", { detail: "reveal" }));
    revealInList(false);
  }, [current, view.id]);
  const position = among.indexOf(finding);
  const neighbour = (by: number) => among[position + by];

  useEffect(
    () =>
      onKey({
        ArrowRight: () => go(1),
        ArrowLeft: () => go(-1),
        Home: () => setAt(-1),
        j: () => open(neighbour(1)),
        k: () => open(neighbour(-1)),
        u: () => (location.hash = ""),
        Escape: () => (location.hash = ""),
        ...Object.fromEntries(views.map((v, i) => [`${i + 1}`, () => choose(v.id)])),
      }),
    [finding, among, points, views.length],
  );

  return (
    <main id="content" class="finding" tabIndex={-1}>
      <nav class="crumbs" aria-label="Findings">
        <a href="#">Overview</a>
        <span class="grow" />
        {position >= 0 && among.length > 1 && (
          <>
            <span class="quiet">
              {position + 1} of {among.length}
            </span>
            <Neighbour finding={neighbour(-1)} text="Previous" />
            <Neighbour finding={neighbour(1)} text="Next" />
          </>
        )}
      </nav>
      <header class="claim">
        <p class="rule-line">
          <StrengthLabel strength={finding.strength} />
          <a href={`#rule=${encodeURIComponent(finding.rule)}`}>
            {finding.rule} {finding.name}
          </a>
          <span class="quiet">
            {[finding.count > 1 && `seen ${counted(finding.count, "time")}`, finding.input && `in ${finding.input}`].filter(Boolean).join(", ")}
          </span>
          <ChangeTag change={finding.change} />
        </p>
        <h1 class={finding.message.length > 160 ? "long" : ""}>{finding.message}</h1>
        {finding.conclusion && <p class="conclusion">{finding.conclusion}</p>}
        {finding.advice && (
          <p class="advice">
            <b>Fix</b> {finding.advice}
          </p>
        )}
      </header>

      <section class="argument" aria-label="The argument">
        <div class="pictures">
          <div class="tabs-line">
            <Tabs views={views} view={view} choose={choose} />
            <Stepper at={at} points={points} go={go} />
          </div>
          <p class="now" aria-live="polite">
            {current ? <Sentence finding={finding} point={current} /> : <span class="quiet">{view.note ?? "Step through the argument with the arrows."}</span>}
          </p>
          {views.map((v) => (
            // With its key a picture of the next finding is a new one, not zoomed like the one before.
            <div key={`${v.id} ${finding.fingerprint}`} role="tabpanel" id={`panel-${v.id}`} aria-labelledby={`tab-${v.id}`} hidden={v !== view} class="panel">
              <h2 class="print-only">{v.name}</h2>
              {v.content}
            </div>
          ))}
        </div>
        <StepList finding={finding} points={points} at={at} setAt={setAt} />
        <section class="source" aria-labelledby="source-title">
          <h2 id="source-title">Source</h2>
          <SourceView finding={finding} current={current?.step} />
        </section>
      </section>
      <WhatToDo finding={finding} />
    </main>
  );
}

// Scrolls the list, and the page only where the list stands beside the picture: the picture has the last word.
function revealInList(withPage: boolean) {
  const item = document.querySelector(".steps li.current");
  const list = item?.closest(".steps");
  if (!item || !list) return;
  if (withPage) {
    if (getComputedStyle(list).position === "sticky") item.scrollIntoView({ block: "nearest" });
    return;
  }
  const [box, frame] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  const [top, bottom] = [Math.max(0, frame.top), Math.min(innerHeight, frame.bottom)];
  if (box.bottom > bottom) list.scrollTop += box.bottom - bottom;
  if (box.top < top) list.scrollTop -= top - box.top;
}

const open = (finding: Finding | undefined) => {
  if (finding) location.hash = hashOf(finding);
};

function Neighbour({ finding, text }: { finding?: Finding; text: string }) {
  return finding ? <a href={hashOf(finding)}>{text}</a> : <span class="quiet">{text}</span>;
}

function useViews(
  finding: Finding,
  points: Point[],
  current: Point | undefined,
  pickEdge: (edge: Edge) => void,
  pickStep: (step: number) => void,
): View[] {
  const shape = shapeOf(finding);
  const moments = useMemo(() => momentsOf(finding), [finding]);
  const schedule = useMemo(() => (finding.schedule ? scheduleMoments(finding) : undefined), [finding]);
  const edges = useMemo(() => points.flatMap((p) => (p.edge ? [p.edge] : [])), [points]);
  const now = current && { operation: current.step, edge: current.edge };
  const pick = (operation: number) => operation < finding.steps.length && pickStep(operation);
  const views: View[] = [
    {
      id: "timeline",
      name: "Timeline",
      note: moments.isScheduled
        ? "The operations in the order that shows the defect, not in the order of this run. Step through the argument with the arrows."
        : undefined,
      content: (
        <Timeline
          name={`Timeline: ${finding.message}`}
          describedBy={stepList}
          {...moments}
          edges={edges}
          current={now}
          onPick={pick}
          events={!moments.isScheduled}
        />
      ),
    },
  ];
  const isCircle = shape === "cycle" || shape === "waiting";
  if (isCircle && transactions(finding, shape === "waiting").nodes.length > 1)
    views.push({
      id: "graph",
      name: shape === "waiting" ? "Who waits for whom" : "Graph",
      note:
        shape === "waiting"
          ? "An arrow leads to the thread that is waited for."
          : "An arrow leads to what comes later in every serial order. They form a circle.",
      content: (
        <TransactionGraph finding={finding} points={points} current={current} describedBy={stepList} byThread={shape === "waiting"} onPick={pickEdge} />
      ),
    });
  if (schedule)
    views.push({
      id: "schedule",
      name: "Witness schedule",
      note: `The whole order of operations that shows the defect${finding.schedule_left_out ? `, without ${counted(finding.schedule_left_out, "step")} of its middle` : ""}. The locks allow it.`,
      content: (
        <Timeline name="Witness schedule" describedBy={stepList} {...schedule} edges={edges} current={now} onPick={pick} events={false} />
      ),
    });
  if (finding.delays?.length)
    views.push({
      id: "buffers",
      name: "Store buffers",
      note: "A write is in its thread’s store buffer until it reaches memory. Until then other threads see the old value.",
      content: <StoreBufferView finding={finding} current={current} describedBy={stepList} />,
    });
  if (finding.chains?.length)
    views.push({
      id: "chains",
      name: "Reasons",
      note: "What stands behind single steps, from each to its reason.",
      content: finding.chains.map((chain) => (
        <section class="chain-part" aria-label={chain.title}>
          <h3>{chain.title}</h3>
          <ChainView steps={chain.steps} />
        </section>
      )),
    });
  return views;
}

function Tabs({ views, view, choose }: { views: View[]; view: View; choose: (id: string) => void }) {
  // Arrows go from tab to tab for who came to the tabs with keys. For who has clicked at one they step, as elsewhere.
  const isPointed = useRef(false);
  const move = (event: KeyboardEvent, i: number) => {
    const to = { ArrowRight: (i + 1) % views.length, ArrowLeft: (i + views.length - 1) % views.length, Home: 0, End: views.length - 1 }[event.key];
    const next = to === undefined || isPointed.current ? undefined : views[to];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div role="tablist" aria-label="Pictures" class="tabs">
      {views.map((v, i) => (
        <button
          type="button"
          role="tab"
          id={`tab-${v.id}`}
          aria-controls={`panel-${v.id}`}
          aria-selected={v === view}
          tabIndex={v === view ? 0 : -1}
          onClick={(event) => {
            isPointed.current = event.detail > 0;
            choose(v.id);
          }}
          onBlur={() => (isPointed.current = false)}
          onKeyDown={(event) => move(event, i)}
        >
          {v.name}
        </button>
      ))}
    </div>
  );
}

function Stepper({ at, points, go }: { at: number; points: Point[]; go: (by: number) => void }) {
  return (
    <div class="stepper" role="group" aria-label="Steps">
      <button type="button" onClick={() => go(-1)} disabled={at < 0} aria-label="Step back" title="Step back (←)">
        ←
      </button>
      <span class="quiet position">{at < 0 ? `${points.length} steps` : `${at + 1} of ${points.length}`}</span>
      <button type="button" onClick={() => go(1)} disabled={at >= points.length - 1} aria-label="Step on" title="Step on (→)">
        →
      </button>
    </div>
  );
}

function Sentence({ finding, point }: { finding: Finding; point: Point }) {
  const step = finding.steps[point.step]!;
  return (
    <>
      <b class="badge">{point.step + 1}</b> <b>{step.thread}</b> {step.phrase}
      {point.sentence ? <span class="because"> … {point.sentence}</span> : ""}
    </>
  );
}

function StepList({ finding, points, at, setAt }: { finding: Finding; points: Point[]; at: number; setAt: (at: number) => void }) {
  return (
    <div class="steps">
      <h2>Steps</h2>
      <ol id={stepList}>
        {points.map((point, i) => {
          const step = finding.steps[point.step]!;
          const returns = point.step === 0 && i > 0;
          return (
            <li class={i === at ? "current" : ""}>
              <button type="button" aria-current={i === at ? "step" : undefined} onClick={() => setAt(i === at ? -1 : i)}>
                <b class="badge">{point.step + 1}</b>
                <span>
                  <span class="deed">
                    <b>{step.thread}</b> {step.phrase}
                    {returns && <span class="quiet"> (again)</span>}
                  </span>
                  {!returns && <Places step={step} />}
                  {point.sentence && <span class="because">{point.sentence}</span>}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Places({ step }: { step: Step }) {
  const [innermost, ...callers] = step.frames;
  return (
    <span class="places">
      {innermost && <span>{innermost.file ? `${innermost.file}:${innermost.line ?? "?"}` : innermost.text}</span>}
      {(step.block || innermost?.function) && <span>in {step.block || innermost?.function}</span>}
      {step.held && <span>{step.held}</span>}
      {callers.slice(0, 4).map((caller) => (
        <span class="caller">
          called from {caller.file ? `${caller.file}:${caller.line ?? "?"}` : caller.text}
          {caller.file && caller.function ? ` in ${caller.function}` : ""}
        </span>
      ))}
      {callers.length > 4 && <span class="caller">and {counted(callers.length - 4, "more caller")}</span>}
    </span>
  );
}

function ChainView({ steps }: { steps: Step[] }) {
  return (
    <ol class="chain">
      {steps.map((step, i) => (
        <li>
          <b class="badge">{i + 1}</b>
          <span>
            <span class="deed">
              <b>{step.thread}</b> {step.phrase}
            </span>
            <Places step={step} />
            {step.because && <span class="because">{step.because}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function WhatToDo({ finding }: { finding: Finding }) {
  const rule = report.rules.find((r) => r.id === finding.rule);
  const [shown, show] = useState(false);
  const isTrace = report.inputs.some((input) => input.path === finding.input) && checksTraces.test(report.command);
  return (
    <section class="to-do" aria-label="What to do with it">
      <div>
        <h2>Reproduce</h2>
        {isTrace && <Copyable text={`heddle check ${shellWord(finding.input)} --checkers ${finding.checker}`} label="only this checker and input" />}
        {isTrace && <p class="quiet">All of this report:</p>}
        {report.command ? (
          <Copyable text={report.command} label="the command of this run" />
        ) : (
          <p class="quiet">Run the program again: the report does not tell how it was run.</p>
        )}
        {finding.schedule && isTrace && (
          <>
            <p class="quiet">The witness schedule as a trace of its own:</p>
            <Copyable
              text={`heddle check ${shellWord(finding.input)} --checkers ${finding.checker} --emit-witness witness.std`}
              label="write the witness schedule"
            />
          </>
        )}
        <h2>Fingerprint</h2>
        <p class="quiet">The same in every run that shows this defect.</p>
        <Copyable text={finding.fingerprint} label="fingerprint" />
      </div>
      <div>
        <h2>Suppress</h2>
        <p class="quiet">
          Accepted? Put this into a file, say why in <code>reason</code>, and give the file with <code>--suppressions</code>.
        </p>
        <Copyable text={finding.suppress.trim()} label="suppression" />
      </div>
      {rule && (
        <div class="rule-help">
          <h2>
            {rule.id} {rule.name}
          </h2>
          <p>{rule.brief}</p>
          {rule.page && (
            <button type="button" class="small" aria-expanded={shown} onClick={() => show(!shown)}>
              {shown ? "Hide the rule’s page" : "What it means and how to fix it"}
            </button>
          )}
          {shown && <Markdown text={rule.page} />}
        </div>
      )}
    </section>
  );
}

// As src/cli/command_line.cpp writes it.
const checksTraces = /^(HEDDLE_OPTIONS=([^\s'\\]|'[^']*'|\\')* )?heddle check /;

const shellWord = (word: string) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function RulePage({ id }: { id: string }) {
  const rule = report.rules.find((r) => r.id === id);
  const of = findings.filter((f) => f.rule === id);
  return (
    <main id="content" class="rule" tabIndex={-1}>
      <nav class="crumbs" aria-label="Findings">
        <a href="#">Overview</a>
      </nav>
      <h1>
        {id} {rule?.name}
      </h1>
      <p class="conclusion">{rule ? rule.brief : "This report does not explain the rule."}</p>
      {of.length > 0 && (
        <ul class="plain">
          {of.slice(0, 20).map((f) => (
            <li>
              <a href={hashOf(f)}>{f.message}</a>
            </li>
          ))}
        </ul>
      )}
      {rule?.page && <Markdown text={rule.page} />}
    </main>
  );
}
