// A long argument is shown in parts, so that its pictures stay quick and can be read. Stepping on leads to the next part.
import type { Edge, Point } from "./argument";

export interface Part {
  number: number; // from 0
  first: number; // its points: indices from first to before end
  end: number;
  of: number; // points in all
  isWhole: boolean;
  steps: ReadonlySet<number>; // what its points speak of: indices into the finding's steps
  edges: Edge[];
}

const size = 200; // points
const most = 240; // an argument that is a little longer is not divided

export const partNumber = (points: Point[], at: number): number => (points.length <= most ? 0 : Math.floor(Math.max(0, at) / size));

export function partOf(points: Point[], number: number): Part {
  const isWhole = points.length <= most;
  const first = isWhole ? 0 : number * size;
  const end = isWhole ? points.length : Math.min(points.length, first + size);
  const own = points.slice(first, end);
  const steps = new Set<number>();
  for (const { step, edge } of own) {
    if (edge) steps.add(edge.from).add(edge.to);
    steps.add(step);
  }
  return { number, first, end, of: points.length, isWhole, steps, edges: own.flatMap((p) => (p.edge ? [p.edge] : [])) };
}
