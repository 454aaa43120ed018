// The width that a chart may take, followed while it changes.
//
// Charts of folded parts are drawn for the width that they will have: paper opens them without a moment to draw.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A reference for the element to measure, and its width in CSS pixels; 0 before it was measured. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(widthOf(element.current)), []);
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry && entry.contentRect.width > 0) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** The width of an element, or of the nearest one around it that has one. */
function widthOf(element: HTMLElement | null): number {
  for (let each = element; each; each = each.parentElement) if (each.clientWidth > 0) return Math.floor(each.clientWidth);
  return 0;
}
