import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, isMoving, Run } from "../../src/record/decode.ts";
import { momentsOf } from "../../src/record/moments.ts";
import { bridged, drawn, drawnBounds, drawnUnit, growth, rates, sum } from "../../src/record/rates.ts";
import { shellLine } from "../../src/record/shell.ts";
import { parseRecord, prose, visible } from "../../src/record/text.ts";
import type { Column, Intervals, Payload } from "../../src/record/types.ts";

test("columns are decoded to the values that were encoded", () => {
  assert.deepEqual(decode({ deltas: [1e12, 4, null, 5] }, 4), [1e12, 1e12 + 4, null, 1e12 + 9]);
  assert.deepEqual(decode({ deltas: [null, 5, -3] }, 3), [null, 5, 2]);
  assert.deepEqual(decode({ constant: 7 }, 3), [7, 7, 7]);
  assert.deepEqual(decode({ constant: null }, 2), [null, null]);
  assert.deepEqual(decode({ plain: [0.5, null] }, 2), [0.5, null]);
});

test("rates bridge missing readings and never invent one", () => {
  const seconds = [0, 1, 2, 4, 5];
  assert.deepEqual(rates([10, 20, null, 50, 50], seconds, "a_count"), [null, 10, null, 10, 0]);
  assert.deepEqual(rates([null, 5, 8, 9, 9], seconds, "a_count"), [null, null, 3, 0.5, 0]);
  assert.deepEqual(rates([1, 2], [3, 3], "a_count"), [null, null]);
});

test("a counter that fell has no rate, unless it is narrow and wrapped around", () => {
  assert.deepEqual(rates([100, 5, 7], [0, 1, 2], "Tcp.OutSegs"), [null, null, 2]);
  assert.deepEqual(rates([2 ** 32 - 10, 5], [0, 1], "softnet.processed_count"), [null, 15]);
  assert.deepEqual(rates([100, 5], [0, 1], "softnet.processed_count"), [null, null]);
});

const column = (unit: string, kind: "counter" | "gauge"): Column => ({ name: "x", scope: "host", unit, kind, values: { constant: 0 } });

test("times are drawn as percent, amounts per second, gauges as they are", () => {
  assert.deepEqual(drawnUnit(column("us", "counter")), { unit: "%", factor: 1e-4 });
  assert.deepEqual(drawnUnit(column("bytes", "counter")), { unit: "bytes/s", factor: 1 });
  assert.deepEqual(drawnUnit(column("bytes", "gauge")), { unit: "bytes", factor: 1 });
  assert.deepEqual(drawnUnit(column("constructor", "counter")), { unit: "constructor/s", factor: 1 });
  assert.deepEqual(drawn(column("us", "counter"), [0, 500_000], [0, 1]), [null, 50]);
  assert.deepEqual(drawn(column("ms", "counter"), [0, 250], [0, 0.5]), [null, 50]);
});

test("what is read once a second is drawn between its readings, not beyond them", () => {
  const seconds = [0, 0.5, 1, 1.5, 2, 9];
  assert.deepEqual(bridged([null, null, 4, null, 6, 8], seconds, "gauge"), [null, null, 4, 4, 6, 8]);
  assert.deepEqual(bridged([4, null, null, null, 6, null], seconds, "counter"), [4, 6, 6, 6, 6, null]);
  assert.deepEqual(bridged([4, null, null, null, null, 8], seconds, "counter"), [4, null, null, null, null, 8]);
});

test("sums are missing where a part is", () => {
  assert.deepEqual(sum([[1, 2, null], [10, null, 30]]), [11, null, null]);
  assert.deepEqual(sum([]), []);
  assert.equal(growth([1, 4, null, 6, 2, 3]), 6);
});

test("a command can be pasted into a shell", () => {
  assert.equal(shellLine(["sysdyno", "run", "http://a/?x=1&y=2"], 42), "sysdyno run 'http://a/?x=1&y=2' --seed 42");
  assert.equal(shellLine(["a", "--seed", "7"], 42), "a --seed 7");
  assert.equal(shellLine(["a", "--seed=7"], 42), "a --seed=7");
  assert.equal(shellLine(["it's", "$(reboot)", "`x`", ""], null), "'it'\\''s' '$(reboot)' '`x`' ''");
});

test("text cannot hide or turn what stands beside it", () => {
  assert.equal(visible("a\u202eb\u0007c\u200bd"), "a\\u{202e}b\\u{7}c\\u{200b}d");
  assert.equal(visible("two\nlines\tand ümläuts, 漢字"), "two\nlines\tand ümläuts, 漢字");
  assert.equal(visible("x".repeat(30_000)).length, 20_001);
  assert.equal(prose("took 50 ms at 97% of 4 CPUs, 12 stories"), "took 50\u00a0ms at 97% of 4\u00a0CPUs, 12 stories");
});

