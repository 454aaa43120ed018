import assert from "node:assert/strict";
import { test } from "node:test";
import { forestDomain, forestTicks, place, placeBound } from "../../src/chart/forest.ts";
import { boundText, type Effect, effectText } from "../../src/record/effect.ts";

const effect = (scale: Effect["scale"], low: number, point: number, high: number): Effect => ({
  scale,
  point,
  low,
  high,
  confidence_ratio: 0.95,
  narrow: null,
  pairs_count: 8,
});

test("an effect is written in the metric's own direction", () => {
  assert.equal(effectText(effect("ratio", 0.97, 0.976, 0.982)), "−2.4% [−3.0, −1.8]");
  assert.equal(effectText(effect("ratio", 0.99, 1, 1.02)), "0.0% [−1.0, +2.0]");
  assert.equal(effectText(effect("ratio", 0.58, 0.942, 1.48)), "−6% [−42, +48]");
  assert.equal(effectText(effect("difference", -0.0005, 0.001, 0.002)), "+0.10 pp [−0.05, +0.20]");
});

test("a bound is rounded to the side on which it stays true", () => {
  assert.equal(boundText({ side: "at_least", ratio: 60.9 }), "at least × 60");
  assert.equal(boundText({ side: "at_least", ratio: 1.129 }), "at least +12%");
  assert.equal(boundText({ side: "at_least", ratio: 0.795 }), "at most −21%");
  assert.equal(boundText({ side: "at_most", ratio: 1 / 60.9 }), "at least ÷ 60");
  assert.equal(boundText({ side: "at_most", ratio: 1.2 }), "at most +20%");
});

test("a bound reaches from its end as far as it may, to the worse side or the better one", () => {
  const bound = { side: "at_least", ratio: 1.1, confidence_ratio: 0.95, pairs_count: 3 } as const;
  const latency = placeBound(bound, { scale: "ratio", better: "lower", margin: 0.1 });
  assert.deepEqual([latency.point, latency.low, Math.round(latency.high * 1e9)], [null, -Infinity, -1e9]);
  const capacity = placeBound(bound, { scale: "ratio", better: "higher", margin: 0.1 });
  assert.deepEqual([capacity.point, Math.round(capacity.low * 1e9), capacity.high], [null, 1e9, Infinity]);
  const rows = [{ scale: "ratio", better: "lower", margin: 0.1 }] as const;
  const far = placeBound({ ...bound, ratio: 600 }, rows[0]);
  const [least] = forestDomain([far], rows);
  assert.ok(least < far.high, "the known end is on the axis");
});

test("to the right is better whichever way the metric goes", () => {
  const less = effect("ratio", 0.9, 0.95, 0.98);
  const cost = place(less, { scale: "ratio", better: "lower", margin: 0.03 });
  assert.ok(cost.low > 0 && cost.low < cost.point && cost.point < cost.high, JSON.stringify(cost));
  const rate = place(less, { scale: "ratio", better: "higher", margin: 0.03 });
  assert.ok(rate.high < 0 && rate.low < rate.point && rate.point < rate.high, JSON.stringify(rate));
});

test("the band is as wide as the smallest effect that matters, of ratios and differences", () => {
  const ratio = place(effect("ratio", 1, 1.03, 1.1), { scale: "ratio", better: "higher", margin: 0.03 });
  assert.ok(Math.abs(ratio.point - 1) < 1e-9);
  const share = place(effect("difference", 0, 0.0005, 0.001), { scale: "difference", better: "lower", margin: 0.0005 });
  assert.ok(Math.abs(share.point + 1) < 1e-9);
});

test("the axis holds the band and every interval, up to a bound", () => {
  const rows = [{ scale: "ratio", better: "lower", margin: 0.03 }] as const;
  assert.deepEqual(forestDomain([], []), [-1.7, 1.7]);
  const [low, high] = forestDomain([{ point: 1, low: -3, high: 4, narrow: null }], rows);
  assert.ok(low === -high && high > 4);
  assert.deepEqual(forestDomain([{ point: 1, low: -Infinity, high: 1e9, narrow: null }], rows), [-25, 25]);
  const far = [{ point: 200, low: 150, high: 9000, narrow: null }];
  assert.equal(forestDomain(far, rows)[1], 300, "no point of one kind of row is cut off");
  assert.equal(forestDomain(far, [...rows, { scale: "difference", better: "lower", margin: 0.001 }])[1], 25);
});

test("marks are changes where one margin holds for all, else no effect alone", () => {
  const rows = [{ scale: "ratio", better: "lower", margin: 0.03 }] as const;
  assert.deepEqual(forestTicks([-2, 2], rows).map(([, text]) => text), ["−5%", "−2.5%", "0%", "+2.5%", "+5%"]);
  const [first] = forestTicks([-2, 2], rows);
  assert.ok(first && first[0] > 1.7 && first[0] < 1.8, "a lower cost stands to the right");
  const wide = [{ scale: "ratio", better: "lower", margin: 0.1 }] as const;
  assert.deepEqual(forestTicks([-25, 25], wide).map(([, text]) => text), ["÷ 8", "÷ 4", "÷ 2", "× 1", "× 2", "× 4", "× 8"]);
  const [least] = forestTicks([-25, 25], wide);
  assert.ok(least && least[0] > 20, "an eighth of a latency stands far to the right");
  const far = forestTicks([-85, 85], wide).map(([, text]) => text);
  assert.deepEqual(far, ["÷ 1,000", "÷ 100", "÷ 10", "× 1", "× 10", "× 100", "× 1,000"]);
  const mixed = [...rows, { scale: "difference", better: "lower", margin: 0.001 }] as const;
  assert.deepEqual(forestTicks([-2, 2], mixed).map(([, text]) => text), ["no effect"]);
});
