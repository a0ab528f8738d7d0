// The operations of a finding in their lanes, with the blocks and locks around them and the edges of the argument.
import { axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Edge } from "./argument";
import { grouped } from "./data";
import { textWidth } from "./measure";
import { Arrowheads, Picture, useRoom } from "./picture";
import { Legend, type Sign } from "./legend";
import { curve, layOut, slant, type Around, type Dot, type Lane, type Operation, type Scene, type Shape } from "./scene";

export interface TimelineProps {
  name: string; // what the picture shows
  describedBy: string; // id of the same in words
  threads: string[];
  operations: Operation[];
  arounds: Around[];
  hidden: number; // how many more are not drawn
  edges: Edge[]; // between ids of operations
  current?: { operation: number; edge?: Edge };
  onPick?: (operation: number) => void;
  events: boolean; // orders are events of the trace, shown beside
}

export function Timeline(props: TimelineProps) {
  const { box, room } = useRoom();
  const scene = useMemo(
    () => layOut(props.threads, props.operations, props.arounds, room, props.events && room > 560),
    [props.threads, props.operations, props.arounds, props.events, room],
  );
  const current = props.current && scene.dots.find((d) => d.operation.id === props.current!.operation);
  const signs = useMemo(() => signsOf(props.arounds, props.hidden, props.edges), [props.arounds, props.hidden, props.edges]);
  return (
    <div ref={box}>
      <Picture name={props.name} describedBy={props.describedBy} width={scene.width} height={scene.height} legend={<Legend signs={signs} />}>
        <Lanes scene={scene} />
        {props.events && room > 560 && <EventAxis scene={scene} />}
        {scene.boxes.map((shape) => (
          <Box shape={shape} />
        ))}
        {scene.bars.map((shape) => (
          <Bar shape={shape} />
        ))}
        <Edges scene={scene} edges={props.edges} current={props.current?.edge} />
        {scene.bars.map(({ label }) => label && <LockName {...label} />)}
        {scene.dots.map((d) => (
          <OperationDot dot={d} isCurrent={d === current} onPick={props.onPick} />
        ))}
      </Picture>
    </div>
  );
}

export function Lanes({ scene }: { scene: Scene }) {
  return (
    <g class="lanes">
      {scene.lanes.map((lane) => (
        <>
          <line class="lifeline" x1={lane.dotX} x2={lane.dotX} y1={scene.top} y2={scene.height - 4} />
          <text class="lane-name" {...namePlace(scene, lane)}>
            {lane.name}
            <title>{lane.thread}</title>
          </text>
        </>
      ))}
    </g>
  );
}

function namePlace(scene: Scene, lane: Lane) {
  if (scene.namesSlanted) return { transform: `translate(${lane.dotX},${scene.top - 5}) rotate(${-slant})` };
  return scene.labelsBeside ? { x: lane.dotX, y: 18, "text-anchor": "middle" as const } : { x: lane.dotX - 6, y: 18 };
}

// What is to be seen in the picture, and what it means; locks by their names, which not every bar has beside it.
function signsOf(arounds: Around[], hidden: number, edges: Edge[]): Sign[] {
  const blocks = arounds.filter((a) => a.kind === "block");
  const locks = arounds.filter((a) => a.kind !== "block");
  const has = (kind: Edge["kind"]) => edges.some((edge) => edge.kind === kind);
  const signs: (Sign | false)[] = [
    blocks.some((b) => !b.blamed && b.to !== undefined) && { look: "box", text: "a block" },
    blocks.some((b) => b.blamed) && { look: "blamed", text: "the block to blame" },
    blocks.some((b) => b.to === undefined) && { look: "open", text: "a block whose end is not known: it was not over yet, or a running program was checked, where ends are not kept" },
    ...(["lock", "shared lock"] as const).map((kind): Sign | false => {
      const own = locks.filter((l) => l.kind === kind);
      const shared = kind === "shared lock" ? ", shared with others" : "";
      const vague = own.some((l) => l.from === undefined) ? " (since when and until when is not known)" : "";
      return own.length > 0 && { look: kind === "lock" ? "lock" : "shared", text: `lock held${shared}: ${names(own)}${vague}` };
    }),
    has("order") && { look: "order", text: "comes before" },
    has("waits") && { look: "order", text: "waits for" },
    has("within") && { look: "within", text: "goes on in the same transaction" },
    has("conflict") && { look: "conflict", text: "nothing orders the two" },
    hidden > 0 && { text: `${grouped(hidden)} more blocks and locks are not drawn` },
  ];
  return signs.filter((sign) => sign !== false);
}

function names(locks: Around[]): string {
  const all = [...new Set(locks.map((lock) => lock.name))];
  return all.length > 8 ? `${all.slice(0, 7).join(", ")} and ${all.length - 7} more` : all.join(", ");
}

