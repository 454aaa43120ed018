// Domains and marks of the charts of a tryout.

import { chosenDuration, inUnit, onAxis, percent, trimmed } from "../number.ts";
import { type Effect, change } from "../record/effect.ts";
import type { DrawnPair, Unit } from "../record/tryout.ts";
import { binaryTicks, linearTicks } from "./scale.ts";

/** A domain that holds all values with some room; it does not begin at zero, since dots are compared, not lengths. */
export function valueDomain(values: readonly number[]): [number, number] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  const low = finite.reduce((least, value) => Math.min(least, value));
  const high = finite.reduce((greatest, value) => Math.max(greatest, value));
  const room = (high - low) * 0.1 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

export interface Block {
  /** Number in its comparison, from 0. */
  number: number;
  begin: number;
  end: number;
}

/** Pairs of a block of four trials. */
const BLOCK_PAIRS = 2;

/** The seconds of each block, in the order of time. */
export function blocksOf(pairs: readonly DrawnPair[]): Block[] {
  const blocks = new Map<string, Block>();
  for (const { pair, begin, end } of pairs) {
    const number = Math.floor((pair.pair - 1) / BLOCK_PAIRS);
    const key = `${pair.stage} ${number}`;
    const known = blocks.get(key);
    if (known) known.end = end;
    else blocks.set(key, { number, begin, end });
  }
  return [...blocks.values()];
}

/** Marks of a time axis: whole minutes, or seconds where it is short. */
export function minuteTicks([begin, end]: readonly [number, number], about: number): [number, string][] {
  const unit = end - begin > 180 ? 60 : 1;
  return linearTicks([begin / unit, end / unit], about).map((tick) => [tick * unit, trimmed(tick.toFixed(1))]);
}

/** Marks of the axis of a metric. */
export function pairTicks(domain: readonly [number, number], unit: Unit): [number, string][] {
  if (unit === "bytes") return binaryTicks(domain, 5).map((tick) => [tick, onAxis(tick, "bytes")]);
  return linearTicks(domain, 5).map((tick) => [tick, tickText(tick, unit)]);
}

function tickText(tick: number, unit: Unit): string {
  switch (unit) {
    case "ns":
      return chosenDuration(tick);
    case "s":
      return chosenDuration(tick * 1e9);
    case "hz":
      return `${onAxis(tick, "/s")}/s`;
    case "bytes":
      return inUnit(tick, "bytes");
    case "ratio":
      return percent(tick);
  }
}

/**
 * The domain of effects: it holds the band, each pair and the last interval. Early intervals may be far wider, and are cut
 * off where they are.
 */
export function closingDomain(dots: readonly number[], looks: readonly Effect[], band: readonly [number, number]): [number, number] {
  const last = looks.at(-1);
  return valueDomain([...dots, ...band, ...(last ? [last.low, last.high] : [])]);
}

/** Marks of the axis of effects: changes in per cent, of shares in percentage points. */
export function effectTicks(domain: readonly [number, number], scale: Effect["scale"]): [number, string][] {
  const none = scale === "ratio" ? 1 : 0;
  const percents = domain.map((end) => (end - none) * 100) as [number, number];
  return linearTicks(percents, 6).map((tick) => {
    const value = none + tick / 100;
    return [value, tidied(change(value, scale, 3))];
  });
}

/** Without zeros behind the decimal point. */
function tidied(text: string): string {
  return text.replace(/(\.\d*?)0+(?=[ %])/, "$1").replace(/\.(?=[ %])/, "");
}