test("names in the record are data, whatever they are", () => {
  const parsed = parseRecord('{"__proto__": {"owned": 1}, "a\\u0007": [1, "b\\u202e"], "n": null}') as Record<string, unknown>;
  assert.equal(({} as { owned?: number }).owned, undefined);
  assert.deepEqual(parsed["a\\u{7}"], [1, "b\\u{202e}"]);
  assert.deepEqual(Object.keys(parsed), ["__proto__", "a\\u{7}", "n"]);
});

function payload(): Payload {
  const series = {
    every: 1,
    rows: 3,
    begin_mono_ns: { deltas: [5e9, 1e9, 1e9] },
    end_mono_ns: { deltas: [5.2e9, 1e9, 1e9] },
    columns: [
      { name: "a_count", scope: "host", unit: "count", kind: "counter" as const, values: { deltas: [1, 1, 1] } },
      { name: "a_count", scope: "cpu:0", unit: "count", kind: "counter" as const, values: { constant: 4 } },
    ],
  };
  const columns = ["scheduled", "ok", "failed", "timed_out", "in_flight", "thread_cpu_ns", "p50_ns", "p99_ns"];
  const empty = Object.fromEntries(columns.map((name) => [name, []]));
  const intervals = { trial: [1], begin_mono_ns: { constant: 5e9 }, end_mono_ns: { constant: 6e9 }, ...empty };
  const events = [
    { mono_ns: 5e9, event: { kind: "phase_begin", trial: 1, phase: "warmup", rate_hz: 10 } },
    { mono_ns: 5.5e9, event: { kind: "phase_end", trial: 1, phase: "warmup" } },
    { mono_ns: 5.5e9, event: { kind: "phase_begin", trial: 1, phase: "steady", rate_hz: 10 } },
  ];
  const manifest = { clock: { mono_ns: 4e9, unix_ns: "1795179721000000000" } };
  return { series, intervals, events, manifest } as unknown as Payload;
}

test("instants become seconds since the run began", () => {
  const run = new Run(payload());
  assert.deepEqual(run.rowSeconds, [1.1, 2.1, 3.1]);
  assert.deepEqual(run.extent, [0, 3.1]);
  assert.equal(run.wallClock(1.5).toISOString(), "2026-11-20T13:02:02.500Z");
});

test("a phase without its end lasts to the last interval", () => {
  const run = new Run(payload());
  assert.deepEqual(
    run.bands.map(({ phase, begin, end }) => [phase, begin, end]),
    [
      ["warmup", 1, 1.5],
      ["steady", 1.5, 2],
    ],
  );
  assert.equal(run.bandAt(1.7)?.phase, "steady");
  assert.equal(run.bandAt(9), undefined);
});

test("columns are found by name and scope", () => {
  const run = new Run(payload());
  const column = run.column("a_count@cpu:0");
  assert.ok(column && !isMoving(column));
  assert.deepEqual(run.values(column), [4, 4, 4]);
  assert.equal(run.columnsOf("a_count").length, 2);
  assert.equal(run.column("a_count@nowhere"), undefined);
});

test("the extremes of a condensed counter are drawn in the unit of its line, and never within it", () => {
  const line = [null, 50, 70];
  const bounds = { low: [null, 400_000, null], high: [null, 400_500, 900_000] };
  assert.deepEqual(drawnBounds(column("us", "counter"), line, bounds), { low: [null, 40, 70], high: [null, 50, 90] });
});

test("a counter of a condensed row has grown until the row's end", () => {
  assert.deepEqual(drawn(column("us", "counter"), [0, 1_000_000], [0.5, 3], [1, 5]), [null, 25]);
});

test("intervals that stand for several seconds bring the extremes of these", () => {
  const two = {
    trial: [1, 1],
    begin_mono_ns: { deltas: [4e9, 6e9] },
    end_mono_ns: { deltas: [10e9, 1e9] },
    scheduled: [60, 10],
    ok: [60, 10],
    failed: [0, 0],
    timed_out: [0, 0],
    in_flight: [0, 0],
    thread_cpu_ns: [[1], [1]],
    p50_ns: [5, 5],
    p99_ns: [9, 9],
    extremes: { completed: { low: { deltas: [8, null] }, high: { deltas: [13, null] } } },
  };
  const moments = momentsOf(two as unknown as Intervals, (instant) => instant / 1e9);
  assert.deepEqual(moments.map((moment) => moment.extremes), [{ completed: { low: 8, high: 13 } }, {}]);
});
