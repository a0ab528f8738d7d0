// Writes that wait in their threads' store buffers: beside each thread its buffer, at the right the memory that all see.
import { useMemo } from "preact/hooks";
import type { Point } from "./argument";
import { operandOf } from "./argument";
import { place, type Finding, type Step } from "./data";
import { cut, fitted, textWidth } from "./measure";
import { threadsOf } from "./moments";
import type { Part } from "./part";
import { Picture, useRoom } from "./picture";
import { Target } from "./timeline";

interface Row {
  kind: "operation" | "fence" | "commit";
  step: Step; // of a commit: the write
  y: number;
}

const narrow = 520; // pixels; below, operations are as short as traces write them

const most = 200; // writes that wait, and fences; findings have a few

const heights = { operation: 46, fence: 26, commit: 30 };

export interface StoreBufferProps {
  finding: Finding;
  part: Part;
  current?: Point;
  describedBy: string;
  onPick: (step: number) => void;
}

const key = (step: Step) => `${step.thread}\n${step.event}`;

export function StoreBufferView({ finding, part, current, describedBy, onPick }: StoreBufferProps) {
  const { box, room } = useRoom();
  const scene = useMemo(() => layOut(finding, part, room), [finding, part, room]);
  const stepAt = useMemo(() => new Map(finding.steps.map((step, i): [string, number] => [key(step), i]).reverse()), [finding]);
  const rowAt = useMemo(() => new Map(scene.rows.map((row) => [`${row.kind}\n${key(row.step)}`, row.y])), [scene]);
  const currentStep = current && finding.steps[current.step];
  const y = (step: Step, kind: Row["kind"] = "operation") => rowAt.get(`${kind}\n${key(step)}`)!;
  const lane = (step: Step) => scene.lanes.find((l) => l.thread === step.thread)!;
  return (
    <div ref={box}>
      <Picture name="Threads, their store buffers and memory" describedBy={describedBy} width={scene.width} height={scene.height}>
        {scene.lanes.map((l) => (
          <g class="lanes">
            <rect class="buffer" x={l.bufferX} y={30} width={l.bufferWidth} height={scene.height - 38} rx={4} />
            <line class="lifeline" x1={l.x + 12} x2={l.x + 12} y1={28} y2={scene.height - 8} />
            <text class="lane-name" x={l.x + 6} y={18}>
              {fitted(l.thread, 12, l.width - 20, 600)}
              <title>{l.thread}</title>
            </text>
            <text class="axis-name" x={l.bufferX + l.bufferWidth / 2} y={18} text-anchor="middle">
              {l.bufferWidth > 70 ? "store buffer" : "buffer"}
            </text>
          </g>
        ))}
        <rect class="memory" x={scene.memoryX} y={30} width={scene.memoryWidth} height={scene.height - 38} rx={4} />
        <text class="lane-name" x={scene.memoryX + scene.memoryWidth / 2} y={18} text-anchor="middle">
          memory
        </text>
        {scene.delays.map(({ write, until }) => {
          const l = lane(write);
          const top = y(write);
          const bottom = y(write, "commit");
          const x = l.bufferX + l.bufferWidth / 2;
          return (
            <g class="delay">
              <path class="edge" d={`M${l.x + 36 + scene.labelWidth(write)},${top} L${l.bufferX + 5},${top}`} />
              <rect x={l.bufferX + 6} y={top - 11} width={l.bufferWidth - 12} height={bottom - top + 11} rx={4} />
              <text class="lock-name" x={x} y={top + 4} text-anchor="middle">
                {fitted(operandOf(write.operation), 10.5, l.bufferWidth - 16)}
              </text>
              <path class="commit" d={`M${l.bufferX + l.bufferWidth - 6},${bottom} L${scene.memoryX + 6},${bottom}`} />
              <circle class="commit-end" cx={scene.memoryX + scene.memoryWidth / 2} cy={bottom} r={5} />
              <text class="detail" x={l.bufferX - 7} y={bottom + 4} text-anchor="end">
                {fitted(scene.isNarrow ? "to memory" : `${operandOf(write.operation)} reaches memory`, 11, l.width - 30)}
              </text>
              <title>{`${write.thread} ${write.phrase}; it stays in the store buffer until ${until.thread} ${until.phrase}`}</title>
            </g>
          );
        })}
        {scene.rows.map((row) => {
          const l = lane(row.step);
          if (row.kind === "commit") return null;
          if (row.kind === "fence")
            return (
              <g class="fence">
                <line x1={l.x} x2={l.bufferX + l.bufferWidth} y1={row.y} y2={row.y} />
                <text class="detail" x={l.x + 26} y={row.y - 4}>
                  {fitted(scene.isNarrow ? "fence here" : "a full fence here", 11, l.width - 30)}
                </text>
              </g>
            );
          const index = stepAt.get(key(row.step)) ?? -1;
          const title = fitted(scene.title(row.step), 12, l.bufferX - l.x - 34, 500);
          const detail = cut(scene.detail(row.step), 11, l.bufferX - l.x - 34);
          const isCurrent = currentStep !== undefined && key(currentStep) === key(row.step);
          return (
            <g class={`operation ${index < 0 ? "" : "argued"} ${isCurrent ? "current" : ""}`} onClick={index < 0 ? undefined : () => onPick(index)}>
              <circle cx={l.x + 12} cy={row.y} r={index < 0 ? 4 : 9} />
              {index >= 0 && (
                <text class="number" x={l.x + 12} y={row.y + 3.6} text-anchor="middle">
                  {index + 1}
                </text>
              )}
              <text class="title" x={l.x + 29} y={row.y - 2}>
                {title}
              </text>
              <text class="detail" x={l.x + 29} y={row.y + 12.5}>
                {detail}
              </text>
              <title>{`${row.step.thread} ${row.step.phrase}\n${place(row.step)}`}</title>
              {index >= 0 && <Target x={l.x + 12} y={row.y} labelX={l.x + 29} labels={[title, detail]} />}
            </g>
          );
        })}
      </Picture>
    </div>
  );
}

