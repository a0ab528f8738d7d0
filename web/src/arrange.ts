// Where the nodes of a graph go and how its edges run: by dagre, or, where it would take too long, in rows.
import { Graph, layout } from "@dagrejs/dagre";

export interface Size {
  width: number;
  height: number;
}

export interface Route {
  from: number; // numbers of nodes
  to: number;
}

interface Spot {
  x: number;
  y: number;
}

export interface Arranged<R extends Route> extends Size {
  places: Map<number, Spot>; // middles of the nodes
  routes: (R & Spot & { path: string })[]; // x, y: where an edge has its label
}

const most = 40; // nodes and edges. Dagre takes more than linear time, and its recursion has an end.
const margin = 14;

export function arrange<R extends Route>(nodes: Map<number, Size>, routes: R[], room: number): Arranged<R> {
  if (nodes.size + routes.length > most) return inRows(nodes, routes, room);
  const wide = byDagre(nodes, routes, "LR");
  return wide.width <= room ? wide : byDagre(nodes, routes, "TB");
}

function byDagre<R extends Route>(nodes: Map<number, Size>, routes: R[], direction: "LR" | "TB"): Arranged<R> {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, nodesep: 46, ranksep: direction === "LR" ? 74 : 50, edgesep: 30, marginx: margin, marginy: margin });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [number, { width, height }] of nodes) graph.setNode(`${number}`, { width, height });
  routes.forEach(({ from, to }, i) => graph.setEdge(`${from}`, `${to}`, { width: 22, height: 22, labelpos: "c" }, `${i}`));
  layout(graph);
  const { width, height } = graph.graph() as Size;
  return {
    width,
    height,
    places: new Map([...nodes.keys()].map((number) => [number, graph.node(`${number}`) as unknown as Spot])),
    routes: routes.map((route, i) => {
      const drawn = graph.edge({ v: `${route.from}`, w: `${route.to}`, name: `${i}` }) as unknown as Spot & { points: Spot[] };
      return { ...route, x: drawn.x, y: drawn.y, path: smooth(drawn.points) };
    }),
  };
}

// A long circle is mostly a chain: its nodes go to the right and, in the next row, back to the left, so that neighbours in the
// chain are neighbours in the picture.
function inRows<R extends Route>(nodes: Map<number, Size>, routes: R[], room: number): Arranged<R> {
  const between = 64;
  const cell = Math.max(...[...nodes.values()].map((node) => node.width));
  const columns = Math.max(1, Math.floor((room - 2 * margin + between) / (cell + between)));
  const numbers = [...nodes.keys()];
  const places = new Map<number, Spot>();
  let y = margin;
  for (let first = 0; first < numbers.length; first += columns) {
    const row = numbers.slice(first, first + columns);
    const tallest = Math.max(...row.map((number) => nodes.get(number)!.height));
    const isBack = (first / columns) % 2 === 1;
    row.forEach((number, i) => places.set(number, { x: margin + cell / 2 + (isBack ? columns - 1 - i : i) * (cell + between), y: y + tallest / 2 }));
    y += tallest + between * 0.8;
  }
  return {
    width: 2 * margin + columns * cell + (columns - 1) * between,
    height: y - between * 0.8 + margin,
    places,
    routes: routes.map((route) => ({ ...route, ...straight(places.get(route.from)!, nodes.get(route.from)!, places.get(route.to)!, nodes.get(route.to)!) })),
  };
}

// From border to border, along the line between the middles.
function straight(from: Spot, fromSize: Size, to: Spot, toSize: Size): Spot & { path: string } {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const reach = (size: Size, gap: number) => Math.min(1, Math.min(dx ? (size.width / 2 + gap) / Math.abs(dx) : Infinity, dy ? (size.height / 2 + gap) / Math.abs(dy) : Infinity));
  const [a, b] = [reach(fromSize, 0), 1 - reach(toSize, 3)];
  const at = (t: number) => ({ x: from.x + dx * t, y: from.y + dy * t });
  const [begin, end] = [at(a), at(b)];
  return { ...at((a + b) / 2), path: `M${begin.x},${begin.y} L${end.x},${end.y}` };
}

// A curve through the middles between the points that dagre gives.
function smooth(points: Spot[]): string {
  const [first, ...rest] = points;
  const last = rest[rest.length - 1];
  if (!first || !last) return "";
  let path = `M${first.x},${first.y}`;
  for (let i = 0; i + 1 < rest.length; i++) {
    const a = rest[i]!;
    const b = rest[i + 1]!;
    const isLast = i + 2 === rest.length;
    path += ` Q${a.x},${a.y} ${isLast ? b.x : (a.x + b.x) / 2},${isLast ? b.y : (a.y + b.y) / 2}`;
  }
  return rest.length < 2 ? `${path} L${last.x},${last.y}` : path;
}
