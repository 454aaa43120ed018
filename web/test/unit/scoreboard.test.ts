import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExperimentShown, Scoreboard } from "../../src/record/comparison.ts";
import { seriesOf, tightest } from "../../src/record/scoreboard.ts";

function board(users: number, p90_ms: number | null): Scoreboard {
  const operation = { name: "Home", completed_count: 9, failed_count: 0, mix_ratio: 1, mix_target_ratio: 1, mean_ns: 1, max_ns: 1, passed: true };
  const limit = { percentile_ratio: 0.9, limit: 1e9 };
  const operations = [p90_ms, null].map((ms) => ({ ...operation, percentile_ns: ms === null ? null : ms * 1e6, limit }));
  return { profile: "x", users, planned_hz: null, rate_hz: 1, runs_count: 1, passed_count: 1, broken: [], operations };
}

function experiment(variants: [levels: [string, string][], users: number][]): ExperimentShown {
  const shown = variants.map(([levels, users], side) => ({
    side,
    levels,
    settings: [],
    prepare: [],
    failed_ratio: null,
    cpus: [],
    found: [],
    curve: [],
    scoreboard: board(users, 100),
  }));
  return { name: "x", planned_count: 1, measured_count: 1, repeated_count: 0, variants: shown };
}

test("variants that differ in the number of users only are a series, from few to many", () => {
  const series = seriesOf(
    experiment([
      [[["server", "one"], ["users", "20"]], 20],
      [[["server", "one"], ["users", "10"]], 10],
      [[["server", "two"], ["users", "10"]], 10],
    ]),
  );
  const told = series.map(({ name, variants }) => [name, variants.map(({ side }) => side)]);
  assert.deepEqual(told, [["one", [1, 0]], ["two", [2]]]);
});

test("a factor that does not say how many users there are tells series apart", () => {
  const series = seriesOf(experiment([[[["pace", "slow"]], 10], [[["pace", "slow"]], 20]]));
  assert.deepEqual(series.map(({ name }) => name), ["slow"]);
});

test("the tightest operation is the greatest share of its limit", () => {
  assert.equal(tightest(board(10, 250)), 0.25);
  assert.equal(tightest(board(10, null)), null);
});