function layOut(finding: Finding, part: Part, room: number) {
  const argued = finding.steps.filter((_, i) => part.steps.has(i));
  const here = new Set(argued.map(key));
  const isHere = (...them: Step[]) => part.isWhole || them.some((step) => here.has(key(step)));
  const delays = (finding.delays ?? []).filter((d) => isHere(d.write, d.until)).slice(0, most);
  const fences = (finding.fences ?? []).filter((f) => isHere(f)).slice(0, most);
  const distinct = new Map([...argued, ...delays.flatMap((d) => [d.write, d.until]), ...fences].reverse().map((step) => [key(step), step]));
  const steps = [...distinct.values()].sort((a, b) => a.event - b.event);
  const rows: Row[] = [];
  let y = 36;
  const add = (kind: Row["kind"], step: Step) => {
    rows.push({ kind, step, y: y + heights[kind] / 2 });
    y += heights[kind];
  };
  // Buffers are emptied in the order of the writes; a write that waits for an earlier one's wait comes after it.
  const last = (d: { write: Step; until: Step }) => Math.max(d.until.event, d.write.event);
  for (const step of steps) {
    add("operation", step);
    if (fences.some((f) => f.event === step.event && f.thread === step.thread)) add("fence", step);
    for (const delay of delays.filter((d) => last(d) === step.event).sort((a, b) => a.write.event - b.write.event)) add("commit", delay.write);
  }
  // A read of what still waits in another thread's buffer sees what was there before.
  const sees = new Map<string, string>();
  for (const step of steps)
    for (const { write, until } of delays)
      if (
        step.thread !== write.thread &&
        operandOf(step.operation) === operandOf(write.operation) &&
        step.event > write.event &&
        step.event <= until.event &&
        /^a?r\(/.test(step.operation)
      )
        sees.set(`${step.thread}\n${step.event}`, room < narrow ? "sees old" : "sees the old value");

  const threads = threadsOf(finding, steps);
  const isNarrow = room < narrow;
  const title = (s: Step) => (isNarrow ? s.operation : s.phrase);
  const detail = (s: Step) => [sees.get(`${s.thread}\n${s.event}`), place(s)].filter(Boolean).join(" · ");
  const bufferWidth = isNarrow ? 50 : 84;
  const memoryWidth = isNarrow ? 46 : 64;
  const labelWidth = (s: Step) =>
    Math.max(textWidth(title(s), 12, 500), textWidth(isNarrow ? place(s) : detail(s), 11));
  const natural = threads.map((thread) => Math.max(110, ...steps.filter((s) => s.thread === thread).map((s) => labelWidth(s) + 44)));
  const fixed = threads.length * (bufferWidth + 14) + memoryWidth + 14;
  const sum = natural.reduce((a, b) => a + b, 0);
  const share = Math.min(1, Math.max(0.35, (room - fixed) / sum));
  let x = 6;
  const lanes = threads.map((thread, i) => {
    const width = Math.max(isNarrow ? 116 : 84, natural[i]! * share);
    const lane = { thread, x, width, bufferX: x + width, bufferWidth };
    x += width + bufferWidth + 14;
    return lane;
  });
  const shownWidth = (s: Step) => Math.min(labelWidth(s), lanes.find((l) => l.thread === s.thread)!.width - 44);
  return { isNarrow, rows, lanes, delays, title, detail, labelWidth: shownWidth, memoryX: x, memoryWidth, width: x + memoryWidth + 6, height: y + 14 };
}
