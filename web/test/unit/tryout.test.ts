import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, closingDomain, effectTicks, minuteTicks, pairTicks, valueDomain } from "../../src/chart/pairs.ts";
import { metricValue } from "../../src/number.ts";
import { effectText, marginText } from "../../src/record/effect.ts";
import { actionText, Tryout, type TryPayload, loadOfTryout, ownDirection, type Pair } from "../../src/record/tryout.ts";

const ORIGIN = 5e9;

function trial(number: number, arm: "a" | "b") {
  const begin_mono_ns = ORIGIN + number * 10e9;
  return { trial: number, stage: 1, pair: Math.ceil(number / 2), arm, begin_mono_ns, end_mono_ns: begin_mono_ns + 8e9, values: {} };
}

function pair(number: number, change: Partial<Pair> = {}): Pair {
  const [one, other] = [2 * number - 1, 2 * number];
  const end_mono_ns = ORIGIN + other * 10e9 + 8e9;
  const known = { stage: 1, pair: number, a_trial: one, b_trial: other, first: "a" as const, end_mono_ns, a: 100, b: 90, improvement: 0.105, dropped: null };
  return { ...known, ...change };
}

function tryout(pairs: Pair[], change: Partial<TryPayload> = {}): Tryout {
  const stage = { stage: { stage: 1, kind: "proof", a: 0, b: 1 } };
  const conclusion = { metric: "cpu", stages: [stage], pairs };
  const metrics = [{ metric: "cpu", title: "CPU per request", unit: "ns", better: "lower", scale: "ratio" }];
  const trials = [1, 2, 3, 4].map((number) => trial(number, number % 2 === 1 ? "a" : "b"));
  const manifest = { clock: { mono_ns: ORIGIN } };
  return new Tryout({ conclusion, metrics, trials, manifest, plan: null, ...change } as unknown as TryPayload);
}

test("a pair has a dot for each trial, in the order of time", () => {
  const [first] = tryout([pair(1, { a_trial: 2, b_trial: 1, first: "b" })]).pairs;
  assert.deepEqual(first?.dots.map(({ arm, second, value }) => [arm, second, value]), [
    ["b", 14, 90],
    ["a", 24, 100],
  ]);
  assert.deepEqual([first?.begin, first?.end], [10, 28]);
});

test("what has no value or no trial has no dot", () => {
  const { pairs } = tryout([pair(1, { b: null, improvement: null }), pair(9)]);
  assert.deepEqual(pairs.map(({ dots }) => dots.length), [1, 0]);
  assert.equal(pairs[1]?.begin, pairs[1]?.end);
});

test("only pairs of the proof that were not dropped count", () => {
  const pairs = [pair(1), pair(2, { dropped: "the hypervisor" }), pair(3, { stage: 2 }), pair(4, { improvement: null })];
  assert.deepEqual(tryout(pairs).counted().map((drawn) => drawn.pair.pair), [1]);
});

test("a block is two pairs of one comparison, with what lies between them", () => {
  const { pairs } = tryout([pair(1), pair(2), pair(3), pair(1, { stage: 2 })]);
  assert.deepEqual(blocksOf(pairs), [
    { number: 0, begin: 10, end: 48 },
    { number: 1, begin: 68, end: 68 },
    { number: 0, begin: 10, end: 28 },
  ]);
});

test("a metric that is not known is shown by its name", () => {
  assert.equal(tryout([]).metric.title, "CPU per request");
  assert.deepEqual(tryout([]).metricOf("__proto__").title, "__proto__");
});

test("an improvement becomes a change in the metric's own direction", () => {
  assert.ok(Math.abs(ownDirection(0.105, { better: "lower", scale: "ratio" }) - 0.9) < 1e-3);
  assert.ok(Math.abs(ownDirection(0.105, { better: "higher", scale: "ratio" }) - 1.11) < 1e-2);
  assert.equal(ownDirection(0.001, { better: "lower", scale: "difference" }), -0.001);
});

test("a variant is told in the user's words", () => {
  assert.equal(actionText("as_it_is"), "unchanged");
  assert.equal(actionText({ settings: [{ key: "a.b", value: "1" }, { key: "c", value: "2" }] }), "a.b=1, c=2");
  assert.equal(actionText({ target: { url: "http://h/" } }), "http://h/");
  assert.equal(actionText({ command: { text: "true" } }), "true");
  assert.equal(actionText({ prepare: { text: "cp x y" } }), "after cp x y");
  assert.equal(actionText(undefined), "not recorded");
  assert.equal(loadOfTryout(null), null);
});

