// A tryout as the page is given it, and the views of it that charts share. The writers are
// crates/report/src/html/tryout.rs and, below it, crates/record/src/tryout.

import type { Better, ComparisonVerdict, Effect } from "./effect.ts";
import type { Fact, LoadPlan, Manifest, MonoNs, RunPlan } from "./types.ts";

export type Arm = "a" | "b";
export type StageKind = "proof" | "alone" | "combined" | "ablation";
export type GuardrailState = "held" | "broken" | "open" | "unknown";
export type StopCause = "narrow" | "decided" | "pairs" | "budget" | "environment" | "no_value" | "interrupted";
export type Unit = "ns" | "hz" | "s" | "ratio" | "bytes";

export type Action =
  | "as_it_is"
  | { settings: { key: string; value: string }[] }
  | { target: { url: string } }
  | { command: { text: string } }
  | { prepare: { text: string } };

export interface Variant {
  name: string;
  action: Action;
}

export interface TryPlan {
  workload: { load: LoadPlan } | { capacity: RunPlan } | "commands";
  variants: Variant[];
  metric: string;
  effect_ratio: number;
  guardrails: { metric: string; margin: number }[];
  seed: number;
  pairs: { min_count: number; max_count: number };
  budget: number;
  window: number;
  warmup: number | null;
  rate: { share_of_pilot: number } | { fixed: number } | "closed" | "not_applicable";
  limits?: { steal_ratio: number; steal_difference_ratio: number; foreign_ratio: number; foreign_difference_ratio: number };
  is_calibration: boolean;
  keeps_better: boolean;
  sampling_hz: number;
}

export interface Settled {
  plan_sha256: string;
  rate_hz: number | null;
  pilot_hz: number | null;
  warmup: number;
  window: number;
  trial: number;
}

export interface TryTrial {
  trial: number;
  stage: number;
  pair: number;
  arm: Arm;
  variant: number;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
  values: Record<string, number>;
  environment: {
    steal_ratio: number | null;
    foreign_ratio: number | null;
    generator_lag_ns: number | null;
    invalid: string[];
    warnings: string[];
  };
  read_back: { key: string; value: string }[];
  failure: string | null;
}

export interface Pair {
  stage: number;
  pair: number;
  a_trial: number;
  b_trial: number;
  first: Arm;
  end_mono_ns: MonoNs;
  a: number | null;
  b: number | null;
  /** On the metric's scale, positive where B is better. */
  improvement: number | null;
  dropped: string | null;
}

export interface StageConclusion {
  stage: { stage: number; kind: StageKind; a: number; b: number };
  title: string;
  verdict: ComparisonVerdict;
  effect: Effect | null;
  counted: number;
  dropped: number;
  stop: StopCause | null;
  looks: Effect[];
}

export interface GuardrailOutcome {
  metric: string;
  margin: number;
  effect: Effect | null;
  state: GuardrailState;
  sentence: string;
}

export interface ChangeShown {
  key: string;
  before: string;
  after: string;
  undo: string[];
  persist: string | null;
  notes: string[];
}

export interface Diagnostic {
  kind: "order" | "drift" | "stalls" | "dropped" | "calibration" | "outliers" | "bounds";
  is_warning: boolean;
  sentence: string;
}

export interface Conclusion {
  headline: string;
  verdict: ComparisonVerdict;
  metric: string;
  better: Better;
  effect_ratio: number;
  effect: Effect | null;
  a_median: number | null;
  b_median: number | null;
  guardrails: GuardrailOutcome[];
  is_proven: boolean;
  stages: StageConclusion[];
  pairs: Pair[];
  changes: ChangeShown[];
  is_kept: boolean;
  diagnostics: Diagnostic[];
  resolution: { pair_deviation: number; detectable_ratio: number; pairs_needed: number | null; needed_ns: number | null } | null;
  calibration: {
    run: string;
    age_s: number;
    detectable_ratio: number;
    elapsed_ns: number;
    verdict: ComparisonVerdict;
    is_of_earlier_boot: boolean;
  } | null;
  elapsed_ns: number;
}

export interface MetricRow {
  metric: string;
  title: string;
  unit: Unit;
  better: Better;
  scale: Effect["scale"];
}

export interface TrialLatency {
  trial: number;
  stage: number;
  arm: Arm;
  kind: string;
  p50_ns: number | null;
  p90_ns: number | null;
  p99_ns: number | null;
  p99_9_ns: number | null;
}

export const TRY_SCHEMA = "sysdyno.report-experiment/1";

export interface TryPayload {
  schema: typeof TRY_SCHEMA;
  folder: string;
  manifest: Manifest;
  is_incomplete: boolean;
  damage: string[];
  plan: TryPlan | null;
  facts: { facts: Record<string, Fact> } | null;
  conclusion: Conclusion;
  settled: Settled | null;
  trials: TryTrial[];
  latencies: TrialLatency[];
  metrics: MetricRow[];
}

/** A trial as a dot: when it ran, and its value. */
export interface Dot {
  arm: Arm;
  trial: number;
  /** Middle of the trial, in seconds since the tryout began. */
  second: number;
  value: number;
}

