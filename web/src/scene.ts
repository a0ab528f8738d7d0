// Where everything in a picture of threads over time goes. A lane per thread, time downwards; a row per operation and,
// between them, small ones where blocks begin and end and locks are taken and given back.
import { cut, fitted, lines, textWidth } from "./measure";

export interface Operation {
  id: number;
  thread: string;
  order: number; // its place in time
  title: string;
  detail: string;
  number?: string; // in the argument
}

// A block or a lock around operations. Where it begins or ends is not known, it is drawn open.
export interface Around {
  kind: "block" | "lock" | "shared lock";
  thread: string;
  name: string;
  first: number; // order of the first and the last operation in it
  last: number;
  from?: number; // order of what began and ended it
  to?: number;
  blamed?: boolean;
}

export interface Lane {
  thread: string;
  x: number;
  width: number;
  dotX: number;
  name: string; // of the thread, as far as it has room
}

export interface Dot {
  operation: Operation;
  x: number;
  y: number;
  labelX: number;
  title: string[]; // lines
  detail: string;
}

export interface Shape {
  around: Around;
  x: number;
  y: number;
  width: number;
  height: number;
  label?: { x: number; y: number; text: string };
}

export interface Scene {
  width: number;
  height: number;
  top: number; // where the lanes begin, below their names
  lanes: Lane[];
  dots: Dot[];
  boxes: Shape[];
  bars: Shape[];
  labelsBeside: boolean; // all labels stand in a column right of the lanes, else each in its lane
  namesSlanted: boolean; // of the threads: they have no room side by side
}

const sizes = { name: 12, title: 12, detail: 11, block: 11, lock: 10.5 };
const rows = { operation: 50, secondLine: 14, block: 25, lock: 18, end: 9 };
const header = 34;
const axis = 74;
export const slant = 50; // degrees
const longestSlanted = 150; // pixels

// What is written where a lock is taken.
const lockLabel = (lock: Around) => `acquired ${lock.name}${lock.kind === "shared lock" ? " (shared)" : ""}`;

interface Row {
  order: number;
  rank: number; // begins come before operations, ends after
  height: number;
  operation?: Operation;
  begins?: Around;
  ends?: Around;
}

interface Column {
  around: Around;
  depth: number;
}

function columnsOf(list: Around[], nests: boolean): Column[] {
  const columns: Column[] = [];
  const begin = (a: Around) => a.from ?? a.first - 0.5;
  const end = (a: Around) => a.to ?? a.last + 0.5;
  for (const around of [...list].sort((a, b) => begin(a) - begin(b) || end(b) - end(a))) {
    const overlapping = columns.filter((c) => begin(c.around) <= end(around) && begin(around) <= end(c.around));
    let depth = 0;
    if (nests) depth = overlapping.reduce((most, c) => Math.max(most, c.depth + 1), 0);
    else while (overlapping.some((c) => c.depth === depth)) depth++;
    columns.push({ around, depth });
  }
  return columns;
}