test("effects, margins and values are written as on the terminal", () => {
  const check = (scale: "ratio" | "difference", [low, point, high]: [number, number, number], text: string) =>
    assert.equal(effectText({ scale, low, point, high }), text);
  check("ratio", [0.97, 0.976, 0.982], "−2.4% [−3.0, −1.8]");
  check("ratio", [8, 9.8, 12], "+880% [+700, +1,100]");
  check("ratio", [10, 12, 14], "× 12.0 [10.0, 14.0]");
  check("ratio", [1730, 2954, 5050], "× 3,000 [1,700, 5,100]");
  check("ratio", [0.9, 40, Infinity], "× 40 [÷ 1.1, –]");
  check("ratio", [1 / 220, 1 / 193, 1 / 169], "÷ 193 [169, 220]");
  check("ratio", [0, 0.05, 0.1], "÷ 20 [÷ 10, –]");
  check("ratio", [1 / 18_000, 1 / 12, 4.3], "÷ 12 [× 4.3, ÷ 18,000]");
  check("ratio", [1.5, 20, 18_000], "× 20 [× 1.5, × 18,000]");
  check("ratio", [0, 0, 0.1], "−100% [−100, −90]");
  check("ratio", [0.5, 0.5, 0.5], "−50% [−50, −50]");
  check("ratio", [1, 1, 1], "0.0% [0.0, 0.0]");
  check("ratio", [0, 1.1, Infinity], "+10.0% [−100.0, –]");
  check("ratio", [0.36, 1.62, 7.34], "+60% [−60, +630]");
  check("ratio", [0.03, 1.6, 7.34], "+60% [−97, +634]");
  check("difference", [-0.0005, 0.001, 0.002], "+0.10 pp [−0.05, +0.20]");
  assert.deepEqual([marginText(0.03, "ratio"), marginText(0.0005, "difference")], ["3%", "0.05 pp"]);
  assert.deepEqual(
    [metricValue(39_720.4, "ns"), metricValue(1.5, "s"), metricValue(4_000, "hz"), metricValue(0.0005, "ratio"), metricValue(2 ** 20, "bytes"), metricValue(null, "ns")],
    ["39.7 µs", "1.50 s", "4,000 req/s", "0.050%", "1.00 MiB", "–"],
  );
});

test("domains hold what is drawn, and are never empty", () => {
  assert.deepEqual(valueDomain([]), [0, 1]);
  assert.deepEqual(valueDomain([5, 5]), [4.5, 5.5]);
  assert.deepEqual(valueDomain([0]), [-1, 1]);
  const look = (low: number, high: number) => ({ scale: "ratio" as const, point: 1, low, high, confidence_ratio: 0.95, narrow: null, pairs_count: 8 });
  const [low, high] = closingDomain([0.98, 1.01], [look(0.2, 4), look(0.96, 1.02)], [0.97, 1.03]);
  assert.ok(low > 0.9 && low < 0.96 && high > 1.03 && high < 1.1, `the first look is cut off: ${low}–${high}`);
});

test("marks of the axes carry their unit", () => {
  assert.deepEqual(minuteTicks([0, 600], 4).map(([, text]) => text), ["0", "2.5", "5", "7.5", "10"]);
  assert.deepEqual(minuteTicks([0, 60], 3).map(([at, text]) => [at, text]), [[0, "0"], [20, "20"], [40, "40"], [60, "60"]]);
  assert.deepEqual(pairTicks([36_000, 40_000], "ns").map(([, text]) => text), ["36 µs", "37 µs", "38 µs", "39 µs", "40 µs"]);
  assert.deepEqual(effectTicks([0.9, 1.1], "ratio").map(([, text]) => text), ["−10%", "−7.5%", "−5%", "−2.5%", "0%", "+2.5%", "+5%", "+7.5%", "+10%"]);
  assert.deepEqual(effectTicks([-0.001, 0.001], "difference").map(([, text]) => text).at(-1), "+0.1 pp");
});
