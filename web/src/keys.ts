// Keys that work anywhere on a page, except while something is typed.

export type Keys = Record<string, () => void>;

export const keyHelp: [string, string][] = [
  ["→ ←", "step on, step back through the argument; on the names of the pictures, reached with Tab, choose one"],
  ["Home", "show the whole argument again"],
  ["1 … 9", "choose the picture"],
  ["+ − 0", "zoom the picture: larger, smaller, as it was; Ctrl and the wheel zoom, too"],
  ["Shift ← ↑ → ↓", "move a picture that is larger than its frame; dragging does, too"],
  ["j k", "next and previous finding"],
  ["Enter", "in the overview: open the chosen finding"],
  ["u or Esc", "back to the overview"],
  ["/", "search"],
  ["t", "light, dark, or as the system has it"],
  ["?", "this help"],
];

// Returns what takes the keys away again. To be called before a page is painted: keys mean what is seen.
export function onKey(keys: Keys): () => void {
  const listener = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    // Long lines of code are scrolled with the arrows once they have been reached with Tab.
    if (/^Arrow/.test(event.key) && target.matches(".code, pre") && target.scrollWidth > target.clientWidth) return;
    const name = event.shiftKey && /^Arrow/.test(event.key) ? `Shift+${event.key}` : event.key;
    const action = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  };
  window.addEventListener("keydown", listener);
  return () => window.removeEventListener("keydown", listener);
}
