// Latency over time in cells: how many requests took how long in which seconds.

import { decode } from "./decode.ts";
import type { HeatTable, MonoNs } from "./types.ts";

export interface HeatCell {
  begin: number;
  end: number;
  /** The latencies of the cell. Unit: nanoseconds. */
  low: number;
  high: number;
  count: number;
}

export interface Heat {
  cells: HeatCell[];
  /** Most requests of a cell. */
  most: number;
  /** The latencies that there are. Unit: nanoseconds. */
  low: number;
  high: number;
}

export function heatOf(table: HeatTable, seconds: (instant: MonoNs) => number): Heat | null {
  const columns = table.cells.length;
  const [begins, ends] = [decode(table.begin_mono_ns, columns), decode(table.end_mono_ns, columns)];
  const bound = (range: number) => 10 ** (range / table.per_decade);
  const cells = table.cells.flatMap((ranges, column) => {
    const [begin, end] = [seconds(begins[column] ?? 0), seconds(ends[column] ?? 0)];
    return pairs(ranges).map(([range, count]): HeatCell => ({ begin, end, low: bound(range), high: bound(range + 1), count }));
  });
  if (cells.length === 0) return null;
  const extreme = (of: (cell: HeatCell) => number, outer: (one: number, other: number) => number) => cells.map(of).reduce(outer);
  return {
    cells,
    most: extreme(({ count }) => count, (one, other) => Math.max(one, other)),
    low: extreme(({ low }) => low, (one, other) => Math.min(one, other)),
    high: extreme(({ high }) => high, (one, other) => Math.max(one, other)),
  };
}

function pairs(flat: readonly number[]): [number, number][] {
  return Array.from({ length: flat.length >> 1 }, (_, position) => [flat[2 * position] ?? 0, flat[2 * position + 1] ?? 0]);
}
