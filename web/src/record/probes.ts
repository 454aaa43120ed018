// What outsiders saw: the numbers of each probed target, the windows in which probes were lost, and every operation over time.

import { decode, type Values } from "./decode.ts";
import type { Encoded, Manifest, MonoNs, ProbeSummary } from "./types.ts";

export const PROBE_REPORT_SCHEMA = "sysdyno.probe-report/1";

export interface ProbedSummary extends ProbeSummary {
  name: string;
  url: string;
  windows_count: number;
}

export type Sight = "lost" | "clear" | "too_few";

export interface LossWindow {
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
  /** In the order of the targets. */
  targets: { sent_count: number; lost_count: number; sight: Sight }[];
}

export interface ProbeConclusion {
  headline: string;
  targets: ProbedSummary[];
  /** The first ones, if there are too many. */
  windows: LossWindow[];
  windows_count: number;
}

/** The operations of one target, several to a point where there are many. */
export interface ProbeStrip {
  name: string;
  kind: ProbeSummary["kind"];
  every: number;
  mono_ns: Encoded;
  low_ns: Encoded;
  p50_ns: Encoded;
  high_ns: Encoded;
  lost: Encoded;
}

/** The page of a probe that ran alone. */
export interface ProbePayload {
  schema: typeof PROBE_REPORT_SCHEMA;
  subject: string;
  started_unix_ns: string;
  clock: Manifest["clock"];
  /** Missing where only the lines are known. */
  tool?: Manifest["tool"];
  is_interrupted: boolean;
  damage: string[];
  probes: ProbeConclusion;
  strips: ProbeStrip[];
}

/** The operations of one target on the time axis of the page. */
export interface ProbeTrack {
  name: string;
  kind: ProbeSummary["kind"];
  every: number;
  seconds: number[];
  low: Values;
  p50: Values;
  high: Values;
  lost: Values;
}

export function tracksOf(strips: readonly ProbeStrip[], seconds: (instant: MonoNs) => number): ProbeTrack[] {
  return strips.map(({ name, kind, every, ...table }) => {
    const rows = lengthOf(table.mono_ns) ?? lengthOf(table.high_ns) ?? 1;
    const values = (encoded: Encoded) => decode(encoded, rows);
    return {
      name,
      kind,
      every,
      seconds: values(table.mono_ns).map((at) => seconds(at ?? 0)),
      low: values(table.low_ns),
      p50: values(table.p50_ns),
      high: values(table.high_ns),
      lost: values(table.lost),
    };
  });
}

function lengthOf(encoded: Encoded): number | null {
  if ("constant" in encoded) return null;
  return ("plain" in encoded ? encoded.plain : encoded.deltas).length;
}
