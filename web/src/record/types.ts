// The record as the page is given it. The writer is crates/report/src/html/payload.rs and, below it, crates/record;
// names and units are theirs: the unit is the last word of a name.

import type { ProbeConclusion, ProbeStrip } from "./probes.ts";
import type { Profile } from "./profile.ts";
import type { HostSummary } from "./watched.ts";

/** Nanoseconds of the measuring host's monotonic clock. */
export type MonoNs = number;

export type VerdictStatus = "VALID" | "SUSPECT" | "INVALID";
export type Purpose = "single" | "pilot" | "bracket" | "grid" | "certify" | "sweep";
export type PhaseKind = "warmup" | "step" | "steady" | "drain" | "ramp_down";
export type Confidence = "excluded" | "possible" | "likely" | "confirmed";
export type EvidenceRole = "mechanism" | "confirmer" | "effect" | "against" | "experiment";
export type Arrival = "closed" | "constant" | "poisson" | "trace" | "sessions";
export type EndedBy =
  | "objective"
  | "achieved_rate"
  | "errors"
  | "generator"
  | "ceiling"
  | "interrupted"
  | "saturation"
  | "nothing_carried";

export interface Reason {
  id: string;
  name: string;
  status: VerdictStatus;
  text: string;
  remedy: string;
}

/** What came of one check that the user asked for; of older records there are none. */
export interface CheckOutcome {
  text: string;
  passed: boolean;
  decided: boolean;
  sentence: string;
}

export interface Capacity {
  rate_hz: number;
  low_hz: number | null;
  high_hz: number | null;
  basis: "confidence" | "enclosure";
  ended_by: EndedBy;
  certified_hz: number | null;
  certified_passes: number;
  method: string;
  objective: string;
}

export type Claim =
  | { claim: "estimate"; capacity: Capacity }
  | { claim: "at_least"; capacity: Capacity }
  | { claim: "bounds"; capacity: Omit<Capacity, "rate_hz"> }
  | { claim: "withheld"; method: string; objective: string; ending: string }
  | { claim: "not_sought" };

export interface CurvePoint {
  trial: number;
  purpose: Purpose;
  connections: number;
  offered_hz: number | null;
  achieved_hz: number;
  goodput_hz: number;
  error_ratio: number;
  p50_ns: number | null;
  p90_ns: number | null;
  p99_ns: number | null;
  p99_9_ns: number | null;
  met: boolean | null;
  status: VerdictStatus;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
}

/** What the intervals of percentiles rest on; a percentile without too few values or windows. */
export interface IntervalBasis {
  windows_count: number;
  window_ns: number;
  p50: Dependence | null;
  p90: Dependence | null;
  p99: Dependence | null;
  p99_9: Dependence | null;
}

/** How much values depend on each other in time; all but the autocorrelation null where that is too long to be seen. */
export interface Dependence {
  autocorrelation_ratio: number;
  batch_ns: number | null;
  batches_count: number | null;
  effective_count: number | null;
}

export interface LatencySummary {
  p50: number | null;
  p90: number | null;
  /** Missing in older records. */
  p95?: number | null;
  p99: number | null;
  p99_9: number | null;
  max: number | null;
  count: number;
  mean: number | null;
  p50_interval: [number, number] | null;
  p90_interval?: [number, number] | null;
  p99_interval: [number, number] | null;
  p99_9_interval?: [number, number] | null;
  interval_basis?: IntervalBasis | null;
  censored_count: number;
  censored_min_ns: number | null;
}

/** What an outsider saw beside the load; of older records there is none. */
export interface ProbeSummary {
  kind: "http" | "tcp" | "icmp";
  interval_ns: number;
  sent_count: number;
  timed_out_count: number;
  failed_count: number;
  unsent_count: number;
  response_time_ns: LatencySummary;
  p90_interval: [number, number] | null;
  max_ns: number | null;
  lost_ratio: number | null;
}

export interface Counts {
  scheduled: number;
  sent: number;
  written: number;
  ok: number;
  failed: number;
  timed_out: number;
  in_flight: number;
  unsent: number;
}

/** How many times the traffic of an access log the capacity is; a ratio without if the log is shorter. */
export interface Headroom {
  need: { file: string; requests_count: number; second_hz: number; minute_hz: number | null; hour_hz: number | null };
  is_lower_bound: boolean;
  second_ratio: number;
  minute_ratio: number | null;
  hour_ratio: number | null;
}

