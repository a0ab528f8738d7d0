// Where everything in a picture of threads over time goes. A lane per thread, time downwards; a row per operation and,
// between them, small ones where blocks begin and end and locks are taken and given back.
import { isBox, lockLabel, type Around, type Operation } from "./around";
import { byKey } from "./by_key";
import { columnsOf, lanesOf, marks, sizes, type Lane, type Lanes } from "./lanes";
import { cut, fitted, lines, textWidth } from "./measure";

export interface Dot {
  operation: Operation;
  lane: Lane;
  x: number;
  y: number;
  radius: number;
  top: number; // of its row
  bottom: number;
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

export interface Scene extends Lanes {
  height: number;
  top: number; // where the lanes begin, below their names
  dots: Dot[];
  boxes: Shape[];
  bars: Shape[];
  namesSlanted: boolean; // of the threads: they have no room side by side
}

const rowHeights = { operation: 56, secondLine: 14, block: 25, lock: 18, end: 9 };
const header = 28;
const axis = 74;
const barWidth = 5;
export const slant = 50; // degrees
const longestSlanted = 150; // pixels

// As large as the number in it needs.
export const dotRadius = (number?: string): number => (number === undefined ? 4 : Math.max(9, number.length * 3.2 + 2));

interface Stretch {
  top: number;
  bottom: number;
}

export function layOut(threads: string[], operations: Operation[], arounds: Around[], room: number, withAxis: boolean): Scene {
  const lanes = lanesOf(threads, operations, arounds, withAxis ? axis : 6, room);
  const laneOf = new Map(lanes.lanes.map((lane) => [lane.thread, lane]));
  const names = namesOf(lanes);
  const titles = new Map(operations.map((o) => [o, lines(o.title, sizes.title, laneOf.get(o.thread)!.labelRoom, 500)]));
  const rows = new Rows(operations, arounds, titles, names.top);

  const dots = operations.map((operation): Dot => {
    const lane = laneOf.get(operation.thread)!;
    const { top, bottom } = rows.operations.get(operation)!;
    const detail = cut(operation.detail, sizes.detail, lane.labelRoom);
    return { operation, lane, x: lane.dotX, y: (top + bottom) / 2, radius: dotRadius(operation.number), top, bottom, title: titles.get(operation)!, detail };
  });
  const boxes: Shape[] = [];
  const bars: Shape[] = [];
  const aroundsOf = byKey(arounds, (a) => a.thread);
  for (const lane of lanes.lanes) {
    const own = aroundsOf.get(lane.thread) ?? [];
    for (const { around, depth } of columnsOf(own.filter(isBox), true)) {
      const inset = marks.border + depth * marks.block;
      const { top, bottom } = rows.extent(around, 0);
      const text = fitted(around.name || "block", sizes.block, lane.labelRoom - depth * marks.block, 600);
      boxes.push({ around, x: lane.x + inset, y: top, width: lane.width - 2 * inset, height: bottom - top, label: rows.begins.has(around) ? { x: lane.labelX, y: top + 15, text } : undefined });
    }
    for (const { around, depth } of columnsOf(own.filter((a) => !isBox(a)), false)) {
      const { top, bottom } = rows.extent(around, 4);
      const x = lane.x + 11 + lane.blockDepth * marks.block + depth * marks.lock;
      const text = fitted(lockLabel(around), sizes.lock, lane.labelRoom);
      bars.push({ around, x, y: top, width: barWidth, height: bottom - top, label: rows.begins.has(around) ? { x: lane.labelX, y: top + 10, text } : undefined });
    }
  }
  return { ...lanes, width: Math.max(lanes.width, names.end), height: rows.bottom + 14, top: names.top, dots, boxes, bars, namesSlanted: names.slanted };
}

// The names of the threads stand above the lanes; slanted, where they would touch each other.
function namesOf({ lanes, labelsBeside }: Lanes): { slanted: boolean; top: number; end: number } {
  const width = (lane: Lane | undefined) => (lane ? textWidth(lane.name, sizes.name, 600) : 0);
  const slanted = labelsBeside && lanes.some((lane, i) => lane.dotX - (lanes[i - 1]?.dotX ?? 0) < (width(lane) + width(lanes[i - 1])) / 2 + 8);
  if (!slanted) return { slanted, top: header, end: 0 };
  for (const lane of lanes) lane.name = fitted(lane.thread, sizes.name, longestSlanted, 600);
  const angle = (slant * Math.PI) / 180;
  return {
    slanted,
    top: header + Math.sin(angle) * Math.max(...lanes.map(width)),
    end: Math.max(...lanes.map((lane) => lane.dotX + Math.cos(angle) * width(lane))) + 16,
  };
}

// The rows in the order of time, one below the other.
class Rows {
  operations = new Map<Operation, Stretch>();
  begins = new Map<Around, Stretch>(); // where no operation is what begins and ends it
  private ends = new Map<Around, Stretch>();
  private byPlace = new Map<string, Stretch>();
  bottom: number;

  constructor(operations: Operation[], arounds: Around[], titles: Map<Operation, string[]>, top: number) {
    const place = (order: number, thread: string) => `${order} ${thread}`;
    const taken = new Set(operations.map((o) => place(o.order, o.thread)));
    interface Row {
      order: number;
      rank: number; // begins come before operations, ends after
      height: number;
      put: (at: Stretch) => void;
    }
    const list: Row[] = operations.map((o) => ({
      order: o.order,
      rank: 1,
      height: rowHeights.operation + (titles.get(o)!.length - 1) * rowHeights.secondLine,
      put: (at) => (this.operations.set(o, at), this.byPlace.set(place(o.order, o.thread), at)),
    }));
    for (const around of arounds) {
      if (around.from !== undefined && !taken.has(place(around.from, around.thread)))
        list.push({ order: around.from, rank: 0, height: isBox(around) ? rowHeights.block : rowHeights.lock, put: (at) => this.begins.set(around, at) });
      if (around.to !== undefined && !taken.has(place(around.to, around.thread)))
        list.push({ order: around.to, rank: 2, height: rowHeights.end, put: (at) => this.ends.set(around, at) });
    }
    this.bottom = top;
    for (const { height, put } of list.sort((a, b) => a.order - b.order || a.rank - b.rank)) {
      put({ top: this.bottom, bottom: this.bottom + height });
      this.bottom += height;
    }
  }

  // From where it begins to where it ends, or around its operations: `inset` from where a box would be.
  extent(around: Around, inset: number): Stretch {
    const at = (order: number) => this.byPlace.get(`${order} ${around.thread}`);
    const [begin, end] = [this.begins.get(around), this.ends.get(around)];
    return {
      top: begin ? begin.top + 3 : (at(around.first)?.top ?? 0) + 4 + inset,
      bottom: end ? end.bottom - 2 : (at(around.last)?.bottom ?? 0) - 4 - inset,
    };
  }
}
