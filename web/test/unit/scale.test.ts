import assert from "node:assert/strict";
import { test } from "node:test";
import { binaryTicks, linear, linearTicks, log, logDomain, logTicks } from "../../src/chart/scale.ts";
import { around, Atom } from "../../src/state/view.ts";

test("scales map their domain onto their range", () => {
  const x = linear([10, 20], [0, 100]);
  assert.deepEqual([x(10), x(15), x(20)], [0, 50, 100]);
  const y = log([1, 100], [200, 0]);
  assert.deepEqual([y(1), y(10), y(100)], [200, 100, 0]);
  assert.equal(linear([5, 5], [0, 10])(5), 0);
});

test("marks are round and within the domain", () => {
  assert.deepEqual(linearTicks([0, 100], 4), [0, 25, 50, 75, 100]);
  assert.deepEqual(linearTicks([2_060, 5_250], 3), [3_000, 4_000, 5_000]);
  assert.deepEqual(linearTicks([0, 0], 4), [0]);
  assert.deepEqual(linearTicks([0, NaN], 4), [0]);
  assert.deepEqual(logTicks([0.9, 12]), [1, 2, 5, 10]);
  assert.deepEqual(logTicks([1e3, 1e9]), [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
  assert.deepEqual(binaryTicks([0, 25 * 1024 ** 2], 3).map((tick) => tick / 1024 ** 2), [0, 10, 20]);
});

test("a logarithmic domain has no zero in it", () => {
  assert.deepEqual(logDomain([0, 10, 1000], 2), [5, 2000]);
  assert.deepEqual(logDomain([0, NaN], 2), [1, 10]);
});

test("the window around pointed-at seconds stays within the run", () => {
  assert.deepEqual(around([20, 30], [0, 60]), [14, 36]);
  assert.deepEqual(around([0.5, 1], [0, 60]), [0, 3]);
});

test("an atom tells its listeners until they leave", () => {
  const atom = new Atom({ a: 1, b: 2 });
  const seen: number[] = [];
  const leave = atom.subscribe(() => seen.push(atom.get().a));
  atom.set({ a: 5 });
  leave();
  atom.set({ a: 6 });
  assert.deepEqual(seen, [5]);
  assert.deepEqual(atom.get(), { a: 6, b: 2 });
});
