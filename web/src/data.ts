// The findings, as src/report/html_report.cpp has put them into the page. docs/findings.schema.json says what each field means.

export interface Frame {
  text: string;
  file?: string;
  line?: number;
  column?: number;
  function?: string;
}

export interface Step {
  event: number;
  thread: string;
  operation: string;
  phrase: string;
  because: string;
  block: string;
  held: string;
  frames: Frame[];
  transaction?: number;
}

export interface Span {
  kind: "block" | "lock" | "shared lock";
  thread: string;
  name: string;
  from: number;
  to: number;
  open?: boolean; // it has not ended or the end is not known: `to` is the last step in it
}

export type Strength = "observed" | "predicted" | "potential";
export type Change = "new" | "known" | "fixed" | "unchecked";

export interface Finding {
  rule: string;
  name: string;
  title: string;
  checker: string;
  strength: Strength;
  message: string;
  blocks: string[];
  threads: string[];
  steps: Step[];
  schedule?: Step[];
  schedule_left_out?: number;
  delays?: { write: Step; until: Step }[];
  fences?: Step[];
  spans?: Span[];
  chains?: { title: string; steps: Step[] }[];
  conclusion: string;
  advice: string;
  input: string;
  count: number;
  fingerprint: string;
  change?: Change;
  suppress: string;
}

export interface Source {
  lines: Record<string, string>;
  missing?: string;
}

// ndseq: what a trace with tasks is as a whole, and the sequential run that gives the same outcome where there is one.
export interface SequentialRun {
  input: string;
  tasks: number;
  events: number;
  irrelevant_events: number;
  conflict_warnings: number;
  ndseq_warnings: number;
  found: boolean;
  order?: { task: string; depth: number }[];
  order_left_out?: number;
  skipped?: Step[];
  skipped_left_out?: number;
}

export type Counts = Record<string, number>;

export interface Report {
  heddle: string;
  command: string;
  inputs: { path: string; events: number; note: string }[];
  checkers: { name: string; verdict: "clean" | "violations" | "undecided"; note: string }[];
  rules: { id: string; name: string; title: string; brief: string; page: string }[];
  suppressed: { rule: string; message: string; suppression: { reason: string; where: string } }[];
  suppressed_count: number;
  sequential_runs?: SequentialRun[];
  left_out: number;
  left_out_occurrences: number;
  notices: string[];
  incomplete?: string; // why findings may be missing, a sentence without a full stop
  sources: Record<string, Source>;
  sample?: { all: number; rule: Counts; strength: Counts; file: Counts; change: Counts };
  compared?: { with: string; new: number; known: number; fixed: number; unchecked: number; caveats: string[] };
}

// Characters that have no look of their own but change how others look: a name could pose as another one.
const invisible = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const escapedInvisible = /\\u(061c|200[b-f]|202[a-e]|206[0-9a-f]|feff)/i;

function parse(id: string): unknown {
  const text = document.getElementById(id)?.textContent ?? "";
  if (!escapedInvisible.test(text)) return JSON.parse(text);
  const shown = (value: string) =>
    value.replace(invisible, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
  return JSON.parse(text, (_key, value: unknown) => (typeof value === "string" ? shown(value) : value));
}

export const report = parse("heddle-report") as Report;
export const findings = parse("heddle-findings") as Finding[];

export const strengths: Record<Strength, string> = {
  observed: "happened in this run",
  predicted: "happens in another order of this run’s operations",
  potential: "a discipline was broken; may be a false alarm",
};

export const changes: Record<Change, string> = {
  new: "not in the earlier report",
  known: "in both reports",
  fixed: "only in the earlier report, though its checker has looked at its input again",
  unchecked: "only in the earlier report; its checker did not run or is undecided, or its input was not checked this time",
};

export const isGone = (finding: Finding): boolean => finding.change === "fixed" || finding.change === "unchecked";

export function place(step: Step): string {
  const frame = step.frames[0];
  if (!frame) return "";
  // A bare number means nothing on its own (RAPID's traces have such sites).
  if (!frame.file) return frame.function ? `in ${frame.function}` : /^\d+$/.test(frame.text) ? `site ${frame.text}` : frame.text;
  return `${fileName(frame.file)}${frame.line ? `:${frame.line}` : ""}`;
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

// The file in which a finding shows: that of its last step.
export function fileOf(finding: Finding): string {
  return finding.steps[finding.steps.length - 1]?.frames[0]?.file ?? "";
}

export const grouped = (n: number): string => n.toLocaleString("en-US");
export const counted = (n: number, noun: string): string => `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
