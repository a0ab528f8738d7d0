// Zooming and panning a picture: with buttons, by dragging, with the wheel and Ctrl, with two fingers. The wheel alone and
// one finger scroll the page, as everywhere.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent } from "d3-zoom";
import { useEffect, useMemo, useRef } from "preact/hooks";

export interface Zoom {
  svg: { current: SVGSVGElement | null };
  inner: { current: SVGGElement | null };
  by: (factor: number) => void;
  to: (x: number, y: number) => void; // brings this point of the picture into its middle, as far as there is more to see
  reset: () => void;
}

export function useZoom(width: number, height: number): Zoom {
  const svg = useRef<SVGSVGElement>(null);
  const inner = useRef<SVGGElement>(null);
  const behaviour = useMemo(
    () =>
      zoom<SVGSVGElement, unknown>()
        .scaleExtent([0.4, 5])
        .filter((event: MouseEvent & TouchEvent) => {
          if (event.type === "wheel") return event.ctrlKey || event.metaKey;
          if (event.type.startsWith("touch")) return event.touches.length > 1;
          return event.button === 0 && event.type !== "dblclick";
        })
        .on("zoom", (event: D3ZoomEvent<SVGSVGElement, unknown>) =>
          inner.current?.setAttribute("transform", event.transform.toString()),
        ),
    [],
  );
  useEffect(() => {
    if (svg.current) select(svg.current).call(behaviour);
  }, [behaviour]);
  // Nothing is to be seen beyond the picture.
  useEffect(() => {
    behaviour.translateExtent([
      [0, 0],
      [width, height],
    ]);
  }, [behaviour, width, height]);
  const run = (change: (selection: ReturnType<typeof select<SVGSVGElement, unknown>>) => void) => {
    if (svg.current) change(select<SVGSVGElement, unknown>(svg.current));
  };
  return {
    svg,
    inner,
    by: (factor) => run((selection) => behaviour.scaleBy(selection, factor)),
    to: (x, y) => run((selection) => behaviour.translateTo(selection, x, y)),
    reset: () => run((selection) => behaviour.transform(selection, zoomIdentity)),
  };
}
