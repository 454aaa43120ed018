// The effect of B against A and the word for it. The writer is crates/record/src/effect.rs.

import { MISSING, significant, stepped, trimmed } from "../number.ts";

export type Word = "better" | "worse" | "same" | "cannot_tell";
export type Better = "higher" | "lower";

/** In the metric's own direction: B ÷ A, or B − A. */
export interface Effect {
  scale: "ratio" | "difference";
  point: number;
  low: number;
  high: number;
  confidence_ratio: number;
  /** Both ends of the 90% interval, which decides whether it is the same. */
  narrow: readonly [number, number] | null;
  pairs_count: number;
}

/** B ÷ A is at least, or at most, this. */
export interface EffectBound {
  side: "at_least" | "at_most";
  ratio: number;
  confidence_ratio: number;
  pairs_count: number;
}

export interface ComparisonVerdict {
  word: Word;
  qualifier: "by_at_least_mei" | "size_uncertain" | "real_but_negligible" | null;
  is_outlier_sensitive: boolean;
  capped_by: string[];
}

export const WORDS: Record<Word, { shape: string; text: string }> = {
  better: { shape: "▲", text: "better" },
  worse: { shape: "▼", text: "worse" },
  same: { shape: "=", text: "the same" },
  cannot_tell: { shape: "?", text: "can’t tell" },
};

/** A change with its sign, of so many digits: `+2.4`, `−0.31`, `0`. */
function signed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return MISSING;
  const size = significant(Math.abs(value), digits);
  if (size === "0") return size;
  return value < 0 ? `−${size}` : `+${size}`;
}

/** What one number of an effect says: a change in per cent, of shares in percentage points. */
export function change(value: number, scale: Effect["scale"], digits = 2): string {
  return scale === "ratio" ? `${signed((value - 1) * 100, digits)}%` : `${signed(value * 100, digits)} pp`;
}

/** A ratio of this much or its inverse is a factor: of changes in per cent nobody sees that one is ten times another. */
const FACTOR_MIN = 10;

/**
 * An effect with its interval: `−2.4% [−3.0, −1.8]`, `× 193 [169, 220]`, `÷ 12 [10, 14]`; differences are of shares, in
 * percentage points. The last digit is worth about a tenth of the interval's half width, and no less than a thousandth.
 */
export function effectText({ scale, point, low, high }: Pick<Effect, "scale" | "point" | "low" | "high">): string {
  if (scale === "ratio" && point >= FACTOR_MIN) return factorText("×", [point, low, high]);
  if (scale === "ratio" && point > 0 && point <= 1 / FACTOR_MIN) return factorText("÷", [1 / point, 1 / high, 1 / low]);
  const sized = (value: number) => (scale === "ratio" ? (value - 1) * 100 : value * 100);
  const coarsest = scale === "ratio" ? coarsestOfChange(sized(low)) : Infinity;
  const [size, one, other] = inSteps([sized(point), sized(low), sized(high)], coarsest, signedStep);
  return `${size}${scale === "ratio" ? "%" : " pp"} [${one}, ${other}]`;
}

/** What an effect is at least or at most, rounded to the side on which it stays true: `at least × 60`, `at most −21%`. */
export function boundText({ side, ratio }: Pick<EffectBound, "side" | "ratio">): string {
  const isLeast = (side === "at_least") === ratio >= 1;
  const size = ratio >= 1 ? ratio : 1 / Math.max(ratio, Number.MIN_VALUE);
  const quantity = isLeast ? "at least" : "at most";
  if (size >= FACTOR_MIN) return `${quantity} ${ratio >= 1 ? "×" : "÷"} ${significant(twoDigits(size, !isLeast), 2)}`;
  const changed = twoDigits(Math.abs(ratio - 1) * 100, !isLeast);
  return `${quantity} ${ratio >= 1 ? "+" : "−"}${significant(changed, 2)}%`;
}

/** A positive number with two digits, up or down; what is a whole number of steps but for rounding stays one. */
function twoDigits(value: number, isUp: boolean): number {
  if (!(value > 0) || !Number.isFinite(value)) return value;
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  const steps = value / step;
  return (isUp ? Math.ceil(steps - 1e-9) : Math.floor(steps + 1e-9)) * step;
}

/** The largest step in which a change that leaves something is not rounded to one that leaves nothing, in per cent. */
function coarsestOfChange(low: number): number {
  const left = 100 + low;
  return left > 0 ? 10 ** Math.floor(Math.log10(left)) : Infinity;
}

/** Ends that lie this far apart share no digits: each has two of its own. */
const FAR_APART = 10;

/** A factor with its interval; an end below 1 says the opposite, with the sign for that: `÷ 12 [× 4.3, ÷ 18,000]`. */
function factorText(sign: "×" | "÷", values: [number, number, number]): string {
  const [point, low, high] = values;
  if (low >= 1 && high <= FAR_APART * low) {
    const [factor, one, other] = inSteps(values, Infinity, stepped);
    return `${sign} ${factor} [${one}, ${other}]`;
  }
  const opposite = sign === "×" ? "÷" : "×";
  const end = (value: number) => {
    const size = value < 1 ? 1 / value : value;
    return Number.isFinite(size) ? `${value < 1 ? opposite : sign} ${significant(size, 2)}` : MISSING;
  };
  return `${sign} ${significant(point, 2)} [${end(low)}, ${end(high)}]`;
}

/** A value and the ends of its interval, with as many digits as the interval supports. */
function inSteps(values: [number, number, number], coarsest: number, text: (value: number, step: number) => string): string[] {
  const [point, low, high] = values;
  const half = Math.abs(high - low) / 2;
  const width = half > 0 && Number.isFinite(half) ? half : Math.abs(point) / 10;
  const fitting = 10 ** Math.round(Math.log10(width / 10));
  // A value that is smaller than a step would become one, or nothing: −5.8 is not −10, however wide its interval is.
  const known = fitting > 1 && Math.abs(point) < fitting ? fitting / 10 : fitting;
  const step = width > 0 ? Math.max(Math.min(known, coarsest), 1e-3) : 0.1;
  return values.map((value) => (Number.isFinite(value) ? text(value, step) : MISSING));
}

/** A number with its sign, rounded to a multiple of `step`: `+2.4`, `−0.31`, `0.0`. */
function signedStep(value: number, step: number): string {
  const size = stepped(Math.abs(value), step);
  if (!/[1-9]/.test(size)) return size;
  return value < 0 ? `−${size}` : `+${size}`;
}

/** The smallest effect that matters: `3%`, `0.05 pp`. */
export function marginText(ratio: number, scale: Effect["scale"]): string {
  return `${trimmed(significant(ratio * 100, 3))}${scale === "ratio" ? "%" : " pp"}`;
}

/** How far a value lies on the better side, as logarithm of a ratio or as a difference; 0 is no effect. */
export function improvement(value: number, scale: Effect["scale"], better: Better): number {
  const size = scale === "ratio" ? Math.log(Math.max(value, Number.MIN_VALUE)) : value;
  return better === "higher" ? size : -size;
}