// Which event of the trace each operation was. Between them the scale only keeps the order.
function EventAxis({ scene }: { scene: Scene }) {
  const group = useRef<SVGGElement>(null);
  // Before the browser draws, which may be on paper.
  useLayoutEffect(() => {
    const dots = [...scene.dots].sort((a, b) => a.y - b.y);
    const scale = scaleLinear()
      .domain([...dots.map((d) => d.operation.order), dots[dots.length - 1]!.operation.order + 1])
      .range([...dots.map((d) => d.y), scene.height]);
    const ticks = axisLeft<number>(scale as never)
      .tickValues(dots.map((d) => d.operation.order))
      .tickFormat((order) => grouped(order))
      .tickSize(0)
      .tickPadding(6);
    if (group.current) select<SVGGElement, unknown>(group.current).call(ticks as never);
  }, [scene]);
  return (
    <>
      <g ref={group} class="axis" transform="translate(64,0)" />
      <text class="axis-name" x={58} y={18} text-anchor="end">
        event
      </text>
    </>
  );
}

export function Box({ shape }: { shape: Shape }) {
  const { around, x, y, width, height, label } = shape;
  return (
    <g class={`block ${around.blamed ? "blamed" : ""}`}>
      <rect x={x} y={y} width={Math.max(0, width)} height={Math.max(0, height)} rx={4} class={around.to === undefined ? "open" : ""} />
      <title>
        {`block ${around.name || "without a name"} of ${around.thread}`}
        {around.blamed ? ", to blame" : ""}
        {around.to === undefined ? "; its end is not known" : ""}
      </title>
      {label && (
        <text class="block-name" x={label.x} y={label.y}>
          {label.text}
        </text>
      )}
    </g>
  );
}

export function Bar({ shape }: { shape: Shape }) {
  const { around, x, y, width, height } = shape;
  return (
    <g class={around.kind === "shared lock" ? "lock shared" : "lock"}>
      <rect x={x} y={y} width={width} height={Math.max(0, height)} rx={2.5} />
      <title>{`${around.thread} holds ${around.name}${around.kind === "shared lock" ? " (shared)" : ""}`}</title>
    </g>
  );
}

// Above the edges, which cross here.
function LockName({ x, y, text }: { x: number; y: number; text: string }) {
  return (
    <text class="lock-name" x={x} y={y}>
      {text}
    </text>
  );
}

export function Edges({ scene, edges, current }: { scene: Scene; edges: Edge[]; current?: Edge }) {
  const id = useId();
  const dots = useMemo(() => new Map(scene.dots.map((d) => [d.operation.id, d])), [scene]);
  const drawn = edges.map((edge, number) => ({ edge, number, from: dots.get(edge.from), to: dots.get(edge.to), isCurrent: edge === current }));
  drawn.sort((a, b) => Number(a.isCurrent) - Number(b.isCurrent)); // the current one on top
  return (
    <g class="edges">
      <Arrowheads id={id} />
      {drawn.map(({ edge, number, from, to, isCurrent }) => {
        if (!from || !to) return null;
        const arrow = edge.kind === "order" || edge.kind === "waits" ? `url(#${id}${isCurrent ? "current" : ""})` : undefined;
        return <path class={`edge ${edge.kind} ${isCurrent ? "current" : ""}`} d={curve(from, to, scene, number)} marker-end={arrow} />;
      })}
    </g>
  );
}

// What a finger hits of an operation: more than its dot, and its label with the gaps between the lines.
export function Target({ x, y, labelX, labels }: { x: number; y: number; labelX: number; labels: string[] }) {
  const height = 12 + labels.length * 13;
  return (
    <>
      <circle class="target" cx={x} cy={y} r={15} />
      <rect class="target" x={labelX - 3} y={y - height / 2} width={Math.max(...labels.map((label) => textWidth(label, 12))) + 3} height={height} />
    </>
  );
}

export function OperationDot({ dot, isCurrent, onPick }: { dot: Dot; isCurrent: boolean; onPick?: (operation: number) => void }) {
  const { operation } = dot;
  const numbered = operation.number !== undefined;
  const first = dot.y + (dot.detail ? -2 : 4) - (dot.title.length - 1) * 7;
  return (
    <g class={`operation ${numbered ? "argued" : ""} ${isCurrent ? "current" : ""}`} onClick={onPick && (() => onPick(operation.id))}>
      <circle cx={dot.x} cy={dot.y} r={numbered ? 9 : 4} />
      {numbered && (
        <text class="number" x={dot.x} y={dot.y + 3.6} text-anchor="middle">
          {operation.number}
        </text>
      )}
      {dot.title.map((text, i) => (
        <text class="title" x={dot.labelX} y={first + i * 14}>
          {text}
        </text>
      ))}
      <text class="detail" x={dot.labelX} y={first + dot.title.length * 14 + 0.5}>
        {dot.detail}
      </text>
      <title>{`${operation.thread} ${operation.title}\n${operation.detail}`}</title>
      {numbered && <Target x={dot.x} y={dot.y} labelX={dot.labelX} labels={[...dot.title, dot.detail]} />}
    </g>
  );
}