/** What came of simulated users and the rules that they were held against. */
export interface SessionResult {
  name: string;
  users: number;
  rate_hz: number;
  /** Older analyses lack it. */
  planned_hz?: number | null;
  passed: boolean;
  operations: {
    measured: {
      name: string;
      started_count: number;
      completed_count: number;
      failed_count: number;
      unfinished_count: number;
      rate_hz: number;
      latency: LatencySummary;
      cycle_planned_ns: number | null;
      cycle_actual_ns: number | null;
    };
    mix_ratio: number | null;
    mix_target_ratio: number;
    limit: { percentile_ratio: number; limit: number } | null;
  }[];
  rules: { rule: string; operation: string | null; passed: boolean; sentence: string }[];
}

/** What came of one of several operations; its latency is that of a user: response time if open, else service time. */
export interface OperationSummary {
  name: string;
  counts: Counts;
  total: Counts;
  /** Of `counts.ok`, those that were answered with 304. */
  not_modified_count: number;
  goodput_hz: number;
  received_bytes: number;
  latency: LatencySummary;
}

/** What one of several hosts had of a trial. */
export interface GeneratorShare {
  name: string;
  connections: number;
  measured: { counts: Counts; goodput_hz: number; latency: { loop_slip?: LatencySummary } };
  generator: { threads: number; io: string; cpu_seconds: number; busiest_thread_ratio: number };
  clock: { offset_ns: number; uncertainty_ns: number; is_same_clock: boolean };
  lost?: string;
}

export interface Evidence {
  role: EvidenceRole;
  text: string;
  source: string;
  column: string | null;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
}

export interface Finding {
  id: string;
  name: string;
  confidence: Confidence;
  title: string;
  evidence: Evidence[];
  remedy: string | null;
  counterfactual: string;
}

/** One experiment about one finding. */
export interface FindingProof {
  finding: string;
  means: "change" | "squeeze" | "nothing";
  tried: string;
  run: string | null;
  outcome: "confirmed" | "refuted" | "undecided" | "untried";
  sentence: string;
}

export interface GeneratorSummary {
  threads: number;
  cpus: (number | null)[];
  cpu_seconds: number;
  busiest_thread_ratio: number;
  timer_error: { p50_ns: number; p99_ns: number; count: number };
  io: string;
  io_fallback?: string | null;
  spin_seconds?: number;
  spin_ended?: string | null;
  backlog_max: number;
}

export interface GaugeRange {
  mean: number;
  max: number;
}

/** A tier of the server. */
export interface PathTier {
  name: string;
  unit?: string;
  /** Where it listens; absent where the load is sent to it. */
  address?: string;
  /** Position of the tier that asks it; absent where the load does. */
  asked_by?: number;
  processes_count: number;
  cpus?: number;
  connections?: GaugeRange;
  queue?: GaugeRange;
  queue_time_ns?: number;
  queue_limit_count?: number;
  waits?: TierWait[];
  /** What the kernel saw of requests at its connections. */
  requests?: TierRequests;
  /** It could not be looked into. */
  is_outside?: boolean;
}

/** All per request of the load. */
export interface TierRequests {
  read_count: number;
  unread_ns: number;
  inside_ns: number;
  asked?: TierAsked[];
  /** Absent where requests cannot be told apart. */
  own_ns?: number;
  /** The same. */
  rest_ns?: number;
  partial_ns?: number;
  merged_ratio: number;
  elsewhere_ratio?: number;
  /** Between generator and server, from the times of connects. */
  round_trip_ns?: number;
}

export interface TierAsked {
  /** Position of the tier that was asked. */
  on: number;
  sent_count: number;
  waiting_ns: number;
  unread_ns: number;
  merged_ratio: number;
}

export type WaitKind = "running" | "lock" | "process" | "disk" | "timer" | "stopped" | "asking" | "network" | "other";

export interface TierWait {
  kind: WaitKind;
  /** Position of the tier that was asked. */
  on?: number;
  threads_count: number;
  time_ns?: number;
}

