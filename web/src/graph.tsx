// The transactions of a finding and the order between them: a circle where there should be none. The one to blame is marked.
import { useId, useMemo } from "preact/hooks";
import { transactionsOf, type Edge, type Point } from "./argument";
import { arrange, type Route } from "./arrange";
import { place, type Finding } from "./data";
import { Legend } from "./legend";
import { fitted, lines, textWidth } from "./measure";
import type { Part } from "./part";
import { Arrowheads, Picture, useRoom } from "./picture";

interface Transaction {
  title: string;
  threads: string[]; // whose operations it holds, the one that began it first
  steps: number[];
  blamed: boolean;
}

export interface GraphProps {
  finding: Finding;
  part: Part;
  points: Point[];
  current?: Point;
  describedBy: string;
  byThread: boolean; // a node for each thread: who waits for whom
  onPick: (edge: Edge) => void;
}

// For each step the number of its node.
export function nodesOf(finding: Finding, byThread: boolean): number[] {
  if (!byThread) return transactionsOf(finding);
  const threads = new Map([...new Set([...finding.threads, ...finding.steps.map((step) => step.thread)])].map((thread, i) => [thread, i]));
  return finding.steps.map((step) => threads.get(step.thread)!);
}

// The nodes that the part speaks of, by their numbers.
function transactions(finding: Finding, part: Part, byThread: boolean, nodeOf: number[]): Map<number, Transaction> {
  const nodes = new Map<number, Transaction>();
  const blocks = (finding.spans ?? []).filter((span) => span.kind === "block");
  finding.steps.forEach((step, i) => {
    if (!part.steps.has(i)) return;
    const node = nodes.get(nodeOf[i]!) ?? { title: "", threads: [], steps: [], blamed: false };
    nodes.set(nodeOf[i]!, node);
    node.steps.push(i);
    if (!node.threads.includes(step.thread)) node.threads.push(step.thread);
    if (byThread) return;
    const around = blocks.filter((s) => s.from === step.transaction || (s.thread === step.thread && s.from <= step.event && step.event <= s.to));
    const outermost = around.reduce((a, b) => (a === undefined || b.from < a.from ? b : a), around[0]);
    if (outermost) {
      node.title = outermost.name;
      node.threads = [...new Set([outermost.thread, ...node.threads])];
    } else if (!node.title) {
      node.title = step.block;
    }
    node.blamed ||= [step.block, ...around.map((s) => s.name)].some((name) => name !== "" && finding.blocks.includes(name));
  });
  return nodes;
}

const line = 17;

interface Label {
  node: Transaction;
  title: string;
  lines: { number?: number; text: string }[]; // number: of the step, on its first line
  width: number;
  height: number;
}

function labelOf(finding: Finding, node: Transaction, byThread: boolean, widest: number): Label {
  const seen = new Set<number>();
  const steps = node.steps.filter((s) => !seen.has(finding.steps[s]!.event) && seen.add(finding.steps[s]!.event));
  const texts = steps.map((s) => ({ number: s + 1, deed: finding.steps[s]!.phrase, place: place(finding.steps[s]!) }));
  const title = byThread ? node.threads[0]! : node.title || "one operation";
  const natural = Math.max(
    textWidth(title, 12.5, 600),
    textWidth(node.threads.join(", "), 11) + (node.blamed ? 70 : 0),
    ...texts.map((t) => textWidth(`${t.deed}  ${t.place}`, 11) + 22),
  );
  const width = Math.min(widest, natural + 28);
  const room = width - 40;
  const shown = texts.flatMap(({ number, deed, place }) => {
    if (textWidth(`${deed}  ${place}`, 11) <= room) return [{ number, text: place ? `${deed}  ${place}` : deed }];
    const [first, ...more] = [...lines(deed, 11, room), ...(place ? [fitted(place, 11, room)] : [])];
    return [{ number, text: first! }, ...more.map((text) => ({ text }))];
  });
  return { node, title: fitted(title, 12.5, width - 24, 600), lines: shown, width, height: (byThread ? 32 : 46) + shown.length * line + 4 };
}

