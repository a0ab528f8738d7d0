// The operations of a finding in their lanes, with the blocks and locks around them and the edges of the argument.
import { axisLeft } from "d3-axis";
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { Edge } from "./argument";
import { grouped } from "./data";
import { Arrowheads, Picture, useRoom } from "./picture";
import { curve, layOut, type Around, type Dot, type Operation, type Scene, type Shape } from "./scene";

export interface TimelineProps {
  name: string; // what the picture shows
  describedBy: string; // id of the same in words
  threads: string[];
  operations: Operation[];
  arounds: Around[];
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
  const dot = (id: number) => scene.dots.find((d) => d.operation.id === id);
  const current = props.current && dot(props.current.operation);
  return (
    <div ref={box}>
      <Picture name={props.name} describedBy={props.describedBy} width={scene.width} height={scene.height}>
        <Lanes scene={scene} />
        {props.events && room > 560 && <EventAxis scene={scene} />}
        {scene.boxes.map((shape) => (
          <Box shape={shape} />
        ))}
        {scene.bars.map((shape) => (
          <Bar shape={shape} />
        ))}
        <Edges scene={scene} edges={props.edges} current={props.current?.edge} />
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
          <text class="lane-name" x={lane.dotX} y={18} text-anchor={scene.labelsBeside ? "middle" : "start"} dx={scene.labelsBeside ? 0 : -6}>
            {lane.thread.length > 28 ? `${lane.thread.slice(0, 27)}…` : lane.thread}
            <title>{lane.thread}</title>
          </text>
        </>
      ))}
    </g>
  );
}

// Which event of the trace each operation was. Between them the scale only keeps the order.
function EventAxis({ scene }: { scene: Scene }) {
  const group = useRef<SVGGElement>(null);
  useEffect(() => {
    const dots = [...scene.dots].sort((a, b) => a.y - b.y);
    const scale = scaleLinear()
      .domain(dots.map((d) => d.operation.order))
      .range(dots.map((d) => d.y));
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

export function Edges({ scene, edges, current }: { scene: Scene; edges: Edge[]; current?: Edge }) {
  const id = useId();
  const dot = (operation: number) => scene.dots.find((d) => d.operation.id === operation);
  const drawn = edges.map((edge) => ({ edge, from: dot(edge.from), to: dot(edge.to), isCurrent: edge === current }));
  drawn.sort((a, b) => Number(a.isCurrent) - Number(b.isCurrent)); // the current one on top
  return (
    <g class="edges">
      <Arrowheads id={id} />
      {drawn.map(({ edge, from, to, isCurrent }) => {
        if (!from || !to) return null;
        const arrow = edge.kind === "order" || edge.kind === "waits" ? `url(#${id}${isCurrent ? "current" : ""})` : undefined;
        return <path class={`edge ${edge.kind} ${isCurrent ? "current" : ""}`} d={curve(from, to, scene, edges.indexOf(edge))} marker-end={arrow} />;
      })}
    </g>
  );
}

export function OperationDot({ dot, isCurrent, onPick }: { dot: Dot; isCurrent: boolean; onPick?: (operation: number) => void }) {
  const { operation } = dot;
  const numbered = operation.number !== undefined;
  return (
    <g class={`operation ${numbered ? "argued" : ""} ${isCurrent ? "current" : ""}`} onClick={onPick && (() => onPick(operation.id))}>
      <circle cx={dot.x} cy={dot.y} r={numbered ? 9 : 4} />
      {numbered && (
        <text class="number" x={dot.x} y={dot.y + 3.6} text-anchor="middle">
          {operation.number}
        </text>
      )}
      <text class="title" x={dot.labelX} y={dot.y - (dot.detail ? 2 : -4)}>
        {dot.title}
      </text>
      <text class="detail" x={dot.labelX} y={dot.y + 12.5}>
        {dot.detail}
      </text>
      <title>{`${operation.thread} ${operation.title}\n${operation.detail}`}</title>
    </g>
  );
}
