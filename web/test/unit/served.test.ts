import assert from "node:assert/strict";
import { test } from "node:test";
import { cpusOf, failuresOf, type GrowthPoint, type HostNow } from "../../src/record/served.ts";

function point(failures: Record<string, number>, timed_out = 0): GrowthPoint {
  const times = { begin_mono_ns: 0, end_mono_ns: 1e9, p50_ns: null, p99_ns: null };
  return { ...times, trial: 1, phase: "steady", scheduled: 9, ok: 1, failed: 0, timed_out, in_flight: 0, failures };
}

function now(tiers: [string, number][], other_cpus: number | null): HostNow {
  const uses = { tiers: tiers.map(([name, cpus]) => ({ name, cpus })), other_cpus, generator_cpus: 0.1, host_cpus_count: 2 };
  return { mono_ns: 0, uses, seen: [] };
}

test("failures of all seconds are summed by class, the most frequent first", () => {
  const points = [point({ status: 1, refused: 5 }), point({ status: 2 }, 4), point({})];
  assert.deepEqual(failuresOf(points), [
    ["refused", 5],
    ["timed out", 4],
    ["status", 3],
  ]);
  assert.deepEqual(failuresOf([point({})]), []);
});

test("a tier that comes later has no value before, and tiers of one name are two lines", () => {
  const users = cpusOf([now([["java", 0.5]], null), now([["java", 0.6], ["java", 0.2]], 0.3)]);
  assert.deepEqual([...users], [
    ["java", [0.5, 0.6]],
    ["sysdyno", [0.1, 0.1]],
    ["java (tier 2)", [null, 0.2]],
    ["everything else", [null, 0.3]],
  ]);
});
