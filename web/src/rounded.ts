// A line through points, its corners rounded.
export interface Spot {
  x: number;
  y: number;
}

export function rounded(points: Spot[], radius = 7): string {
  const [first, ...rest] = points.filter((p, i) => i === 0 || p.x !== points[i - 1]!.x || p.y !== points[i - 1]!.y);
  if (!first) return "";
  let path = `M${first.x},${first.y}`;
  let from = first;
  rest.forEach((corner, i) => {
    const next = rest[i + 1];
    if (!next) {
      path += ` L${corner.x},${corner.y}`;
      return;
    }
    // Of a short piece each of its corners has half.
    const before = toward(corner, from, radius, i === 0 ? 1 : 0.5);
    const after = toward(corner, next, radius, i + 2 === rest.length ? 1 : 0.5);
    path += ` L${before.x},${before.y} Q${corner.x},${corner.y} ${after.x},${after.y}`;
    from = corner;
  });
  return path;
}

// The point so far from `corner` on the way to `other`, at most this part of the way.
function toward(corner: Spot, other: Spot, distance: number, part: number): Spot {
  const [dx, dy] = [other.x - corner.x, other.y - corner.y];
  const length = Math.hypot(dx, dy);
  const t = length === 0 ? 0 : Math.min(distance / length, part);
  return { x: corner.x + dx * t, y: corner.y + dy * t };
}
