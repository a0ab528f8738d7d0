// What a timeline of a finding shows: its operations in their order, and the blocks and locks around them.
import { operandOf } from "./argument";
import { place, type Finding, type Step } from "./data";
import type { Part } from "./part";
import type { Around, Operation } from "./scene";

export interface Moments {
  threads: string[];
  operations: Operation[]; // ids are indices into the finding's steps, or past them for others
  arounds: Around[];
  isScheduled: boolean; // the order is that of the schedule, not that of the run
  hidden: number; // blocks and locks that are too many to draw
}

// `around`: the picture has no boxes and bars that tell the block and the locks.
function operation(step: Step, id: number, order: number, number?: string, around = { block: false, locks: false }): Operation {
  const where = [place(step), around.block && step.block && `in ${step.block}`, around.locks && locksHeld(step.held).length > 0 && step.held].filter(Boolean).join(" · ");
  return { id, thread: step.thread, order, title: step.phrase, detail: where, number };
}

const mostArounds = 400;

// What tells operations apart.
const identity = (step: Step) => `${step.thread}\n${step.event}\n${step.operation}`;

// By identity() the first index.
function firsts(steps: Step[]): Map<string, number> {
  const result = new Map<string, number>();
  steps.forEach((step, i) => {
    const key = identity(step);
    if (!result.has(key)) result.set(key, i);
  });
  return result;
}

// The steps of the argument. What is predicted happens in the order of its schedule.
export function momentsOf(finding: Finding, part: Part): Moments {
  const schedule = finding.schedule ?? [];
  const inSchedule = firsts(schedule);
  const places = finding.steps.map((step) => inSchedule.get(identity(step)) ?? -1);
  const isScheduled = schedule.length > 0 && places.every((at) => at >= 0);
  // With their names; bars without a beginning have none.
  const hasBlocks = isScheduled || (finding.spans ?? []).some((span) => span.kind === "block");
  const hasLocks = isScheduled || (finding.spans ?? []).some((span) => span.kind !== "block");
  const seen = firsts(finding.steps);
  const operations: Operation[] = [];
  finding.steps.forEach((step, i) => {
    // An operation that the argument comes back to is drawn once.
    if (seen.get(identity(step)) !== i || !part.steps.has(i)) return;
    operations.push(operation(step, i, isScheduled ? places[i]! : step.event, `${i + 1}`, { block: !hasBlocks, locks: !hasLocks }));
  });
  const arounds = isScheduled ? scheduleArounds(schedule, finding) : spanArounds(finding, part);
  return { threads: threadsOf(finding, operations), operations, ...drawable(arounds, operations), isScheduled };
}

// All of the schedule, the steps of the argument numbered. Of a part of a long argument: from its first step to its last.
export function scheduleMoments(finding: Finding, part: Part): Moments {
  const schedule = finding.schedule ?? [];
  const steps = firsts(finding.steps);
  const places = schedule.flatMap((step, order) => (part.steps.has(steps.get(identity(step)) ?? -1) ? [order] : []));
  const [from, to] = part.isWhole || places.length === 0 ? [0, schedule.length] : [places[0]!, places[places.length - 1]!];
  const operations: Operation[] = [];
  schedule.forEach((step, order) => {
    const argued = steps.get(identity(step)) ?? -1;
    if ((argued < 0 && isBoundary(step)) || order < from || order > to) return;
    const id = argued < 0 ? finding.steps.length + order : argued;
    operations.push(operation(step, id, order, argued < 0 ? undefined : `${argued + 1}`));
  });
  const arounds = scheduleArounds(schedule, finding); // those without an operation belong to the whole schedule, too
  return { threads: threadsOf(finding, operations), operations, ...drawable(arounds, part.isWhole ? undefined : operations), isScheduled: true };
}

export function threadsOf(finding: Finding, operations: { thread: string }[]): string[] {
  const present = new Set(operations.map((o) => o.thread));
  return [...new Set([...finding.threads, ...present])].filter((thread) => present.has(thread));
}

