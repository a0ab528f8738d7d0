// Where everything in a picture of threads over time goes. A lane per thread, time downwards; a row per operation and,
// between them, small ones where blocks begin and end and locks are taken and given back.
import { cut, fitted, textWidth } from "./measure";

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
}

export interface Dot {
  operation: Operation;
  x: number;
  y: number;
  labelX: number;
  title: string;
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
}

const sizes = { title: 12, detail: 11, block: 11 };
const rows = { operation: 50, block: 25, lock: 9, end: 9 };
const header = 34;
const axis = 74;

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
  const rowList = rowsOf(operations, arounds);
  const position = new Map<object, { y: number; height: number }>();
  let y = header;
  for (const row of rowList) {
    position.set(row.operation ?? row, { y, height: row.height });
    y += row.height;
  }
  const height = y + 14;
  const rowWhere = (match: (row: Row) => boolean) => {
    const row = rowList.find(match);
    return row && position.get(row);
  };
  const yOf = (order: number, thread: string) => {
    const operation = operations.find((o) => o.order === order && o.thread === thread);
    const at = operation && position.get(operation);
    return at ? at.y + at.height / 2 : 0;
  };

  const left = withAxis ? axis : 6;
  const wide = lanesOf(threads, operations, arounds, left, false, Infinity);
  const fits = wide.width <= room || (threads.length <= 3 && wide.narrowest <= room);
  const chosen = fits
    ? lanesOf(threads, operations, arounds, left, false, room)
    : lanesOf(threads, operations, arounds, left, true, room);

  // Beside the lanes labels have the rest of the room; where that is too little, the picture is wider than it.
  const longest = operations.reduce(
    (most, o) => Math.max(most, textWidth(o.title, sizes.title, 500), textWidth(o.detail, sizes.detail)),
    80,
  );
  const beside = Math.max(Math.min(longest, 220) + 2, room - chosen.labelX - 4);

  const dots = operations.map((operation): Dot => {
    const lane = chosen.lanes.find((l) => l.thread === operation.thread)!;
    const at = position.get(operation)!;
    const labelX = fits ? lane.dotX + 17 : chosen.labelX;
    const space = fits ? lane.x + lane.width - labelX - 10 : beside;
    return {
      operation,
      x: lane.dotX,
      y: at.y + at.height / 2,
      labelX,
      title: fitted(operation.title, sizes.title, space, 500),
      detail: cut(operation.detail, sizes.detail, space),
    };
  });

  const boxes: Shape[] = [];
  const bars: Shape[] = [];
  for (const lane of chosen.lanes) {
    const blocks = columnsOf(arounds.filter((a) => a.thread === lane.thread && a.kind === "block"), true);
    for (const { around, depth } of blocks) {
      const begin = rowWhere((row) => row.begins === around);
      const end = rowWhere((row) => row.ends === around);
      const top = begin ? begin.y + 3 : yOf(around.first, lane.thread) - 21;
      const bottom = end ? end.y + end.height - 2 : yOf(around.last, lane.thread) + 21;
      const x = lane.x + 5 + depth * 7;
      const width = lane.width - 10 - depth * 14;
      const labelX = fits ? lane.dotX + 17 : chosen.labelX;
      const space = fits ? x + width - labelX - 6 : beside;
      boxes.push({
        around,
        x,
        y: top,
        width,
        height: bottom - top,
        label: begin && { x: labelX, y: top + 15, text: fitted(around.name || "block", sizes.block, space, 600) },
      });
    }
    const locks = columnsOf(arounds.filter((a) => a.thread === lane.thread && a.kind !== "block"), false);
    for (const { around, depth } of locks) {
      const begin = rowWhere((row) => row.begins === around);
      const end = rowWhere((row) => row.ends === around);
      const top = begin ? begin.y + 2 : yOf(around.first, lane.thread) - 17;
      const bottom = end ? end.y + end.height - 2 : yOf(around.last, lane.thread) + 17;
      bars.push({
        around,
        x: lane.x + 11 + lane.depth * 7 + depth * 10,
        y: top,
        width: 5,
        height: bottom - top,
      });
    }
  }
  return {
    width: fits ? chosen.width : chosen.labelX + beside + 4,
    height,
    top: header - 6,
    lanes: chosen.lanes,
    dots,
    boxes,
    bars,
    labelsBeside: !fits,
  };
}

function rowsOf(operations: Operation[], arounds: Around[]): Row[] {
  const list: Row[] = operations.map((operation) => ({
    order: operation.order,
    rank: 1,
    height: rows.operation,
    operation,
  }));
  const isOperation = (order: number, thread: string) =>
    operations.some((o) => o.order === order && o.thread === thread);
  for (const around of arounds) {
    const height = around.kind === "block" ? rows.block : rows.lock;
    if (around.from !== undefined && !isOperation(around.from, around.thread))
      list.push({ order: around.from, rank: 0, height, begins: around });
    if (around.to !== undefined && !isOperation(around.to, around.thread))
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
  const measured = threads.map((thread) => {
    const own = arounds.filter((a) => a.thread === thread);
    const blocks = columnsOf(own.filter((a) => a.kind === "block"), true);
    const locks = columnsOf(own.filter((a) => a.kind !== "block"), false);
    const depth = blocks.reduce((most, c) => Math.max(most, c.depth + 1), 0);
    const marks = 12 + depth * 7 + locks.reduce((most, c) => Math.max(most, c.depth + 1), 0) * 10 + 10;
    let labels = textWidth(thread, 12, 600) - 17;
    for (const operation of operations.filter((o) => o.thread === thread))
      labels = Math.max(labels, textWidth(operation.title, sizes.title, 500), textWidth(operation.detail, sizes.detail));
    for (const block of blocks)
      labels = Math.max(labels, textWidth(block.around.name, sizes.block, 600) + block.depth * 7);
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
    lanes.push({ thread: m.thread, x, width, dotX: x + m.marks, depth: m.depth });
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
