import assert from "node:assert/strict";
import { test } from "node:test";
import { shade, shadeOfCount } from "../../src/chart/heat.ts";
import { panelsOf } from "../../src/chart/panels.ts";
import { Run } from "../../src/record/decode.ts";
import { heatOf } from "../../src/record/heat.ts";
import { marksOf } from "../../src/record/marks.ts";
import type { Column, Mark, Payload } from "../../src/record/types.ts";

const SECONDS = { begin_mono_ns: { deltas: [0, 1e9] }, end_mono_ns: { deltas: [1e9, 1e9] } };

/** Two seconds with failures, two CPUs of which one does receive work, and an interrupt. */
function run(marks: Mark[] = []): Run {
  const counter = (name: string, scope: string, unit: string, each: number): Column => ({ name, scope, unit, kind: "counter", values: { deltas: [each, each] } });
  const columns = [
    counter("cpu.user_us", "cpu:0", "us", 1e5),
    counter("cpu.user_us", "cpu:1", "us", 1e5),
    counter("cpu.softirq_us", "cpu:0", "us", 8e5),
    counter("irq.count", "irq:24/cpu:0", "count", 500),
  ];
  const intervals = {
    every: 1,
    trial: [1, 1],
    phase: ["steady", "steady"],
    ...SECONDS,
    scheduled: [100, 100],
    ok: [90, 80],
    failed: [8, 20],
    timed_out: [2, 0],
    failures: { reset: { deltas: [8, -8] }, status: { deltas: [0, 20] } },
    in_flight: [1, 1],
    received_bytes: [0, 0],
    thread_cpu_ns: [[], []],
    p50_ns: [1e6, 1e6],
    p99_ns: [2e6, 2e6],
  };
  const events = marks.map((event) => ({ mono_ns: 5e8, event }));
  const manifest = { clock: { mono_ns: 0, unix_ns: "0" } };
  return new Run({ series: { every: 1, rows: 2, ...SECONDS, columns }, intervals, events, manifest, plan: null } as unknown as Payload);
}

const panel = (id: string) => panelsOf(run()).panels.find((each) => each.id === id);

test("cells of a heat map have their seconds, latencies and requests", () => {
  const heat = heatOf({ per_decade: 10, ...SECONDS, cells: [[60, 7, 61, 900], [70, 1]] }, (instant) => instant / 1e9);
  assert.equal(heat?.cells.length, 3);
  const [first] = heat?.cells ?? [];
  assert.deepEqual([first?.begin, first?.end, first?.low, first?.count], [0, 1, 1e6, 7]);
  assert.deepEqual([heat?.most, heat?.low, Math.round(heat?.high ?? 0)], [900, 1e6, 12_589_254]);
  assert.equal(heatOf({ per_decade: 10, ...SECONDS, cells: [[], []] }, Number), null);
});

test("a single slow request is seen beside a million fast ones", () => {
  assert.ok(shadeOfCount(1, 1e6) > shade(0));
  assert.equal(shadeOfCount(1e6, 1e6), shade(1));
});

test("failures are stacked by class, the most frequent at the bottom", () => {
  const lines = panel("panel-errors")?.lines.map(({ label, values }) => [label, values]);
  assert.deepEqual(lines, [
    ["status", [0, 0, 20, 20]],
    ["reset", [8, 8, 0, 0]],
    ["timed out", [2, 2, 0, 0]],
  ]);
});

test("softirqs have a strip apart with the CPUs that did any, interrupts one with theirs", () => {
  assert.deepEqual(panel("panel-strip-busy")?.strips?.rows.map(({ label }) => label), ["CPU 0", "CPU 1"]);
  const softirq = panel("panel-strip-softirq");
  assert.deepEqual(softirq?.strips?.rows.map(({ label }) => label), ["CPU 0"]);
  assert.deepEqual(softirq?.lines[0]?.values, [null, 80]);
  assert.deepEqual(panel("panel-strip-irq")?.strips?.rows.map(({ label }) => label), ["IRQ 24 on CPU 0"]);
});

test("what happened is on the axis, phases are not", () => {
  const marks: Mark[] = [
    { kind: "phase_begin", trial: 1, phase: "steady", rate_hz: null },
    { kind: "log_lines", log: "/var/log/app.log", new_count: 3, example: "GC overhead limit exceeded" },
    { kind: "host_lost", host: "web", reason: "ssh ended" },
  ];
  assert.deepEqual(marksOf(run(marks)), [
    { at: 0.5, text: "/var/log/app.log (3): GC overhead limit exceeded" },
    { at: 0.5, text: "lost web: ssh ended" },
  ]);
});
