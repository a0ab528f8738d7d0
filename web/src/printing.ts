// Whether the page is being printed: then everything is drawn that is else drawn when it is chosen.
import { useEffect, useState } from "preact/hooks";

export function usePrinting(): boolean {
  const paper = matchMedia("print");
  const [printing, set] = useState(paper.matches);
  useEffect(() => {
    const begin = () => set(true);
    const end = () => set(false);
    const change = () => set(paper.matches);
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", end);
    paper.addEventListener("change", change);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", end);
      paper.removeEventListener("change", change);
    };
  }, []);
  return printing;
}
