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

const broken = /[^\s:./,<>()-]+|[\s:./,<>()-]+/g; // names, and what stands between them

// The text, or as much of it as has room: its first word, and of what follows the last names, whole. Only a single name that is
// too long loses its middle.
export function fitted(text: string, size: number, room: number, weight = 400): string {
  const fits = (shown: string) => textWidth(shown, size, weight) <= room;
  if (fits(text)) return text;
  const verb = /^\S{1,24} /.exec(text)?.[0] ?? "";
  // What can have room at all: no character is narrower than this.
  const end = text.slice(Math.max(verb.length, text.length - Math.ceil(room / (size * 0.3))));
  const parts = end.match(broken) ?? [];
  for (const front of verb ? [verb, ""] : [""]) {
    let tail = end;
    for (const part of parts) {
      tail = tail.slice(part.length);
      if (/^[\s<(]/.test(tail) || !/\w/.test(tail)) continue;
      if (fits(`${front}…${tail}`)) return `${front}…${tail}`;
    }
  }
  const characters = [...text];
  const kept = Math.min(characters.length, Math.max(2, Math.floor(room / (size * 0.62)) - 1));
  const front = Math.ceil(kept * 0.45);
  return `${characters.slice(0, front).join("")}…${characters.slice(characters.length - (kept - front)).join("")}`;
}

// The text in one line or two, broken between names where that is possible; then as much of it as has room.
export function lines(text: string, size: number, room: number, weight = 400): string[] {
  if (textWidth(text, size, weight) <= room) return [text];
  const fits = (length: number) => textWidth(text.slice(0, length).trimEnd(), size, weight) <= room;
  let end = 0;
  for (const { 0: match, index } of text.slice(0, 500).matchAll(/\s+|::|->|[./,_]|(?=[<(])/g)) {
    const after = index + match.length;
    if (!fits(after)) break;
    if (after > 0) end = after;
  }
  // A lone first word above a long name is no loss; a piece of one or two characters is.
  if (end < 3) return [fitted(text, size, room, weight)];
  return [text.slice(0, end).trimEnd(), fitted(text.slice(end), size, room, weight)];
}
