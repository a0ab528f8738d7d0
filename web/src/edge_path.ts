// The way of an edge from dot to dot. It runs where no text stands: on the lifelines, between the rows, between the lanes.
import { rounded, type Spot } from "./rounded";
import type { Dot, Scene } from "./scene";

const toHead = 4; // from the dot to the head of the arrow
const apart = 8; // ways of different edges between the same lanes

// `number` keeps edges on the same way apart.
export function edgePath(a: Dot, b: Dot, scene: Scene, number: number): string {
  const isSameLane = a.lane === b.lane;
  const goesDown = b.y >= a.y;
  if (isSameLane && !scene.dots.some((dot) => dot.lane === a.lane && dot.y > Math.min(a.y, b.y) && dot.y < Math.max(a.y, b.y))) {
    const down = goesDown ? 1 : -1;
    return rounded([
      { x: a.x, y: a.y + down * a.radius },
      { x: b.x, y: b.y - down * (b.radius + toHead) },
    ]);
  }
  const isLast = a.lane === scene.lanes[scene.lanes.length - 1]; // nothing is right of it
  const goesRight = isSameLane ? !isLast : b.x > a.x;
  const ways = Math.max(3, Math.floor(scene.gap / apart));
  const shift = ((number % ways) - (ways - 1) / 2) * (scene.gap > 0 ? apart : 3);
  const between = (goesRight ? a.lane.x + a.lane.width + scene.gap / 2 : a.lane.x - scene.gap / 2) + shift;
  const begin = { x: a.x, y: a.y + a.radius };
  if (goesDown) {
    const [leave, arrive] = [a.bottom - 2, b.top + 3];
    const end = { x: b.x, y: b.y - b.radius - toHead };
    if (arrive - leave < 12 && !isSameLane) return rounded(across(begin, end, (leave + arrive) / 2));
    return rounded([...legs(begin, leave, between), ...legs(end, arrive, between).reverse()]);
  }
  // Up it leaves below its own label too, and arrives from below, beside what leaves there.
  const end = { x: b.x + (isSameLane === goesRight ? 5 : -5), y: b.y + b.radius + toHead - 1 };
  return rounded([...legs(begin, a.bottom - 5, between), ...legs(end, b.bottom - 5, between).reverse()]);
}

const across = (begin: Spot, end: Spot, y: number): Spot[] => [begin, { x: begin.x, y }, { x: end.x, y }, end];
const legs = (spot: Spot, y: number, x: number): Spot[] => [spot, { x: spot.x, y }, { x, y }];
