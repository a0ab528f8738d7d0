// The frame around every picture: its name for those who do not see it, zooming, scrolling.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useZoom, type Zoom } from "./zoom";

export interface PictureProps {
  name: string;
  describedBy: string; // id of the same in words
  width: number;
  height: number;
  legend?: ComponentChildren;
  children: ComponentChildren;
}

export function Picture({ name, describedBy, width, height, legend, children }: PictureProps) {
  const zoom = useZoom(width, height);
  const title = useId();
  useEffect(() => {
    const onKey = (event: Event) => {
      // Only the picture that is shown answers.
      if (!zoom.svg.current?.getClientRects().length) return;
      const key = (event as CustomEvent<string>).detail;
      if (key === "+") zoom.by(1.25);
      if (key === "-") zoom.by(0.8);
      if (key === "0") zoom.reset();
      if (key === "reveal") reveal(zoom);
    };
    window.addEventListener("heddle-zoom", onKey);
    return () => window.removeEventListener("heddle-zoom", onKey);
  }, []);
  return (
    <figure class="picture" aria-label={name}>
      <div class="scroller" tabIndex={0} role="group" aria-label="Picture">
        <svg ref={zoom.svg} role="img" aria-labelledby={title} aria-describedby={describedBy} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <title id={title}>{name}</title>
          <g ref={zoom.inner}>{children}</g>
        </svg>
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" onClick={() => zoom.by(1.25)} aria-label="Larger" title="Larger (+)">
          +
        </button>
        <button type="button" onClick={() => zoom.by(0.8)} aria-label="Smaller" title="Smaller (−)">
          −
        </button>
        <button type="button" onClick={zoom.reset} aria-label="As it was" title="As it was (0)">
          1:1
        </button>
      </div>
      {legend}
    </figure>
  );
}

// Scrolls and pans, as little as needed, to what is looked at: its edge, its label, and in any case its mark.
function reveal({ svg, inner, to }: Zoom) {
  const current = svg.current?.querySelector(".operation.current, .node.current");
  if (!svg.current || !inner.current || !current) return;
  const mark = current.querySelector("circle, rect") ?? current;
  const frame = svg.current.getBoundingClientRect();
  const box = mark.getBoundingClientRect();
  const place = inner.current.getScreenCTM();
  if (place && (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom)) {
    const middle = new DOMPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2).matrixTransform(place.inverse());
    to(middle.x, middle.y);
  }
  for (const shape of [svg.current.querySelector(".edge.current"), current, mark])
    shape?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// The heads of arrows: `url(#ID)` for most, `url(#IDcurrent)` for the one that is looked at.
export function Arrowheads({ id }: { id: string }) {
  return (
    <defs>
      {["", "current"].map((kind) => {
        const size = kind ? 12 : 9;
        return (
          <marker id={`${id}${kind}`} viewBox="0 0 8 8" refX={6} refY={4} markerUnits="userSpaceOnUse" markerWidth={size} markerHeight={size} orient="auto">
            <path class={`arrow ${kind}`} d="M0,0.6 L7.4,4 L0,7.4 Z" />
          </marker>
        );
      })}
    </defs>
  );
}

// How wide a picture may be, kept up to date.
export function useRoom(): { box: RefObject<HTMLDivElement | null>; room: number } {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(720);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const width = element.clientWidth - 2;
      if (width > 100) setRoom(width); // not while hidden
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, room };
}