export interface Analysis {
  verdict: { status: VerdictStatus; reasons: Reason[] };
  headline: string;
  limit: string;
  curve: CurvePoint[];
  shown_trial: number;
  counts: Counts;
  /** Of a load over TLS only. */
  handshakes?: { full: number; resumed: number };
  /** Keys of a memcached load only. */
  cache?: { hits: number; misses: number; stored: number };
  rates: { offered_hz: number | null; achieved_hz: number; goodput_hz: number };
  response_time_ns: LatencySummary;
  service_time_ns: LatencySummary;
  slip_ns: LatencySummary;
  loop_slip_ns: LatencySummary;
  pool_slip_ns: LatencySummary;
  connect_time_ns: LatencySummary;
  /** Absent in records of before there was TLS. */
  handshake_time_ns?: LatencySummary;
  first_byte_time_ns: LatencySummary;
  failure_time_ns: LatencySummary;
  generator: GeneratorSummary;
  findings: Finding[];
  distribution: { ratio: number; value_ns: number }[];
  /** Requests by range of latency, the fastest first; a range begins where the one before it ends. Older records have none. */
  bands?: { up_to_ns: number | null; count: number }[];
  checks?: CheckOutcome[];
  /** What was tried to prove findings; without it nothing was. */
  proofs?: FindingProof[];
  probe?: ProbeSummary;
  probes?: ProbeConclusion;
  operations?: OperationSummary[];
  headroom?: Headroom;
  session?: SessionResult;
  path?: PathTier[];
  /** Of a host that was watched without a load. */
  watched?: HostSummary;
  /** How what the server sent was divided over its links. */
  links?: LinkSplit[];
}

export interface LinkSplit {
  name: string;
  mode: string;
  peers_count: number;
  links: { name: string; sent_bytes: number | null; sent_ratio: number | null; predicted_ratio: number | null }[];
  is_as_predicted: boolean | null;
  chance: { peers_count: number; links_count: number; one_link_ratio: number; busiest_mean_ratio: number } | null;
}

export interface PhasePlan {
  kind: PhaseKind;
  rate_hz: number | null;
  end: { after: number } | { requests: number };
}

export interface LoadPlan {
  target: { url: string; endpoint: { tcp: string } | { unix: string }; host: string; path: string };
  request: { method: string; headers: { name: string; value: string }[]; body_bytes: number };
  validators: {
    statuses: number[];
    body_bytes: number | null;
    header: { name: string; value: string | null } | null;
    body_contains: string | null;
    same_body: boolean;
  };
  arrival: Arrival;
  connections: number;
  objective?: Objective | null;
  keep_alive: "unlimited" | { requests: number };
  phases: PhasePlan[];
  deadlines: { total: number; connect: number; idle: number; drain: number };
  max_body: number;
  hard_stops: { connect_failures_in_a_row: number | null; failure_ratio: number | null };
  threads: number;
  seed: number;
  /** Absent for HTTP/1.1 over a plain socket. */
  wire?: Wire;
}

/** What is spoken on the connections. */
export interface Wire {
  memcached?: { dialect: "text" | "meta"; get_ratio: number; keys_per_get: number; keys_count: number; is_verified: boolean };
  http2?: { streams: number };
  tls?: { server_name: string; version: string | null; resume_ratio: number; is_insecure: boolean };
}

export interface Objective {
  percentile_ratio: number;
  /** Nanoseconds. */
  limit: number;
  min_achieved_ratio: number;
  max_error_ratio: number;
}

export interface RunPlan {
  load: LoadPlan;
  objective: Objective;
  search: {
    method: "offered_rate" | { connections: number[] };
    probe: number;
    window: number;
    warmup: number;
    grid_rates: number;
    grid_replicates: number;
    certify_passes: number;
    max_rate_hz: number | null;
  };
  watch_pids: number[];
  sampling_hz: number;
  seed: number;
}

/** What `watch --record` records. */
export interface WatchPlan {
  /** Nanoseconds. */
  interval: number;
  host: string | null;
  target: { tcp: string } | { unix: string } | null;
  count: number | null;
}

export type Plan = { run: RunPlan } | { load: LoadPlan } | { watch: WatchPlan };

export type Fact = { text: string } | { number: number | null } | { unavailable: string };

export interface Manifest {
  id: string;
  kind: "run" | "load" | "demo" | "try" | "watch";
  tool: { version: string; target: string };
  started_unix_ns: string;
  ended_unix_ns: string | null;
  clock: { mono_ns: MonoNs; unix_ns: string };
  command: string[];
  status: "running" | "complete" | "interrupted" | "failed";
  reason: string | null;
  files: Record<string, { bytes: number; sha256: string }>;
}

export interface PhaseSummary {
  kind: PhaseKind;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
  counts: Counts;
  offered_hz: number | null;
  achieved_hz: number;
  goodput_hz: number;
  received_bytes: number;
  connections_opened: number;
  connections_closed_idle: number;
  statuses: Record<string, number>;
}

