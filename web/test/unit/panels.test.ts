import assert from "node:assert/strict";
import { test } from "node:test";
import { columnPanel, panelsOf } from "../../src/chart/panels.ts";
import { Run } from "../../src/record/decode.ts";
import type { Column, Mark, Payload } from "../../src/record/types.ts";

const ROWS = 4;

/** A counter that grows by so much per reading, or a gauge of this value. */
function column(name: string, scope: string, kind: "counter" | "gauge", amount: number, unit = "us"): Column {
  const values = kind === "gauge" || amount === 0 ? { constant: amount } : { deltas: new Array<number>(ROWS).fill(amount) };
  return { name, scope, unit, kind, values };
}

function run(columns: Column[], marks: Mark[] = [], users?: (number | null)[]): Run {
  const series = { every: 1, rows: ROWS, begin_mono_ns: { deltas: [0, 1e9, 1e9, 1e9] }, end_mono_ns: { deltas: [0, 1e9, 1e9, 1e9] }, columns };
  const intervals = {
    every: 1,
    trial: [1, 1, 1],
    phase: ["steady", "steady", "drain"],
    begin_mono_ns: { deltas: [1e9, 1e9, 0] },
    end_mono_ns: { deltas: [2e9, 1e9, 0] },
    scheduled: [110, 0, 0],
    ok: [90, 5, 0],
    failed: [6, 0, 0],
    timed_out: [4, 0, 0],
    in_flight: [5, 0, 2],
    users,
    received_bytes: [0, 0, 0],
    thread_cpu_ns: [[5e8, 1e8], [], [1e7]],
    p50_ns: [1e6, 3e6, null],
    p99_ns: [9e6, 8e6, null],
  };
  const events = marks.map((event) => ({ mono_ns: 0, event }));
  const manifest = { clock: { mono_ns: 0, unix_ns: "0" } };
  return new Run({ series, intervals, events, manifest, plan: null } as unknown as Payload);
}

const find = (from: Run, id: string) => panelsOf(from).panels.find((panel) => panel.id === id);

test("intervals of the same seconds are one stroke from their begin to their end", () => {
  const rate = find(run([]), "panel-rate");
  assert.deepEqual(rate?.seconds, [1, 2, 2, 3]);
  assert.deepEqual(rate.lines.map((line) => [line.label, line.values]), [
    ["offered", [110, 110, 0, 0]],
    ["achieved", [100, 100, 5, 5]],
  ]);
  const values = (id: string) => find(run([]), id)?.lines[0]?.values;
  assert.deepEqual(values("panel-generator"), [60, 60, 1, 1]);
  assert.deepEqual(values("panel-in-flight"), [5, 5, 2, 2]);
  assert.deepEqual(values("panel-latency"), [9e6, 9e6, 8e6, 8e6]);
});

test("active users are shown where there are users", () => {
  assert.equal(find(run([]), "panel-users"), undefined);
  const panel = find(run([], [], [3, 7, null]), "panel-users");
  assert.deepEqual(panel?.lines[0]?.values, [3, 3, 7, 7]);
});

test("the busiest processors are shown, in their own order", () => {
  const columns = Array.from({ length: 12 }, (_, cpu) => [
    column("cpu.user_us", `cpu:${cpu}`, "counter", cpu < 2 ? 1_000 : cpu * 10_000),
    column("cpu.nice_us", `cpu:${cpu}`, "counter", 0),
    column("cpu.system_us", `cpu:${cpu}`, "counter", 50_000),
  ]).flat();
  const shown = panelsOf(run(columns)).panels.filter((panel) => panel.id.startsWith("panel-cpu:"));
  assert.deepEqual(shown.map((panel) => panel.title), [4, 5, 6, 7, 8, 9, 10, 11].map((cpu) => `CPU ${cpu}`));
  assert.equal(shown[0]?.note, "the 8 busiest of 12 CPUs");
  assert.deepEqual(shown[0]?.lines.map((line) => [line.label, line.values]), [
    ["user", [null, 4, 4, 4]],
    ["system", [null, 5, 5, 5]],
  ]);
});

test("processes of the server are shown, others are not", () => {
  const columns = [1, 2].map((pid) => column("process.cpu_us", `process:${pid}`, "counter", 900_000));
  const marks: Mark[] = [
    { kind: "watched", pid: 1, command: "nginx", role: "target" },
    { kind: "watched", pid: 2, command: "sysdyno", role: "generator" },
  ];
  const panel = find(run(columns, marks), "panel-process-cpu");
  assert.deepEqual(panel?.lines.map((line) => [line.label, line.values[1]]), [["1 nginx", 90]]);
});

test("what stayed at zero is named and takes no room", () => {
  const { panels, silent } = panelsOf(run([column("softnet.dropped_count", "cpu:0", "counter", 0, "count")]));
  assert.ok(silent.some((panel) => panel.id === "panel-softnet"));
  assert.ok(!panels.some((panel) => panel.id === "panel-softnet"));
});

test("a column that could not be read makes no panel", () => {
  const columns = [{ ...column("listener.queue_count", "listener:0.0.0.0:80", "gauge", 3, "count"), unavailable: "no sock_diag" }];
  const { panels, silent } = panelsOf(run(columns));
  assert.ok(![...panels, ...silent].some((panel) => panel.title.includes("0.0.0.0:80")));
});

test("the limit of a listener stands beside its queue", () => {
  const scope = "listener:0.0.0.0:80";
  const from = run([column("listener.queue_count", scope, "gauge", 3, "count"), column("listener.limit_count", scope, "gauge", 511, "count")]);
  const panel = find(from, `panel-${scope}`);
  assert.deepEqual([panel?.title, panel?.limit], ["Accept queue of 0.0.0.0:80", { label: "limit", value: 511 }]);
});

test("any column can be a panel of its own", () => {
  const each = column("irq.count", "irq:24/cpu:1", "counter", 10, "count");
  const panel = columnPanel(run([each]), each);
  assert.deepEqual([panel.unit, panel.lines[0]?.values, panel.columns], ["/s", [null, 10, 10, 10], ["irq.count@irq:24/cpu:1"]]);
});
