// From running totals to rates, for display. The only place of the page where readings are turned into other numbers;
// conclusions are never drawn here, they are in the record.

import type { Values } from "./decode.ts";
import type { Column } from "./types.ts";

/** Counters of this width start again at 0. Source: docs/reference/formats/series.md. */
const NARROW = { prefix: "softnet.", modulus: 2 ** 32 };

/**
 * Growth per second between each reading and the last one that there was; the first has none.
 *
 * A counter that fell was started anew, or wrapped around if it is a narrow one that was near its end. Readings at the
 * same instant have no rate between them.
 */
export function rates(values: Values, seconds: readonly number[], name: string): Values {
  let last: { value: number; at: number } | undefined;
  return values.map((value, row) => {
    const at = seconds[row];
    if (value === null || at === undefined) return null;
    const before = last;
    last = { value, at };
    if (!before || at <= before.at) return null;
    const growth = growthOf(before.value, value, name);
    return growth === null ? null : growth / (at - before.at);
  });
}

function growthOf(before: number, value: number, name: string): number | null {
  if (value >= before) return value - before;
  const { prefix, modulus } = NARROW;
  const hasWrapped = name.startsWith(prefix) && before > modulus * 0.75 && value < modulus * 0.25;
  return hasWrapped ? value + modulus - before : null;
}

/** What a column is drawn in: the unit of the chart and the factor from the column's own unit. */
export interface Drawn {
  unit: string;
  factor: number;
}

/** Times become percent of one CPU (or of the time), amounts become amounts per second; gauges stay. */
export function drawnUnit(column: Pick<Column, "unit" | "kind">): Drawn {
  if (column.kind === "gauge") return { unit: column.unit, factor: 1 };
  const perSecond: Record<string, Drawn> = {
    ns: { unit: "%", factor: 1e-7 },
    us: { unit: "%", factor: 1e-4 },
    ms: { unit: "%", factor: 1e-1 },
    bytes: { unit: "bytes/s", factor: 1 },
    count: { unit: "/s", factor: 1 },
  };
  const known = Object.hasOwn(perSecond, column.unit) ? perSecond[column.unit] : undefined;
  return known ?? { unit: `${column.unit}/s`, factor: 1 };
}

/** Readings that are farther apart than this have a gap between them, unless that is how far apart most are. Unit: seconds. */
export const BRIDGE_SECONDS = 2.5;

/** From so many readings on, their usual distance is known; one that is twice as long is a gap. */
const USUAL = { readings: 8, times: 2 };

/** The longest distance of two readings of a column without a gap between them. Unit: seconds. */
function bridgeOf(values: Values, seconds: readonly number[]): number {
  const read = seconds.filter((_, row) => values[row] !== null && values[row] !== undefined);
  if (read.length < USUAL.readings) return BRIDGE_SECONDS;
  const distances = read.slice(1).map((second, row) => second - (read[row] ?? 0)).sort((one, other) => one - other);
  return Math.max(BRIDGE_SECONDS, USUAL.times * (distances[distances.length >> 1] ?? 0));
}

/**
 * Values of columns that are not read in every row, filled between two readings that are near enough.
 *
 * The rate of a counter holds for all the time since the reading before; a gauge keeps its value until the next one.
 */
export function bridged(values: Values, seconds: readonly number[], kind: Column["kind"]): Values {
  const filled = values.slice();
  const bridge = bridgeOf(values, seconds);
  let last: number | undefined;
  values.forEach((value, row) => {
    if (value === null) return;
    const isNear = last !== undefined && (seconds[row] ?? 0) - (seconds[last] ?? 0) <= bridge;
    if (last !== undefined && isNear) filled.fill(kind === "counter" ? value : (values[last] ?? null), last + 1, row);
    last = row;
  });
  return filled;
}

/** The values of a column as they are drawn: rates of counters between their ends, gauges as they are, both bridged. */
export function drawn(column: Column, values: Values, seconds: readonly number[], ends = seconds): Values {
  const { factor } = drawnUnit(column);
  const raw = column.kind === "counter" ? rates(values, ends, column.name) : values;
  const scaled = factor === 1 ? raw : raw.map((value) => (value === null ? null : value * factor));
  return bridged(scaled, seconds, column.kind);
}

/**
 * The extremes of a column as they are drawn, where its rows stand for several samples; elsewhere its value.
 *
 * They are never within its value: the rate over a whole row can lie outside of those from one sample to the next by what
 * was rounded.
 */
export function drawnBounds(column: Column, drawn: Values, bounds: { low: Values; high: Values }): { low: Values; high: Values } {
  const { factor } = drawnUnit(column);
  const side = (values: Values, outer: (one: number, other: number) => number): Values =>
    drawn.map((value, row) => {
      const bound = values[row] ?? null;
      return value === null || bound === null ? value : outer(value, bound * factor);
    });
  return { low: side(bounds.low, Math.min), high: side(bounds.high, Math.max) };
}

/** Sums of several columns, row by row; `null` where one of them has no value. */
export function sum(columns: Values[]): Values {
  const [first = [], ...others] = columns;
  return first.map((value, row) =>
    others.reduce<number | null>((total, column) => {
      const other = column[row];
      return total === null || other === null || other === undefined ? null : total + other;
    }, value),
  );
}

/** Total growth of a counter over the whole record, to choose the columns that are worth a chart. */
export function growth(values: Values): number {
  let last: number | null = null;
  let total = 0;
  for (const value of values) {
    if (value !== null && last !== null && value > last) total += value - last;
    last = value ?? last;
  }
  return total;
}