/** A pair with its dots, in the order of time. */
export interface DrawnPair {
  pair: Pair;
  kind: StageKind;
  dots: Dot[];
  begin: number;
  end: number;
}

/** A tryout with its time axis. */
export class Tryout {
  readonly payload: TryPayload;
  /** The comparison that the verdict is of. */
  readonly proof: StageConclusion | undefined;
  readonly metric: MetricRow;
  readonly pairs: DrawnPair[];
  private readonly metrics: Map<string, MetricRow>;

  constructor(payload: TryPayload) {
    this.payload = payload;
    const { conclusion } = payload;
    this.proof = conclusion.stages.find(({ stage }) => stage.kind === "proof");
    this.metrics = new Map(payload.metrics.map((row) => [row.metric, row]));
    this.metric = this.metricOf(conclusion.metric);
    const trials = new Map(payload.trials.map((trial) => [trial.trial, trial]));
    this.pairs = conclusion.pairs.map((pair) => this.drawn(pair, trials));
  }

  /** Name, unit and direction of a metric; of one that is not known its name alone. */
  metricOf(name: string): MetricRow {
    return this.metrics.get(name) ?? { metric: name, title: name, unit: "ratio", better: "lower", scale: "ratio" };
  }

  /** Seconds since the tryout began. */
  seconds(instant: MonoNs): number {
    return (instant - this.payload.manifest.clock.mono_ns) / 1e9;
  }

  /** The two things that were compared, A first. */
  variants(): [Variant | undefined, Variant | undefined] {
    const all = this.payload.plan?.variants ?? [];
    const stage = this.proof?.stage;
    return [all[stage?.a ?? 0], all[stage?.b ?? 1]];
  }

  /** Pairs of the proof that count, in the order of time. */
  counted(): DrawnPair[] {
    const stage = this.proof?.stage.stage;
    return this.pairs.filter(({ pair }) => pair.stage === stage && pair.dropped === null && pair.improvement !== null);
  }

  private drawn(pair: Pair, trials: Map<number, TryTrial>): DrawnPair {
    const end = this.seconds(pair.end_mono_ns);
    const of = (arm: Arm, number: number, value: number | null): Dot[] => {
      const trial = trials.get(number);
      if (value === null || !trial) return [];
      return [{ arm, trial: number, second: (this.seconds(trial.begin_mono_ns) + this.seconds(trial.end_mono_ns)) / 2, value }];
    };
    const dots = [...of("a", pair.a_trial, pair.a), ...of("b", pair.b_trial, pair.b)];
    const begins = [pair.a_trial, pair.b_trial].flatMap((number) => trials.get(number)?.begin_mono_ns ?? []);
    const begin = begins.length > 0 ? this.seconds(Math.min(...begins)) : end;
    const kind = this.payload.conclusion.stages.find(({ stage }) => stage.stage === pair.stage)?.stage.kind ?? "proof";
    return { pair, kind, dots: dots.sort((one, other) => one.second - other.second), begin, end };
  }
}

/** What a variant does, in the user's own words. */
export function actionText(action: Action | undefined): string {
  if (action === undefined) return "not recorded";
  if (action === "as_it_is") return "unchanged";
  if ("settings" in action) return action.settings.map(({ key, value }) => `${key}=${value}`).join(", ");
  if ("target" in action) return action.target.url;
  return "command" in action ? action.command.text : `after ${action.prepare.text}`;
}

/** The load that all trials have in common; `null` for commands. */
export function loadOfTryout(plan: TryPlan | null): LoadPlan | null {
  if (plan === null || plan.workload === "commands") return null;
  return "load" in plan.workload ? plan.workload.load : plan.workload.capacity.load;
}

/** The difference of a pair as B ÷ A, or B − A: the metric's own direction. */
export function ownDirection(improvement: number, { better, scale }: Pick<MetricRow, "better" | "scale">): number {
  const signed = better === "higher" ? improvement : -improvement;
  return scale === "ratio" ? Math.exp(signed) : signed;
}

export const KINDS: Record<StageKind, { word: string; meaning: string }> = {
  proof: { word: "proof", meaning: "decides the verdict" },
  alone: { word: "alone", meaning: "one change, to pick candidates" },
  combined: { word: "combined", meaning: "all changes, to pick candidates" },
  ablation: { word: "without", meaning: "the chosen changes, compared without one of them" },
};

export const STOPS: Record<StopCause, string> = {
  narrow: "the interval was narrow enough",
  decided: "the 99% interval lay outside the band that does not matter",
  pairs: "the maximum number of pairs was reached",
  budget: "the time budget ran out",
  environment: "too many pairs were discarded",
  no_value: "trials produced no number to compare",
  interrupted: "it was interrupted",
};

export const STATES: Record<GuardrailState, { shape: string; word: string }> = {
  held: { shape: "✔", word: "held" },
  broken: { shape: "✘", word: "broken" },
  open: { shape: "?", word: "can’t tell" },
  unknown: { shape: "–", word: "not measured" },
};
