// How wide the lane of each thread is. From left to right it has its blocks' borders, the bars of its locks, its dots on the
// lifeline, and their labels. Where lanes with labels are too wide, all labels stand in a column of their own, left of the lanes.
import { isBox, lockLabel, type Around, type Operation } from "./around";
import { byKey } from "./by_key";
import { fitted, textWidth } from "./measure";

export interface Lane {
  thread: string;
  name: string; // of the thread, as far as it has room
  x: number;
  width: number;
  dotX: number;
  labelX: number;
  labelRoom: number;
  blockDepth: number; // how many blocks stand in each other
}

export interface Lanes {
  lanes: Lane[];
  width: number;
  gap: number; // between lanes
  labelsBeside: boolean;
}

export const sizes = { name: 12, title: 12, detail: 11, block: 11, lock: 10.5 }; // of text
export const marks = {
  border: 5, // from the lane's edge to a block's
  block: 7, // what each further block needs on either side
  lock: 10, // what the bar of a lock needs
  toLabel: 17, // from the lifeline
};
const leastGap = 14; // edges run in it
const mostGap = 90;
const widestLabel = 380;
const narrowestLabel = 150; // what a label may be cut to
const leastBeside = 220; // what labels beside the lanes have at least, if they need it and half the room is more

interface Measured {
  thread: string;
  blockDepth: number;
  before: number; // what the marks left of the lifeline need
  behind: number; // what is needed right of it, besides labels
  labels: number;
}

interface Column {
  around: Around;
  depth: number;
}

export function columnsOf(list: Around[], nests: boolean): Column[] {
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

export function lanesOf(threads: string[], operations: Operation[], arounds: Around[], left: number, room: number): Lanes {
  const operationsOf = byKey(operations, (o) => o.thread);
  const aroundsOf = byKey(arounds, (a) => a.thread);
  const measured = threads.map((thread) => measure(thread, operationsOf.get(thread) ?? [], aroundsOf.get(thread) ?? []));
  return withLabels(measured, left, room) ?? besideLabels(measured, left, room);
}

function measure(thread: string, operations: Operation[], arounds: Around[]): Measured {
  const deepest = (columns: Column[]) => columns.reduce((most, c) => Math.max(most, c.depth + 1), 0);
  const blocks = columnsOf(arounds.filter(isBox), true);
  const locks = columnsOf(arounds.filter((a) => !isBox(a)), false);
  const blockDepth = deepest(blocks);
  const labels = [
    textWidth(thread, sizes.name, 600) - marks.toLabel,
    ...operations.flatMap((o) => [textWidth(o.title, sizes.title, 500), textWidth(o.detail, sizes.detail)]),
    ...blocks.map(({ around, depth }) => textWidth(around.name, sizes.block, 600) + depth * marks.block),
    ...locks.map(({ around }) => (around.from === undefined ? 0 : textWidth(lockLabel(around), sizes.lock))),
  ].reduce((a, b) => Math.max(a, b));
  return {
    thread,
    blockDepth,
    before: 22 + blockDepth * marks.block + deepest(locks) * marks.lock,
    behind: 16 + blockDepth * marks.block,
    labels: Math.min(labels, widestLabel),
  };
}

const sum = (measured: Measured[], of: (m: Measured) => number) => measured.reduce((all, m) => all + of(m), 0);

// Each label right of its dot; nothing where that is too wide.
function withLabels(measured: Measured[], left: number, room: number): Lanes | undefined {
  const fixed = left + sum(measured, (m) => m.before + m.behind + marks.toLabel) + (measured.length - 1) * leastGap;
  const labels = sum(measured, (m) => m.labels);
  const narrowest = fixed + sum(measured, (m) => Math.min(m.labels, narrowestLabel));
  if (fixed + labels > room && (measured.length > 3 || narrowest > room)) return undefined;
  // What is missing is taken from the labels, from each in proportion; what is left over comes between the lanes.
  const share = fixed + labels <= room ? 1 : Math.max(0, (room - fixed) / labels);
  const gap = leastGap + Math.max(0, Math.min(mostGap - leastGap, (room - fixed - labels) / measured.length));
  let x = left;
  const lanes = measured.map((m): Lane => {
    const width = m.before + m.behind + marks.toLabel + m.labels * share;
    const dotX = x + m.before;
    const lane = { thread: m.thread, name: fitted(m.thread, sizes.name, width - m.before + 4, 600), x, width, dotX, labelX: dotX + marks.toLabel, labelRoom: width - m.before - marks.toLabel - 10, blockDepth: m.blockDepth };
    x += width + gap;
    return lane;
  });
  return { lanes, width: x - gap, gap, labelsBeside: false };
}

// The labels have the room that the lanes leave; where that is too little, the picture is wider than the room, and the labels are
// in the part that is seen first.
function besideLabels(wide: Measured[], left: number, room: number): Lanes {
  const longest = Math.max(80, ...wide.map((m) => m.labels)) + 4;
  const measured = wide.map((m) => ({ ...m, before: m.before - 6, behind: m.behind - 4 })); // as narrow as their marks
  const narrow = sum(measured, (m) => m.before + m.behind);
  const labelRoom = Math.min(longest, Math.max(Math.min(leastBeside, room / 2), room - left - narrow - 20));
  // Names that have room side by side are easier to read than slanted ones.
  const named = (m: Measured) => Math.max(m.before + m.behind, Math.min(64, textWidth(m.thread, sizes.name, 600) + 10));
  const isRoomy = left + labelRoom + sum(measured, named) + 20 <= room;
  let x = left + labelRoom + 16;
  const lanes = measured.map((m): Lane => {
    const width = isRoomy ? named(m) : m.before + m.behind;
    const lane = { thread: m.thread, name: m.thread, x, width, dotX: x + m.before, labelX: left + 4, labelRoom, blockDepth: m.blockDepth };
    x += width;
    return lane;
  });
  return { lanes, width: x + 4, gap: 0, labelsBeside: true };
}
