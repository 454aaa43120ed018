// Where effects stand on a common axis. The axis counts smallest effects that matter, so that metrics of any kind and
// direction share one band: −1 to +1 does not matter, and to the right is better.

import { type Better, change, type Effect, type EffectBound, improvement } from "../record/effect.ts";
import { count, trimmed } from "../number.ts";
import { linearTicks } from "./scale.ts";

export interface Placed {
  /** `null`: only one end is known, and the other one lies infinitely far off. */
  point: number | null;
  low: number;
  high: number;
  narrow: readonly [number, number] | null;
}

export interface Margin {
  scale: Effect["scale"];
  better: Better;
  /** The smallest effect that matters: a ratio of A, or a difference. */
  margin: number;
}

const marginOf = ({ scale, margin }: Margin) => (scale === "ratio" ? Math.log1p(margin) : margin);

/** An effect in units of its margin, positive where B is better. */
export function place(effect: Effect, of: Margin): Placed & { point: number } {
  const unit = marginOf(of) || 1;
  const at = (value: number) => improvement(value, effect.scale, of.better) / unit;
  const ends = (one: number, other: number): [number, number] => (at(one) <= at(other) ? [at(one), at(other)] : [at(other), at(one)]);
  const [low, high] = ends(effect.low, effect.high);
  return { point: at(effect.point), low, high, narrow: effect.narrow && ends(...effect.narrow) };
}

/** What an effect is at least or at most, as an effect without a point. */
export function placeBound({ side, ratio }: EffectBound, of: Margin): Placed {
  const at = improvement(ratio, "ratio", of.better) / (marginOf(of) || 1);
  const isToTheRight = (side === "at_least") === (of.better === "higher");
  return { point: null, low: isToTheRight ? at : -Infinity, high: isToTheRight ? Infinity : at, narrow: null };
}

/** The place of a point or, where there is none, of the end that is known. */
const middle = ({ point, low, high }: Placed) => point ?? (Number.isFinite(low) ? low : high);

/** Farther out than this an interval is cut off, and an arrow says so. */
const REACH_MAX = 25;

/** Whether all rows are ratios with one margin and direction: then a place on the axis is the same change in each. */
function isUniform(rows: readonly Margin[]): boolean {
  return rows.every(({ scale, margin, better }) => scale === "ratio" && margin === rows[0]?.margin && better === rows[0].better);
}

/** The axis of these rows, symmetric, wider than the band; no row of many kinds makes it so long that the others are lost. */
export function forestDomain(all: readonly Placed[], rows: readonly Margin[]): [number, number] {
  const farthest = (values: number[]) => Math.max(...values.map(Math.abs).filter(Number.isFinite), 0);
  const bound = isUniform(rows) ? Math.max(REACH_MAX, 1.5 * farthest(all.map(middle))) : REACH_MAX;
  const reach = Math.min(Math.max(1.7, 1.06 * farthest(all.flatMap(({ low, high }) => [low, high]))), bound);
  return [-reach, reach];
}

/** From this factor on to either side, marks are factors: equal ones are equally far apart, changes in per cent are not. */
const FACTORS_FROM = 2;

/** Steps between factors, of which the smallest is taken that leaves at most three to a side. */
const FACTOR_STEPS = [2, 3, 5, 10];

/**
 * Marks of the axis: changes or factors where all rows are ratios with one margin and direction. Where a place on the axis is
 * another change in each row there is no unit to mark it with: no effect alone is the same place in all of them.
 */
export function forestTicks(domain: readonly [number, number], rows: readonly Margin[]): [at: number, label: string][] {
  const [first] = rows;
  if (!first) return [];
  if (!isUniform(rows)) {
    return [[0, "no effect"]];
  }
  const reach = domain[1] * marginOf(first);
  const placeOf = (ratio: number) => improvement(ratio, "ratio", first.better) / marginOf(first);
  if (reach >= Math.log(FACTORS_FROM)) {
    const step = FACTOR_STEPS.find((factor) => reach / Math.log(factor) < 4) ?? 100;
    const marks = Math.floor(reach / Math.log(step));
    return Array.from({ length: 2 * marks + 1 }, (_, position) => {
      const factor = step ** Math.abs(position - marks);
      return position < marks ? [placeOf(1 / factor), `÷ ${count(factor)}`] : [placeOf(factor), `× ${count(factor)}`];
    });
  }
  const ratioAt = (tick: number) => Math.exp((first.better === "higher" ? 1 : -1) * tick * marginOf(first));
  const percents = domain.map((end) => (ratioAt(end) - 1) * 100).sort((one, other) => one - other) as [number, number];
  return linearTicks(percents, 4).map((percent) => {
    const ratio = 1 + percent / 100;
    return [placeOf(ratio), trimmed(change(ratio, "ratio", 3))];
  });
}