// Only what has an operation in it is worth drawing; it knows which.
function clip(around: Around, operations: Operation[]): Around | undefined {
  const inside = operations.filter(
    (o) => o.thread === around.thread && o.order >= (around.from ?? around.first) && o.order <= (around.to ?? around.last),
  );
  if (inside.length === 0) return undefined;
  const orders = inside.map((o) => o.order);
  return { ...around, first: Math.min(...orders), last: Math.max(...orders) };
}

// `operations`: only what is around some of them.
function drawable(arounds: Around[], operations?: Operation[]): { arounds: Around[]; hidden: number } {
  const all = operations ? arounds.flatMap((around) => clip(around, operations) ?? []) : arounds;
  return { arounds: all.slice(0, mostArounds), hidden: Math.max(0, all.length - mostArounds) };
}

const isBlamed = (finding: Finding, name: string) => finding.blocks.includes(name);

function spanArounds(finding: Finding, part: Part): Around[] {
  const spans = finding.spans ?? [];
  const result: Around[] = spans.map((span) => ({
    kind: span.kind,
    thread: span.thread,
    name: span.name,
    first: span.from,
    last: span.to,
    from: span.from,
    to: span.open ? undefined : span.to,
    blamed: span.kind === "block" && isBlamed(finding, span.name),
  }));
  const steps = finding.steps.filter((_, i) => part.steps.has(i));
  // Without spans the steps tell in which block they are and what they hold, but not since when.
  if (!spans.some((span) => span.kind === "block")) {
    for (const step of steps) {
      if (!step.block) continue;
      const known = result.find(
        (a) => a.kind === "block" && a.thread === step.thread && a.name === step.block,
      );
      if (known) {
        known.first = Math.min(known.first, step.event);
        known.last = Math.max(known.last, step.event);
      } else {
        result.push({
          kind: "block",
          thread: step.thread,
          name: step.block,
          first: step.event,
          last: step.event,
          blamed: isBlamed(finding, step.block),
        });
      }
    }
  }
  if (!spans.some((span) => span.kind !== "block"))
    for (const step of steps)
      for (const lock of locksHeld(step.held))
        result.push({ ...lock, thread: step.thread, first: step.event, last: step.event });
  return result;
}

// The locks of "holding a, b and c (shared)". Names of templates have commas of their own.
export function locksHeld(held: string): { kind: "lock" | "shared lock"; name: string }[] {
  if (!held.startsWith("holding ") || held === "holding no lock") return [];
  const names: string[] = [];
  let depth = 0;
  let name = "";
  for (let rest = held.slice("holding ".length); rest; ) {
    const separator = depth === 0 ? /^(, | and )/.exec(rest)?.[0] : undefined;
    if (separator) {
      names.push(name);
      name = "";
      rest = rest.slice(separator.length);
      continue;
    }
    const c = rest[0]!;
    if ("<([{".includes(c)) depth++;
    if (">)]}".includes(c)) depth = Math.max(0, depth - 1);
    name += c;
    rest = rest.slice(1);
  }
  names.push(name);
  const shared = " (shared)";
  return names.map((n) =>
    n.endsWith(shared) ? { kind: "shared lock", name: n.slice(0, -shared.length) } : { kind: "lock", name: n },
  );
}

const isBoundary = (step: Step) => /^(begin|end|acq|rel|acq_sh|rel_sh)\b/.test(step.operation);

function scheduleArounds(schedule: Step[], finding: Finding): Around[] {
  const result: Around[] = [];
  const open: Around[] = [];
  schedule.forEach((step, order) => {
    const [, what] = /^(\w+)/.exec(step.operation) ?? [];
    const name = operandOf(step.operation);
    const kind = what === "begin" || what === "end" ? "block" : what?.endsWith("_sh") ? "shared lock" : "lock";
    if (what === "begin" || what === "acq" || what === "acq_sh") {
      const around: Around = { kind, thread: step.thread, name, first: order, last: order, from: order };
      around.blamed = kind === "block" && isBlamed(finding, name);
      open.push(around);
      result.push(around);
    } else if (what === "end" || what === "rel" || what === "rel_sh") {
      const at = open.findLastIndex((a) => a.thread === step.thread && a.kind === kind && (kind === "block" || a.name === name));
      if (at >= 0) open.splice(at, 1)[0]!.to = order;
    }
    for (const around of open) if (around.thread === step.thread) around.last = order;
  });
  return result;
}
