// How wide a text will be, so that a picture can be laid out before it is drawn.

export const mono = 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

const context = document.createElement("canvas").getContext("2d");

export function textWidth(text: string, size: number, weight = 400): number {
  if (!context) return text.length * size * 0.62;
  context.font = `${weight} ${size}px ${mono}`;
  return context.measureText(text).width;
}

// The text, or as much of its begin as has room.
export function cut(text: string, size: number, room: number): string {
  if (textWidth(text, size) <= room) return text;
  return `${[...text].slice(0, Math.max(1, Math.floor(room / (size * 0.62)) - 1)).join("").trimEnd()}…`;
}

// The text, or as much of its two ends as has room: of a long name the end tells more than the middle.
export function fitted(text: string, size: number, room: number, weight = 400): string {
  if (textWidth(text, size, weight) <= room) return text;
  const characters = [...text];
  let kept = Math.max(2, Math.floor(room / (size * 0.62)) - 1);
  kept = Math.min(kept, characters.length);
  const front = Math.ceil(kept * 0.45);
  return `${characters.slice(0, front).join("")}…${characters.slice(characters.length - (kept - front)).join("")}`;
}
