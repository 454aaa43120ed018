// A comparison of runs as the page is given it. The writer is crates/record/src/comparison.rs.

import type { Better, ComparisonVerdict, Effect, EffectBound } from "./effect.ts";
import type { Profile } from "./profile.ts";
import type { Fact, VerdictStatus } from "./types.ts";

export interface ComparedRun {
  id: string;
  /** Wall clock, a decimal string. */
  started_unix_ns: string;
  url: string;
  status: VerdictStatus;
  headline: string;
}

export interface ComparedSide {
  letter: string;
  name: string;
  is_refused: boolean;
  runs: ComparedRun[];
}

export type Severity = "refused" | "bounded" | "allowed" | "warned";

export interface GateOutcome {
  id: string;
  name: string;
  severity: Severity;
  side: number;
  text: string;
  remedy: string;
}

export interface SideVerdict {
  side: number;
  metric: string | null;
  verdict: ComparisonVerdict;
  worse: string[];
  better: string[];
  sentence: string;
}

export interface SideValues {
  median: number | null;
  /** Whether the true median may be greater. */
  is_lower_bound: boolean;
  runs: { value: number; interval: readonly [number, number] | null; is_lower_bound: boolean }[];
  missing: string | null;
}

export type EffectMethod = "assumed_deviation" | "welch" | "rank_shift" | "blocks" | "block_ranks";

export interface MetricEffect {
  side: number;
  effect: Effect | null;
  /** Instead of an effect: what it is at least or at most. */
  bound: EffectBound | null;
  method: EffectMethod | null;
  p: number | null;
  verdict: ComparisonVerdict;
}

export type MetricUnit = "hz" | "ns" | "per_joule";

export interface MetricComparison {
  metric: string;
  title: string;
  unit: MetricUnit;
  better: Better;
  margin_ratio: number;
  sides: SideValues[];
  effects: MetricEffect[];
  /** What runs scatter like, where some lie far off or form two groups. */
  scatter: string | null;
  letters: string[];
}

export interface LevelChange {
  index: number;
  effect: Effect | null;
  permutation_p: number;
  welch_p: number | null;
  verdict: ComparisonVerdict;
}

export interface MetricTrend {
  metric: string;
  title: string;
  unit: MetricUnit;
  better: Better;
  margin_ratio: number;
  values: (number | null)[];
  changes: LevelChange[];
  sentence: string;
}

export interface FactDifference {
  name: string;
  a: Fact | null;
  b: Fact | null;
  known: { rule: string; what: string; why: string } | null;
}

export interface VariantPoint {
  connections: number;
  offered_hz: number | null;
  goodput_hz: number;
  p99_ns: number | null;
  met: boolean | null;
}

/** Medians over the runs of a variant. */
export interface VariantCpu {
  number: number;
  busy_ratio: number;
  softirq_ratio: number;
}

/** One operation of simulated users, over all runs of a variant. */
export interface ScoreboardOperation {
  name: string;
  completed_count: number;
  failed_count: number;
  mix_ratio: number | null;
  mix_target_ratio: number;
  mean_ns: number | null;
  /** The percentile that is limited, or the 90th; with too few samples there is only the longest. */
  percentile_ns: number | null;
  max_ns: number | null;
  limit: { percentile_ratio: number; limit: number } | null;
  /** Whether every rule about it was met in every run. */
  passed: boolean;
}

/** What came of the simulated users of a variant. The writer is crates/record/src/scoreboard.rs. */
export interface Scoreboard {
  profile: string;
  users: number;
  planned_hz: number | null;
  rate_hz: number;
  runs_count: number;
  passed_count: number;
  broken: string[];
  operations: ScoreboardOperation[];
}

export interface ExperimentShown {
  name: string;
  planned_count: number;
  repeated_count: number;
  measured_count: number;
  variants: {
    side: number;
    levels: [string, string][];
    settings: string[];
    prepare: string[];
    failed_ratio: number | null;
    cpus: VariantCpu[];
    found: { title: string; id: string | null; runs_count: number }[];
    curve: VariantPoint[];
    scoreboard?: Scoreboard;
  }[];
}

/** A machine; what is null is not known. */
export interface HostShown {
  side: number;
  cpu: string | null;
  architecture: string | null;
  kernel: string | null;
  emulator: string | null;
  cpus_count: number | null;
  cores_count: number | null;
  frequency_ghz: number | null;
  power: "rapl" | "meter" | null;
}

export interface HostsShown {
  experiment: string;
  hosts: HostShown[];
}

export interface Comparison {
  schema: "sysdyno.comparison/1";
  headline: string;
  is_refused: boolean;
  sides: ComparedSide[];
  gates: GateOutcome[];
  verdicts: SideVerdict[];
  operations: { operation: string; metrics: MetricComparison[] }[];
  machines: { side: number; differences: FactDifference[]; count: number }[];
  /** The experiment whose variants the sides are. */
  matrix?: ExperimentShown;
  /** The machines that the sides are, where one experiment ran on each. */
  hosts?: HostsShown;
  trend?: { runs: ComparedRun[]; metrics: MetricTrend[] };
  limits: string[];
  /** Of the first and the second run. */
  profiles?: [Profile, Profile];
}

/** The metrics as they stand in a table: percentiles in rising order, in the places that percentiles have. */
export function rising<T extends { metric: string }>(metrics: readonly T[]): T[] {
  const percentile = ({ metric }: T) => (/^p[\d.]+$/.test(metric) ? Number(metric.slice(1)) : null);
  const percentiles = metrics.filter((metric) => percentile(metric) !== null).sort((one, other) => (percentile(one) ?? 0) - (percentile(other) ?? 0));
  return metrics.map((metric) => (percentile(metric) === null ? metric : (percentiles.shift() ?? metric)));
}
