// Zooming and panning a picture: with keys and buttons, by dragging, with the wheel and Ctrl, with two fingers. The wheel alone and
// one finger scroll, as everywhere. A picture that is larger than its frame is scrolled in it, so keys and scroll bars work, too.
import { select } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform, type D3ZoomEvent } from "d3-zoom";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

export interface Zoom {
  frame: { current: HTMLDivElement | null }; // what scrolls
  drawing: { current: HTMLDivElement | null }; // what is in it
  scale: number;
  by: (factor: number) => void;
  reset: () => void;
}

export function useZoom(width: number, height: number): Zoom {
  const frame = useRef<HTMLDivElement>(null);
  const drawing = useRef<HTMLDivElement>(null);
  const [at, set] = useState(zoomIdentity);
  // Whoever scrolls does not tell d3-zoom.
  const tell = () => {
    if (!frame.current || !drawing.current) return;
    const [outside, inside] = [frame.current.getBoundingClientRect(), drawing.current.getBoundingClientRect()];
    const { k } = zoomTransform(frame.current);
    Object.assign(frame.current, { __zoom: zoomIdentity.translate(inside.left - outside.left, inside.top - outside.top).scale(k) });
  };
  const behaviour = useMemo(
    () =>
      zoom<HTMLDivElement, unknown>()
        .scaleExtent([0.4, 5])
        .filter((event: MouseEvent & TouchEvent) => {
          tell();
          if (event.type === "wheel") return event.ctrlKey || event.metaKey;
          if (event.type.startsWith("touch")) return event.touches.length > 1;
          return event.button === 0 && event.type !== "dblclick" && event.target !== frame.current; // its scroll bars are its own
        })
        .on("zoom", (event: D3ZoomEvent<HTMLDivElement, unknown>) => set(event.transform)),
    [],
  );
  useEffect(() => {
    if (frame.current) select(frame.current).call(behaviour);
  }, [behaviour]);
  useEffect(() => {
    behaviour.translateExtent([
      [0, 0],
      [width, height],
    ]);
  }, [behaviour, width, height]);
  // Once it has its new size.
  useLayoutEffect(() => {
    if (at !== zoomIdentity) frame.current?.scrollTo(-at.x, -at.y);
  }, [at]);
  return {
    frame,
    drawing,
    scale: at.k,
    by: (factor) => {
      tell();
      if (frame.current) behaviour.scaleBy(select(frame.current), factor);
    },
    reset: () => {
      if (frame.current) behaviour.transform(select(frame.current), zoomIdentity);
    },
  };
}
