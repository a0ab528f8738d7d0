// Keys that work anywhere on a page, except while something is typed.

export type Keys = Record<string, () => void>;

export const keyHelp: [string, string][] = [
  ["→ ←", "step on, step back through the argument; on the names of the pictures, reached with Tab, choose one"],
  ["Home", "show the whole argument again"],
  ["1 … 9", "choose the picture"],
  ["+ − 0", "zoom the picture: larger, smaller, as it was; dragging moves it, Ctrl and the wheel zoom"],
  ["j k", "next and previous finding"],
  ["Enter", "in the overview: open the chosen finding"],
  ["u or Esc", "back to the overview"],
  ["/", "search"],
  ["t", "light, dark, or as the system has it"],
  ["?", "this help"],
];

// Returns what takes the keys away again.
export function onKey(keys: Keys): () => void {
  const listener = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    // Long lines of code are scrolled with the arrows once they have been reached with Tab.
    if (/^Arrow/.test(event.key) && target.matches(".code, pre") && target.scrollWidth > target.clientWidth) return;
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  };
  window.addEventListener("keydown", listener);
  return () => window.removeEventListener("keydown", listener);
}
