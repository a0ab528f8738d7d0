// The frame around every picture: its name for those who do not see it, zooming, scrolling.
import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { onKey } from "./keys";
import { useZoom } from "./zoom";

export interface PictureProps {
  name: string;
  describedBy: string; // id of the same in words
  width: number;
  height: number;
  header?: { height: number; content: ComponentChildren }; // what stays in sight above the rest: the upper part of the picture
  legend?: ComponentChildren;
  children: ComponentChildren;
}

export function Picture({ name, describedBy, width, height, header, legend, children }: PictureProps) {
  const zoom = useZoom(width, height);
  const { frame, drawing, scale } = zoom;
  const title = useId();
  useLayoutEffect(() => {
    // Only the picture that is shown answers.
    const shown = (action: () => void) => () => frame.current?.getClientRects().length && action();
    const move = (x: number, y: number) => shown(() => frame.current!.scrollBy(x * 80, y * 80));
    return onKey({
      "+": shown(() => zoom.by(1.25)),
      "=": shown(() => zoom.by(1.25)),
      "-": shown(() => zoom.by(0.8)),
      "0": shown(zoom.reset),
      "Shift+ArrowLeft": move(-1, 0),
      "Shift+ArrowRight": move(1, 0),
      "Shift+ArrowUp": move(0, -1),
      "Shift+ArrowDown": move(0, 1),
    });
  }, []);
  const top = header?.height ?? 0;
  return (
    <figure class="picture" aria-label={name}>
      <div ref={frame} class="scroller" tabIndex={0} role="group" aria-label="Picture" style={{ scrollPaddingTop: `${top * scale}px` }}>
        <div ref={drawing} class="drawing">
          {header && (
            <svg class="header" aria-hidden="true" width={width * scale} height={top * scale} viewBox={`0 0 ${width} ${top}`}>
              {header.content}
            </svg>
          )}
          <svg role="img" aria-labelledby={title} aria-describedby={describedBy} width={width * scale} height={(height - top) * scale} viewBox={`0 ${top} ${width} ${height - top}`}>
            <title id={title}>{name}</title>
            {children}
          </svg>
        </div>
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

// Scrolls, as little as needed, to what is looked at in the picture that is shown: its edge, its label, and in any case its mark.
export function reveal() {
  const picture = document.querySelector(".panel:not([hidden]) .drawing");
  const current = picture?.querySelector(".operation.current, .node.current");
  if (!picture || !current) return;
  for (const shape of [picture.querySelector(".edge.current"), current, current.querySelector("circle, rect")])
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
