// A probe that ran alone, as a run without a load.

import { Run } from "./decode.ts";
import type { ProbePayload } from "./probes.ts";
import type { Encoded, Payload } from "./types.ts";

/** A run that holds nothing but probes, so that they are drawn as those beside a load. */
export function runOfProbes(payload: ProbePayload): Run {
  const nothing: Encoded = { constant: null };
  const manifest = { clock: payload.clock };
  const series = { every: 1, rows: 0, begin_mono_ns: nothing, end_mono_ns: nothing, columns: [] };
  const intervals = {
    every: 1,
    trial: [],
    phase: [],
    begin_mono_ns: nothing,
    end_mono_ns: nothing,
    scheduled: [],
    ok: [],
    failed: [],
    timed_out: [],
    in_flight: [],
    received_bytes: [],
    thread_cpu_ns: [],
    p50_ns: [],
    p99_ns: [],
  };
  const { probes, strips } = payload;
  const record = { manifest, plan: null, series, intervals, events: [], trials: [], probes: strips, analysis: { probes } };
  return new Run(record as unknown as Payload);
}
