// The transactions of a finding and the order between them: a circle where there should be none. The one to blame is marked.
import { Graph, layout } from "@dagrejs/dagre";
import { useId, useMemo } from "preact/hooks";
import { transactionsOf, type Edge, type Point } from "./argument";
import { place, type Finding } from "./data";
import { fitted, textWidth } from "./measure";
import { Arrowheads, Picture, useRoom } from "./picture";

interface Transaction {
  title: string;
  thread: string;
  steps: number[];
  blamed: boolean;
}

export interface GraphProps {
  finding: Finding;
  points: Point[];
  current?: Point;
  describedBy: string;
  byThread: boolean; // a node for each thread: who waits for whom
  onPick: (edge: Edge) => void;
}

export function transactions(finding: Finding, byThread: boolean): { nodes: Transaction[]; nodeOf: number[] } {
  const nodeOf = byThread
    ? finding.steps.map((step) => finding.threads.indexOf(step.thread))
    : transactionsOf(finding);
  const nodes: Transaction[] = [];
  finding.steps.forEach((step, i) => {
    const node = (nodes[nodeOf[i]!] ??= { title: "", thread: step.thread, steps: [], blamed: false });
    node.steps.push(i);
    if (byThread) return;
    const around = (finding.spans ?? []).filter(
      (s) => s.kind === "block" && (s.from === step.transaction || (s.thread === step.thread && s.from <= step.event && step.event <= s.to)),
    );
    const outermost = around.reduce((a, b) => (a === undefined || b.from < a.from ? b : a), around[0]);
    if (outermost) {
      node.title = outermost.name;
      node.thread = outermost.thread;
    } else if (!node.title) {
      node.title = step.block;
    }
    node.blamed ||= [step.block, ...around.map((s) => s.name)].some((name) => name !== "" && finding.blocks.includes(name));
  });
  return { nodes: nodes.filter(Boolean), nodeOf };
}

const line = 17;

export function TransactionGraph({ finding, points, current, describedBy, byThread, onPick }: GraphProps) {
  const { box, room } = useRoom();
  const marker = useId();
  const drawn = useMemo(() => {
    const wide = arrange(finding, points, byThread, room, "LR");
    return wide.size.width <= room ? wide : arrange(finding, points, byThread, room, "TB");
  }, [finding, points, byThread, room]);
  const { graph, labels, edges, nodeOf, size } = drawn;
  return (
    <div ref={box}>
      <Picture
        name={byThread ? "Which thread waits for which" : "Transactions and the order between them"}
        describedBy={describedBy}
        width={size.width}
        height={size.height}
      >
        <Arrowheads id={marker} />
        {labels.map((label, i) => {
          const at = graph.node(`${i}`) as { x: number; y: number };
          const x = at.x - label.width / 2;
          const y = at.y - label.height / 2;
          const isCurrent = current !== undefined && nodeOf[current.step] === i;
          return (
            <g class={`node ${label.node.blamed ? "blamed" : ""} ${isCurrent ? "current" : ""}`} transform={`translate(${x},${y})`}>
              <rect width={label.width} height={label.height} rx={5} />
              <text class="node-title" x={12} y={20}>
                {label.title}
                <title>{label.node.title || label.node.thread}</title>
              </text>
              {!byThread && (
                <text class="node-thread" x={12} y={36}>
                  {fitted(label.node.thread, 11, label.width - 90)}
                </text>
              )}
              {label.node.blamed && (
                <text class="node-blame" x={label.width - 12} y={36} text-anchor="end">
                  to blame
                </text>
              )}
              {label.lines.map((l, k) => (
                <text class="node-line" x={12} y={(byThread ? 38 : 54) + k * line}>
                  <tspan class="node-number">{l.number}</tspan>
                  <tspan x={28}>{fitted(l.text, 11, label.width - 40)}</tspan>
                </text>
              ))}
            </g>
          );
        })}
        {edges.map(({ edge, number, key }) => {
          const info = graph.edge({ v: `${nodeOf[edge.from]}`, w: `${nodeOf[edge.to]}`, name: key }) as unknown as {
            points: { x: number; y: number }[];
            x: number;
            y: number;
          };
          const isCurrent = current?.edge === edge;
          return (
            <g class={`graph-edge ${isCurrent ? "current" : ""}`} onClick={() => onPick(edge)}>
              <path class={`edge ${edge.kind} ${isCurrent ? "current" : ""}`} d={smooth(info.points)} marker-end={`url(#${marker}${isCurrent ? "current" : ""})`} />
              <circle cx={info.x} cy={info.y} r={10} />
              <text class="number" x={info.x} y={info.y + 3.8} text-anchor="middle">
                {number}
              </text>
            </g>
          );
        })}
      </Picture>
    </div>
  );
}

function arrange(finding: Finding, points: Point[], byThread: boolean, room: number, direction: "LR" | "TB") {
  const { nodes, nodeOf } = transactions(finding, byThread);
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 46, ranksep: direction === "LR" ? 74 : 50, edgesep: 30, marginx: 14, marginy: 14 });
  graph.setDefaultEdgeLabel(() => ({}));
  const widest = Math.min(320, room - 40);
  const labels = nodes.map((node) => {
    const lines = node.steps
      .filter((s, i, all) => all.findIndex((o) => finding.steps[o]!.event === finding.steps[s]!.event) === i)
      .map((s) => ({ number: s + 1, text: `${finding.steps[s]!.phrase}  ${place(finding.steps[s]!)}` }));
    const title = byThread ? node.thread : node.title || "one operation";
    const width = Math.min(
      widest,
      Math.max(textWidth(title, 12.5, 600), textWidth(node.thread, 11) + 70, ...lines.map((l) => textWidth(l.text, 11) + 22)) + 28,
    );
    return { node, title: fitted(title, 12.5, width - 24, 600), lines, width, height: (byThread ? 32 : 46) + lines.length * line + 4 };
  });
  labels.forEach((label, i) => graph.setNode(`${i}`, { width: label.width, height: label.height }));
  const edges: { edge: Edge; number: number; key: string }[] = [];
  points.forEach((point, i) => {
    const edge = point.edge;
    if (!edge || edge.kind === "within" || nodeOf[edge.from] === nodeOf[edge.to]) return;
    const key = `${i}`;
    const number = i === points.length - 1 && point.step === 0 && i > 0 ? 1 : i + 1;
    graph.setEdge(`${nodeOf[edge.from]}`, `${nodeOf[edge.to]}`, { width: 22, height: 22, labelpos: "c" }, key);
    edges.push({ edge, number, key });
  });
  layout(graph);
  return { graph, labels, edges, nodeOf, size: graph.graph() as { width: number; height: number } };
}

// A curve through the middles between the points that dagre gives.
function smooth(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  const last = rest[rest.length - 1];
  if (!first || !last) return "";
  let path = `M${first.x},${first.y}`;
  for (let i = 0; i + 1 < rest.length; i++) {
    const a = rest[i]!;
    const b = rest[i + 1]!;
    const isLast = i + 2 === rest.length;
    path += ` Q${a.x},${a.y} ${isLast ? b.x : (a.x + b.x) / 2},${isLast ? b.y : (a.y + b.y) / 2}`;
  }
  return rest.length < 2 ? `${path} L${last.x},${last.y}` : path;
}
