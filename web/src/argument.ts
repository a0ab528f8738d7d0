// A finding's steps as an argument: points one after the other, most of them with an edge from an earlier operation.
import type { Finding, Step } from "./data";

export type EdgeKind =
  | "order" // comes before
  | "within" // goes on inside the same transaction
  | "conflict" // nothing orders the two
  | "waits"; // waits for a lock that the other holds

export interface Edge {
  from: number; // indices into steps
  to: number;
  kind: EdgeKind;
}

export interface Point {
  step: number; // index into steps
  edge?: Edge;
  sentence: string;
}

export type Shape = "cycle" | "waiting" | "pair" | "history";

// What the steps of each rule are to each other. Rules that are not listed argue in a circle.
const shapes: Record<string, Shape> = {
  HD1001: "pair",
  HD1002: "history",
  HD1003: "waiting",
  HD2002: "history",
  HD3001: "pair",
};

export function shapeOf(finding: Finding): Shape {
  if (Object.hasOwn(shapes, finding.rule)) return shapes[finding.rule]!;
  return finding.threads.length > 1 || finding.steps.length > 2 ? "cycle" : "history";
}

export const operandOf = (operation: string): string => /^[^(]*\(([^,)]*)/.exec(operation)?.[1] ?? "";

// For each step the number of its transaction; the finding tells, or else blocks and threads do.
export function transactionsOf(finding: Finding): number[] {
  const steps = finding.steps;
  if (steps.every((step) => step.transaction !== undefined)) {
    const numbers = new Map<number | undefined, number>();
    return steps.map(({ transaction }) => {
      if (!numbers.has(transaction)) numbers.set(transaction, numbers.size);
      return numbers.get(transaction)!;
    });
  }
  const result: number[] = [];
  let count = 0;
  steps.forEach((step, i) => {
    const before = steps[i - 1];
    const goesOn = before !== undefined && before.thread === step.thread && before.block === step.block && step.block !== "";
    const returns = i > 0 && i + 1 === steps.length && steps[0]!.thread === step.thread;
    result.push(returns ? 0 : goesOn ? result[i - 1]! : count++);
  });
  return result;
}

export function argumentOf(finding: Finding): Point[] {
  const steps = finding.steps;
  const shape = shapeOf(finding);
  if (shape === "waiting") return waitingPoints(steps);
  const transactions = transactionsOf(finding);
  const points = steps.map((step, i): Point => {
    if (i === 0) return { step: i, sentence: shape === "cycle" ? "" : step.because };
    if (shape === "history") return { step: i, sentence: step.because };
    const kind: EdgeKind =
      shape === "pair" ? "conflict" : transactions[i] === transactions[i - 1] ? "within" : "order";
    return { step: i, edge: { from: i - 1, to: i, kind }, sentence: step.because };
  });
  const first = steps[0];
  if (shape === "cycle" && first?.because && steps.length > 1)
    points.push({ step: 0, edge: { from: steps.length - 1, to: 0, kind: "order" }, sentence: first.because });
  return points;
}

// A thread that waits waits for whoever has taken the same lock and goes on holding it.
function waitingPoints(steps: Step[]): Point[] {
  const holders = new Map<string, number[]>();
  steps.forEach((step, i) => {
    const lock = operandOf(step.operation);
    if (!step.because) holders.set(lock, [...(holders.get(lock) ?? []), i]);
  });
  return steps.map((step, i) => {
    if (!step.because) return { step: i, sentence: "" };
    const holder = holders.get(operandOf(step.operation))?.find((other) => steps[other]!.thread !== step.thread);
    const edge: Edge | undefined = holder === undefined ? undefined : { from: i, to: holder, kind: "waits" };
    return { step: i, edge, sentence: step.because };
  });
}