export function TransactionGraph({ finding, part, points, current, describedBy, byThread, onPick }: GraphProps) {
  const { box, room } = useRoom();
  const marker = useId();
  const nodeOf = useMemo(() => nodesOf(finding, byThread), [finding, byThread]);
  const drawn = useMemo(() => {
    const widest = Math.min(320, room - 40);
    const labels = new Map<number, Label>();
    for (const [number, node] of transactions(finding, part, byThread, nodeOf)) labels.set(number, labelOf(finding, node, byThread, widest));
    const routes: (Route & { edge: Edge; number: number })[] = [];
    points.slice(part.first, part.end).forEach(({ edge, step }, k) => {
      if (!edge || edge.kind === "within" || nodeOf[edge.from] === nodeOf[edge.to]) return;
      const i = part.first + k;
      const number = i === points.length - 1 && step === 0 && i > 0 ? 1 : i + 1;
      routes.push({ from: nodeOf[edge.from]!, to: nodeOf[edge.to]!, edge, number });
    });
    return { labels, ...arrange(labels, routes, room) };
  }, [finding, part, points, byThread, room]);
  return (
    <div ref={box}>
      <Picture
        name={byThread ? "Which thread waits for which" : "Transactions and the order between them"}
        describedBy={describedBy}
        width={drawn.width}
        height={drawn.height}
        legend={<Legend signs={[{ look: "order", text: byThread ? "waits for" : "comes before" }]} />}
      >
        <Arrowheads id={marker} />
        {[...drawn.labels].map(([number, label]) => (
          <Node label={label} at={drawn.places.get(number)!} byThread={byThread} isCurrent={current !== undefined && nodeOf[current.step] === number} />
        ))}
        {drawn.routes.map(({ edge, number, path, x, y }) => {
          const isCurrent = current?.edge === edge;
          return (
            <g class={`graph-edge ${isCurrent ? "current" : ""}`} onClick={() => onPick(edge)}>
              <path class={`edge ${edge.kind} ${isCurrent ? "current" : ""}`} d={path} marker-end={`url(#${marker}${isCurrent ? "current" : ""})`} />
              <circle cx={x} cy={y} r={10} />
              <text class="number" x={x} y={y + 3.8} text-anchor="middle">
                {number}
              </text>
            </g>
          );
        })}
      </Picture>
    </div>
  );
}

function Node({ label, at, byThread, isCurrent }: { label: Label; at: { x: number; y: number }; byThread: boolean; isCurrent: boolean }) {
  const { node } = label;
  return (
    <g class={`node ${node.blamed ? "blamed" : ""} ${isCurrent ? "current" : ""}`} transform={`translate(${at.x - label.width / 2},${at.y - label.height / 2})`}>
      <rect width={label.width} height={label.height} rx={5} />
      <text class="node-title" x={12} y={20}>
        {label.title}
        <title>{node.title || node.threads.join(", ")}</title>
      </text>
      {!byThread && (
        <text class="node-thread" x={12} y={36}>
          {fitted(node.threads.join(", "), 11, label.width - (node.blamed ? 90 : 24))}
          <title>{node.threads.join(", ")}</title>
        </text>
      )}
      {node.blamed && (
        <text class="node-blame" x={label.width - 12} y={36} text-anchor="end">
          to blame
        </text>
      )}
      {label.lines.map((l, k) => (
        <text class="node-line" x={12} y={(byThread ? 38 : 54) + k * line}>
          <tspan class="node-number">{l.number ?? ""}</tspan>
          <tspan x={12 + Math.max(16, `${l.number ?? ""}`.length * 7 + 5)}>{l.text}</tspan>
        </text>
      ))}
    </g>
  );
}