export interface Trial {
  trial: number;
  purpose: Purpose;
  arrival: Arrival;
  connections: number;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs | null;
  ending: "complete" | "interrupted" | { hard_stop: string } | null;
  measured: PhaseSummary | null;
  total: Counts | null;
}

/** A column of numbers as crates/report/src/html/encode.rs writes it. */
export type Encoded =
  | { constant: number | null }
  | { deltas: (number | null)[] }
  | { plain: (number | null)[] };

export interface Intervals {
  every: number;
  trial: number[];
  phase: PhaseKind[];
  begin_mono_ns: Encoded;
  end_mono_ns: Encoded;
  scheduled: number[];
  ok: number[];
  failed: number[];
  timed_out: number[];
  /** Failed requests by class, of the classes that there are. */
  failures?: Record<string, Encoded>;
  in_flight: number[];
  /** Users in a session; only in loads with users. */
  users?: (number | null)[];
  received_bytes: number[];
  thread_cpu_ns: number[][];
  p50_ns: (number | null)[];
  p99_ns: (number | null)[];
  /** Of intervals that stand for several: what these were like. */
  extremes?: Partial<Record<"scheduled" | "completed" | "errors" | "in_flight" | "users" | "cpu_ns" | "p50_ns" | "p99_ns", Bounds>>;
}

/** Latency over time as crates/report/src/html/heat.rs writes it. */
export interface HeatTable {
  per_decade: number;
  begin_mono_ns: Encoded;
  end_mono_ns: Encoded;
  /** Of each column: number of the range, requests, and so on. Range `n` begins at 10^(n / per_decade) ns. */
  cells: number[][];
}

/** The least and the greatest of each row; `null` where it has no other than its own value. */
export interface Bounds {
  low: Encoded;
  high: Encoded;
}

export interface Column {
  name: string;
  scope: string;
  unit: string;
  kind: "counter" | "gauge";
  unavailable?: string;
  values: Encoded;
  /** Of rows that stand for several samples: rates of a counter, readings of a gauge. */
  bounds?: Bounds;
}

export interface SeriesTable {
  /** How many rows of the folder a row stands for. */
  every: number;
  rows: number;
  /** Most samples that a row stands for. */
  samples_max?: number;
  begin_mono_ns: Encoded;
  end_mono_ns: Encoded;
  columns: Column[];
}

export type Mark =
  | { kind: "phase_begin"; trial: number; phase: PhaseKind; rate_hz: number | null }
  | { kind: "phase_end"; trial: number; phase: PhaseKind }
  | { kind: "warning" | "hard_stop" | "note"; text: string }
  | { kind: "signal"; name: string }
  | { kind: "watched"; pid: number; command: string; role: "target" | "generator" | "foreign"; tier?: { address: { tcp: string } | { unix: string } } }
  | { kind: "host_lost"; host: string; reason: string }
  | { kind: "log_lines"; log: string; new_count: number; example: string }
  | ({ kind: "setting" | "setting_changed" | "setting_undone" | "setting_kept" | "setting_left" } & SettingHeld)
  | { kind: "service"; trial: number; moment: "begin" | "end"; reading: ServiceReading };

/** A setting of a host, with its value before the run and while it lasted. */
export interface SettingHeld {
  host: string;
  key: string;
  before: string;
  after: string;
}

/** What a service of a lab told of itself. */
export interface ServiceReading {
  service: string;
  recipe: string;
  host: string;
  values: { name: string; unit: string; kind: "counter" | "gauge"; value: number | null }[];
  cause: string | null;
}

export interface Payload {
  schema: "sysdyno.report/1";
  folder: string;
  manifest: Manifest;
  is_incomplete: boolean;
  damage: string[];
  plan: Plan | null;
  facts: { facts: Record<string, Fact> } | null;
  analysis: Analysis;
  capacity: Claim;
  failures: { class: string; count: number; meaning: string; is_generator: boolean }[];
  /** What each of several hosts had of the shown trial; missing where one process sent it. */
  generators?: GeneratorShare[];
  /** Stacks of the same load, sent once more after the measurement. */
  profile?: Profile;
  profile_low?: Profile;
  trials: Trial[];
  intervals: Intervals;
  /** Missing where the record has no latency window by window. */
  heat?: HeatTable;
  series: SeriesTable;
  events: { mono_ns: MonoNs; event: Mark }[];
  /** What outsiders saw over time; missing where there were none. */
  probes?: ProbeStrip[];
}
