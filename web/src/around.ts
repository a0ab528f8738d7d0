// What a picture of threads over time is made of: operations, and what is around them.

export interface Operation {
  id: number;
  thread: string;
  order: number; // its place in time
  title: string;
  detail: string;
  number?: string; // in the argument
}

// A block, a task or a lock around operations. Where it begins or ends is not known, it is drawn open.
export interface Around {
  kind: "block" | "task" | "lock" | "shared lock";
  thread: string;
  name: string;
  first: number; // order of the first and the last operation in it
  last: number;
  from?: number; // order of what began and ended it
  to?: number;
  blamed?: boolean;
}

// Drawn as a box, not as a bar.
export const isBox = ({ kind }: { kind: Around["kind"] }): boolean => kind === "block" || kind === "task";

// What is written where a lock is taken.
export const lockLabel = (lock: Around): string => `acquired ${lock.name}${lock.kind === "shared lock" ? " (shared)" : ""}`;
