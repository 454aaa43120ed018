// A squeeze as the page is given it. The writers are crates/report/src/html/squeeze.rs and, below it, crates/record/src/squeeze.

import { count } from "../number.ts";
import type { Effect } from "./effect.ts";
import type { Pair, StopCause, TryPlan, TryTrial, Variant } from "./tryout.ts";
import type { Fact, Manifest } from "./types.ts";

export type ResourceKind = "cpu" | "host-cpu" | "link" | "disk" | "connections" | "generator" | "placebo";

/** Resources of the server that have a rate; the others are connections, or check the method. */
export const isOfServerRate = (kind: ResourceKind) => kind === "cpu" || kind === "link" || kind === "disk";

export type RowWord = "limits" | "matters" | "spare" | "cannot_tell" | "void";
export type SumWord = "complete" | "missing" | "several" | "cannot_tell";

export interface Bite {
  counter: "throttled_periods" | "burnt_cpu" | "fewer_in_flight" | "held_back" | "disk_used";
  moved: number;
  of: number;
}

export interface Elasticity {
  depth_ratio: number;
  point: number | null;
  interval: readonly [number, number] | null;
  effect: Effect | null;
  counted: number;
  dropped: number;
  stop: StopCause | null;
  bites: Bite[];
  void: string | null;
}

export interface SqueezeRow {
  name: string;
  kind: ResourceKind;
  available: number | null;
  used: number | null;
  elasticities: Elasticity[];
  word: RowWord;
  sentence: string;
  gain_at_most_ratio: number | null;
}

export interface SqueezeConclusion {
  headline: string;
  metric: string;
  baseline: number | null;
  rows: SqueezeRow[];
  sum: { point: number; interval: readonly [number, number]; rates_count: number; word: SumWord; sentence: string } | null;
  void: string[];
  diagnostics: { kind: string; is_warning: boolean; sentence: string }[];
  pairs: Pair[];
  elapsed_ns: number;
}

/** How near a tier came to the end of what there is a fixed number of. */
export interface ResourceThreshold {
  kind: "workers" | "descriptors" | "memory" | "tasks" | "queue";
  tier: string;
  address?: string;
  /** At most; of workers on average. */
  used: number;
  available: number;
  is_reached: boolean;
  sentence: string;
}

export const SQUEEZE_SCHEMA = "sysdyno.report-squeeze/1";

export interface SqueezePayload {
  schema: typeof SQUEEZE_SCHEMA;
  folder: string;
  manifest: Manifest;
  is_incomplete: boolean;
  damage: string[];
  plan: { tryout: TryPlan; depths: number[]; only?: ResourceKind[] } | null;
  facts: { facts: Record<string, Fact> } | null;
  found: { variants: Variant[]; left_out: { name: string; reason: string }[]; thresholds?: ResourceThreshold[] } | null;
  conclusion: SqueezeConclusion;
  trials: TryTrial[];
}

/** The word for a resource, with a shape so that color is never alone. */
export const ROW_WORDS: Record<RowWord, { shape: string; text: string }> = {
  limits: { shape: "▼", text: "limits the rate" },
  matters: { shape: "▽", text: "matters in part" },
  spare: { shape: "=", text: "has room" },
  cannot_tell: { shape: "?", text: "can’t tell" },
  void: { shape: "–", text: "says nothing" },
};

/** The elasticity that stands for a row: of those that say something the shallowest, which comes last. */
export function shown(row: SqueezeRow): Elasticity | null {
  return row.elasticities.filter((each) => each.void === null && each.effect !== null).at(-1) ?? null;
}

const BITES: Record<Bite["counter"], (moved: number, of: number) => string> = {
  burnt_cpu: (moved, of) => `${moved.toFixed(1)} of ${of.toFixed(1)} CPU seconds taken`,
  throttled_periods: (moved, of) => `throttled in ${moved} of ${of} periods`,
  fewer_in_flight: (moved, of) => `${((100 * moved) / of).toFixed(0)}% of what was taken away carried no request`,
  disk_used: (moved, of) => `${((100 * moved) / of).toFixed(0)}% of what was left was used`,
  held_back: (moved, of) => `${count(moved)} waits for ${count(of)} packets`,
};

/** The proof that a squeeze bit, in words; empty where there is none. */
export function biteText({ bites }: Elasticity): string {
  return bites.map(({ counter, moved, of }) => BITES[counter](moved, of)).join(", ");
}

/** An elasticity with its interval: `0.97 [0.88, 1.06]`. */
export function elasticityText({ point, interval }: Elasticity): string {
  if (point === null || interval === null) return "–";
  const text = (value: number) => (Math.abs(value) < 0.005 ? "0.00" : value.toFixed(2).replace("-", "−"));
  return `${text(point)} [${text(interval[0])}, ${text(interval[1])}]`;
}