export function layOut(
  threads: string[],
  operations: Operation[],
  arounds: Around[],
  room: number,
  withAxis: boolean,
): Scene {
  const left = withAxis ? axis : 6;
  const wide = lanesOf(threads, operations, arounds, left, false, Infinity);
  const fits = wide.width <= room || (threads.length <= 3 && wide.narrowest <= room);
  const chosen = lanesOf(threads, operations, arounds, left, !fits, room);

  // Beside the lanes labels have the rest of the room; where that is too little, the picture is wider than it.
  const longest = operations.reduce(
    (most, o) => Math.max(most, textWidth(o.title, sizes.title, 500), textWidth(o.detail, sizes.detail)),
    80,
  );
  const beside = Math.max(Math.min(longest, 220) + 2, room - chosen.labelX - 4);
  const laneOf = new Map(chosen.lanes.map((lane) => [lane.thread, lane]));
  const labelX = (lane: Lane) => (fits ? lane.dotX + 17 : chosen.labelX);
  const labelRoom = (lane: Lane) => (fits ? lane.x + lane.width - labelX(lane) - 10 : beside);
  const titles = new Map(operations.map((o) => [o, lines(o.title, sizes.title, labelRoom(laneOf.get(o.thread)!), 500)]));

  const nameWidth = (lane: Lane | undefined) => (lane ? textWidth(lane.thread, sizes.name, 600) : 0);
  const namesSlanted =
    !fits && chosen.lanes.some((lane, i) => lane.dotX - (chosen.lanes[i - 1]?.dotX ?? 0) < (nameWidth(lane) + nameWidth(chosen.lanes[i - 1])) / 2 + 8);
  const top = namesSlanted
    ? header + Math.sin((slant * Math.PI) / 180) * Math.min(longestSlanted, Math.max(...chosen.lanes.map(nameWidth)))
    : header;

  const rowList = rowsOf(operations, arounds, titles);
  const position = new Map<object, { y: number; height: number }>(); // of operations
  const begins = new Map<Around, { y: number; height: number }>();
  const ends = new Map<Around, { y: number; height: number }>();
  let y = top;
  for (const row of rowList) {
    const at = { y, height: row.height };
    if (row.operation) position.set(row.operation, at);
    if (row.begins) begins.set(row.begins, at);
    if (row.ends) ends.set(row.ends, at);
    y += row.height;
  }
  const height = y + 14;
  const byPlace = new Map(operations.map((o) => [`${o.order} ${o.thread}`, position.get(o)!]));
  const extent = (order: number, thread: string) => {
    const at = byPlace.get(`${order} ${thread}`);
    return at ? { top: at.y + 4, bottom: at.y + at.height - 4 } : { top: 0, bottom: 0 };
  };

  const dots = operations.map((operation): Dot => {
    const lane = laneOf.get(operation.thread)!;
    const at = position.get(operation)!;
    return {
      operation,
      x: lane.dotX,
      y: at.y + at.height / 2,
      labelX: labelX(lane),
      title: titles.get(operation)!,
      detail: cut(operation.detail, sizes.detail, labelRoom(lane)),
    };
  });

  const boxes: Shape[] = [];
  const bars: Shape[] = [];
  const ofThread = byThread(arounds);
  for (const lane of chosen.lanes) {
    const own = ofThread.get(lane.thread) ?? [];
    for (const { around, depth } of columnsOf(own.filter((a) => a.kind === "block"), true)) {
      const begin = begins.get(around);
      const end = ends.get(around);
      const upper = begin ? begin.y + 3 : extent(around.first, lane.thread).top;
      const lower = end ? end.y + end.height - 2 : extent(around.last, lane.thread).bottom;
      const x = lane.x + 5 + depth * 7;
      const width = lane.width - 10 - depth * 14;
      const space = fits ? x + width - labelX(lane) - 6 : beside;
      boxes.push({
        around,
        x,
        y: upper,
        width,
        height: lower - upper,
        label: begin && { x: labelX(lane), y: upper + 15, text: fitted(around.name || "block", sizes.block, space, 600) },
      });
    }
    for (const { around, depth } of columnsOf(own.filter((a) => a.kind !== "block"), false)) {
      const begin = begins.get(around);
      const end = ends.get(around);
      const upper = begin ? begin.y + 2 : extent(around.first, lane.thread).top + 4;
      const lower = end ? end.y + end.height - 2 : extent(around.last, lane.thread).bottom - 4;
      bars.push({
        around,
        x: lane.x + 11 + lane.depth * 7 + depth * 10,
        y: upper,
        width: 5,
        height: lower - upper,
        label: begin && { x: labelX(lane), y: begin.y + 13, text: fitted(lockLabel(around), sizes.lock, labelRoom(lane)) },
      });
    }
  }
  for (const lane of chosen.lanes) {
    const space = namesSlanted ? longestSlanted : fits ? lane.x + lane.width - lane.dotX + 4 : Infinity;
    lane.name = fitted(lane.thread, sizes.name, space, 600);
  }
  const slantedEnd = namesSlanted ? Math.max(...chosen.lanes.map((l) => l.dotX + textWidth(l.name, sizes.name, 600) * Math.cos((slant * Math.PI) / 180))) + 16 : 0;
  return {
    width: fits ? chosen.width : Math.max(chosen.labelX + beside + 4, slantedEnd),
    height,
    top: top - 6,
    lanes: chosen.lanes,
    dots,
    boxes,
    bars,
    labelsBeside: !fits,
    namesSlanted,
  };
}

function byThread<T extends { thread: string }>(list: T[]): Map<string, T[]> {
  const result = new Map<string, T[]>();
  for (const item of list) {
    const own = result.get(item.thread);
    if (own) own.push(item);
    else result.set(item.thread, [item]);
  }
  return result;
}

function rowsOf(operations: Operation[], arounds: Around[], titles: Map<Operation, string[]>): Row[] {
  const list: Row[] = operations.map((operation) => ({
    order: operation.order,
    rank: 1,
    height: rows.operation + (titles.get(operation)!.length - 1) * rows.secondLine,
    operation,
  }));
  const taken = new Set(operations.map((o) => `${o.order} ${o.thread}`));
  for (const around of arounds) {
    const height = around.kind === "block" ? rows.block : rows.lock;
    if (around.from !== undefined && !taken.has(`${around.from} ${around.thread}`))
      list.push({ order: around.from, rank: 0, height, begins: around });
    if (around.to !== undefined && !taken.has(`${around.to} ${around.thread}`))
      list.push({ order: around.to, rank: 2, height: rows.end, ends: around });
  }
  return list.sort((a, b) => a.order - b.order || a.rank - b.rank);
}

