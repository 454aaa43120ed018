// What the reader has chosen: the seconds that the timeline shows, those that a finding points at, and the counters
// that were added. One atom; whoever draws subscribes to it.

import { useEffect, useState } from "preact/hooks";
import { unfold } from "./folds.ts";

export type Window = [begin: number, end: number];

export interface View {
  /** Seconds that all timelines show; `null` for the whole run. */
  window: Window | null;
  /** Seconds that a finding or trial points at; they are marked in all timelines. */
  focus: Window | null;
  /** Columns `name@scope` that were added to the timelines, latest last. */
  added: readonly string[];
}

export class Atom<T> {
  private readonly listeners = new Set<() => void>();
  private current: T;

  constructor(initial: T) {
    this.current = initial;
  }

  get(): T {
    return this.current;
  }

  set(change: Partial<T>): void {
    this.current = { ...this.current, ...change };
    for (const listener of this.listeners) listener();
  }

  /** Calls `listener` after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export const view = new Atom<View>({ window: null, focus: null, added: [] });

/** The current view; the component is drawn again when it changes. */
export function useView(): View {
  const [current, setCurrent] = useState(view.get());
  useEffect(() => view.subscribe(() => setCurrent(view.get())), []);
  return current;
}

/** Room around the seconds that are pointed at, as a share of their length, and at least so many seconds. */
const MARGIN = { share: 0.6, seconds: 2 };

/** The window that shows `focus` with some room around it. */
export function around(focus: Window, extent: Window): Window {
  const room = Math.max((focus[1] - focus[0]) * MARGIN.share, MARGIN.seconds);
  return [Math.max(extent[0], focus[0] - room), Math.min(extent[1], focus[1] + room)];
}

/** Whether `id` is in the page: unfolds it, and brings it into view and, for keyboard users, into focus. */
export function reveal(id: string): boolean {
  const target = document.getElementById(id);
  if (!target) return false;
  unfold(target);
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  target.scrollIntoView({ behavior: isCalm ? "auto" : "smooth", block: "start" });
  target.focus({ preventScroll: true });
  return true;
}
