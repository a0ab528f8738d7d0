// One finding: what is wrong, the pictures of it, its steps, its source, and what to do.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { argumentOf, shapeOf, type Edge, type Point } from "./argument";
import { counted, grouped, type Finding } from "./data";
import { nodesOf, TransactionGraph } from "./graph";
import { momentsOf, scheduleMoments } from "./moments";
import { reveal } from "./picture";
import { partNumber, partOf, type Part } from "./part";
import { ChangeTag, InWords, StrengthLabel } from "./parts";
import { usePrinting } from "./printing";
import { SourceView } from "./source";
import { ChainView, StepList, stepList } from "./steps";
import { StoreBufferView } from "./store_buffer";
import { Timeline } from "./timeline";
import { onKey } from "./keys";
import { hashOf, nameOf } from "./route";
import { WhatToDo } from "./to_do";

interface View {
  id: string;
  name: string;
  note?: string;
  content: () => ComponentChildren; // drawn when the view is chosen for the first time, and for paper
}

export function FindingPage({ finding, among }: { finding: Finding; among: Finding[] }) {
  const points = useMemo(() => argumentOf(finding), [finding]);
  const [at, setAt] = useState(-1); // index into points; -1: the whole argument
  const [chosen, choose] = useState("");
  const drawn = useRef(new Set<string>()); // views, by nameOf() and id
  const printing = usePrinting();
  useEffect(() => setAt(-1), [finding]);
  const number = partNumber(points, at);
  const part = useMemo(() => partOf(points, number), [points, number]);
  const current = points[at];
  const go = (by: number) => setAt((before) => Math.max(-1, Math.min(points.length - 1, before + by)));
  const views = useViews(finding, part, points, current, (edge) => setAt(points.findIndex((p) => p.edge === edge)), (step) =>
    setAt(points.findIndex((p) => p.step === step)),
  );
  const view = views.find((v) => v.id === chosen) ?? views[0]!;
  const panelKey = (v: View) => `${v.id} ${nameOf(finding)}`;
  drawn.current.add(panelKey(view));
  useEffect(() => {
    if (!current) return;
    revealInList(true);
    reveal();
    revealInList(false);
  }, [current, view.id]);
  const position = among.indexOf(finding);
  const neighbour = (by: number) => among[position + by];

  useLayoutEffect(
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
            {current ? <Sentence finding={finding} point={current} /> : <span class="quiet">{view.note ?? (points.length > 0 && "Step through the argument with the arrows.")}</span>}
          </p>
          {!part.isWhole && <PartNote part={part} setAt={setAt} />}
          {views.map((v) => (
            // With its key a picture of the next finding is a new one, not zoomed like the one before.
            <div key={panelKey(v)} role="tabpanel" id={`panel-${v.id}`} aria-labelledby={`tab-${v.id}`} hidden={v !== view} class="panel">
              <h2 class="print-only">{v.name}</h2>
              {(printing || drawn.current.has(panelKey(v))) && v.content()}
            </div>
          ))}
        </div>
        <StepList finding={finding} part={part} points={points} at={at} setAt={setAt} />
        <section class="source" aria-labelledby="source-title">
          <h2 id="source-title">Source</h2>
          <SourceView finding={finding} part={part} current={current?.step} />
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
  part: Part,
  points: Point[],
  current: Point | undefined,
  pickEdge: (edge: Edge) => void,
  pickStep: (step: number) => void,
): View[] {
  const shape = shapeOf(finding);
  const moments = useMemo(() => momentsOf(finding, part), [finding, part]);
  const now = current && { operation: current.step, edge: current.edge };
  const pick = (operation: number) => operation < finding.steps.length && pickStep(operation);
  const views: View[] = [
    {
      id: "timeline",
      name: "Timeline",
      note: timelineNote(finding, moments.isScheduled),
      content: () =>
        moments.operations.length === 0 ? (
          <p class="quiet">The finding tells no steps, so there is nothing to draw.</p>
        ) : (
          <Timeline
            name={`Timeline: ${finding.message}`}
            describedBy={stepList}
            {...moments}
            edges={part.edges}
            current={now}
            onPick={pick}
            events={!moments.isScheduled}
          />
        ),
    },
  ];
  const isCircle = shape === "cycle" || shape === "waiting";
  if (isCircle && new Set(nodesOf(finding, shape === "waiting")).size > 1)
    views.push({
      id: "graph",
      name: shape === "waiting" ? "Who waits for whom" : "Graph",
      note:
        shape === "waiting"
          ? "An arrow leads to the thread that is waited for."
          : "An arrow leads to what comes later in every serial order. They form a circle.",
      content: () => (
        <TransactionGraph finding={finding} part={part} points={points} current={current} describedBy={stepList} byThread={shape === "waiting"} onPick={pickEdge} />
      ),
    });
  if (finding.schedule?.length)
    views.push({
      id: "schedule",
      name: "Witness schedule",
      note: `The whole order of operations that shows the defect${finding.schedule_left_out ? `, without ${counted(finding.schedule_left_out, "step")} of its middle` : ""}. The locks allow it.`,
      content: () => <ScheduleView finding={finding} part={part} current={now} onPick={pick} />,
    });
  if (finding.delays?.length)
    views.push({
      id: "buffers",
      name: "Store buffers",
      note: "A write is in its thread’s store buffer until it reaches memory. Until then other threads see the old value.",
      content: () => <StoreBufferView finding={finding} part={part} current={current} onPick={pick} />,
    });
  if (finding.chains?.length)
    views.push({
      id: "chains",
      name: "Reasons",
      note: "What stands behind single steps, from each to its reason. Numbers are those of the steps.",
      content: () =>
        finding.chains?.slice(0, 50).map((chain) => (
          <section class="chain-part" aria-label={chain.title}>
            <h3>{chain.title}</h3>
            <ChainView steps={chain.steps} finding={finding} />
          </section>
        )),
    });
  // First the picture in which the defect shows, where that is not the timeline.
  const first = (view: View) => (view.id === "buffers" || (view.id === "graph" && shape === "waiting") ? 0 : 1);
  return views.sort((a, b) => first(a) - first(b));
}

// The order in the timeline is mostly that of the run, which need not be one in which it goes wrong.
function timelineNote(finding: Finding, isScheduled: boolean): string | undefined {
  if (isScheduled) return "The operations in the order that shows the defect, not in the order of this run. Step through the argument with the arrows.";
  if (finding.strength === "observed") return undefined;
  if (shapeOf(finding) === "waiting") return "The order of this run, in which all went well. It goes wrong when every thread has its first lock before any asks for its second.";
  if (finding.delays?.length) return "The order of this run. An arrow that leads up comes from a write that waited in a store buffer.";
  return undefined;
}

interface ScheduleProps {
  finding: Finding;
  part: Part;
  current?: { operation: number; edge?: Edge };
  onPick: (operation: number) => void;
}

function ScheduleView({ finding, part, current, onPick }: ScheduleProps) {
  const moments = useMemo(() => scheduleMoments(finding, part), [finding, part]);
  const words = useId();
  return (
    <>
      <Timeline name="Witness schedule" describedBy={words} {...moments} edges={part.edges} current={current} onPick={onPick} events={false} />
      <InWords id={words} of="The witness schedule" lines={moments.words} />
    </>
  );
}

// A long argument: which of its steps are here, and the way to the others.
function PartNote({ part, setAt }: { part: Part; setAt: (at: number) => void }) {
  const size = part.end - part.first;
  return (
    <p class="notice part">
      Pictures, list and source show steps {grouped(part.first + 1)} to {grouped(part.end)} of {grouped(part.of)}; stepping on leads to the next.{" "}
      <button type="button" class="small" disabled={part.first === 0} onClick={() => setAt(part.first - 1)}>
        Earlier steps
      </button>{" "}
      <button type="button" class="small" disabled={part.end === part.of} onClick={() => setAt(part.first + size)}>
        Later steps
      </button>
    </p>
  );
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
      <span class="quiet position">{at < 0 ? counted(points.length, "step") : `${grouped(at + 1)} of ${grouped(points.length)}`}</span>
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