interface Lanes {
  lanes: (Lane & { depth: number })[];
  width: number;
  narrowest: number; // what it could be squeezed to, with labels cut
  labelX: number;
}

// `labelsBeside`: lanes are as narrow as their marks. Else they have room for their labels, as far as all fit.
function lanesOf(
  threads: string[],
  operations: Operation[],
  arounds: Around[],
  left: number,
  labelsBeside: boolean,
  room: number,
): Lanes {
  const aroundsOf = byThread(arounds);
  const operationsOf = byThread(operations);
  const measured = threads.map((thread) => {
    const own = aroundsOf.get(thread) ?? [];
    const blocks = columnsOf(own.filter((a) => a.kind === "block"), true);
    const locks = columnsOf(own.filter((a) => a.kind !== "block"), false);
    const depth = blocks.reduce((most, c) => Math.max(most, c.depth + 1), 0);
    const marks = 12 + depth * 7 + locks.reduce((most, c) => Math.max(most, c.depth + 1), 0) * 10 + 10;
    let labels = textWidth(thread, 12, 600) - 17;
    for (const operation of operationsOf.get(thread) ?? [])
      labels = Math.max(labels, textWidth(operation.title, sizes.title, 500), textWidth(operation.detail, sizes.detail));
    for (const block of blocks)
      labels = Math.max(labels, textWidth(block.around.name, sizes.block, 600) + block.depth * 7);
    for (const lock of locks)
      if (lock.around.from !== undefined) labels = Math.max(labels, textWidth(lockLabel(lock.around), sizes.lock));
    return { thread, depth, marks, labels: Math.min(labels, 380) };
  });
  const extra = (m: { depth: number }) => 17 + 16 + m.depth * 7;
  const natural = measured.reduce((sum, m) => sum + m.marks + extra(m) + m.labels, left);
  const narrowest = measured.reduce((sum, m) => sum + m.marks + extra(m) + Math.min(m.labels, 150), left);
  // What is missing is taken from the labels, from each in proportion.
  const all = measured.reduce((sum, m) => sum + m.labels, 0);
  const share = natural <= room ? 1 : Math.max(0, 1 - (natural - room) / all);
  // What is left over comes between the lanes, where the edges are.
  const gap = labelsBeside || room === Infinity ? 0 : Math.max(0, Math.min(90, (room - natural) / measured.length));
  const lanes: Lanes["lanes"] = [];
  let x = left;
  for (const m of measured) {
    const width = labelsBeside
      ? Math.max(m.marks + 16 + m.depth * 7, Math.min(64, textWidth(m.thread, 12, 600) + 10))
      : m.marks + extra(m) + m.labels * share;
    lanes.push({ thread: m.thread, x, width, dotX: x + m.marks, depth: m.depth, name: m.thread });
    x += width + gap;
  }
  x -= gap;
  return { lanes, width: x, narrowest, labelX: x + 8 };
}

// A curve between two dots that leaves and arrives along the lanes, so that it crosses between the rows. `number` keeps
// curves on the same way apart.
export function curve(a: Dot, b: Dot, scene: Scene, number: number): string {
  const radius = 10;
  const start = `M${a.x},${a.y + radius}`;
  if (a.x === b.x) {
    const [low, high] = a.y < b.y ? [a.y, b.y] : [b.y, a.y];
    const between = scene.dots.some((dot) => dot.x === a.x && dot.y > low && dot.y < high);
    const down = Math.sign(b.y - a.y);
    if (!between) return `M${a.x},${a.y + down * radius} L${b.x},${b.y - down * (radius + 3)}`;
    return `M${a.x - 8},${a.y + down * 6} C${a.x - 34},${a.y + down * 30} ${b.x - 34},${b.y - down * 30} ${b.x - 9},${b.y - down * 8}`;
  }
  const reach = Math.max(34, Math.abs(b.y - a.y) * 0.55);
  const end = `${b.x},${b.y + radius + 4}`;
  if (b.y >= a.y) return `${start} C${a.x},${a.y + reach} ${b.x},${b.y - reach} ${b.x},${b.y - radius - 4}`;
  if (a.y - b.y < 90) return `${start} C${a.x},${a.y + 104} ${b.x},${b.y + 70} ${end}`;
  // Far up it goes below its own label, between the lanes, and arrives from below.
  const left = scene.lanes.findLast((lane) => lane.x <= Math.min(a.x, b.x))!;
  const x = left.x + left.width + 8 + (number % 4) * 6;
  return `${start} C${a.x},${a.y + 44} ${x},${a.y + 40} ${x},${a.y - 4} L${x},${b.y + 50} C${x},${b.y + 20} ${b.x},${b.y + 32} ${end}`;
}
