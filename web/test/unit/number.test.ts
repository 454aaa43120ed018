import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as number from "../../src/number.ts";

/** Written by crates/report/tests/numbers.rs: terminal and page must write the same. */
const VECTORS = JSON.parse(readFileSync("../crates/report/tests/golden/numbers.json", "utf8")) as Record<
  string,
  { input: number[]; text: string }[]
>;

const WRITERS: Record<string, (...input: number[]) => string> = {
  count: number.count,
  scaled: number.scaled,
  duration: number.duration,
  rate: number.rate,
  percent: number.percent,
  bytes: number.bytes,
  span: number.span,
  rate_interval: (rate, low, high) => {
    const written = number.rateInterval(rate, low, high);
    return `${written.rate} (${written.low}–${written.high})`;
  },
};

for (const [name, vectors] of Object.entries(VECTORS)) {
  test(`${name} is written as on the terminal`, () => {
    const write = WRITERS[name];
    assert.ok(write, `no writer for ${name}`);
    assert.ok(vectors.length > 3);
    for (const { input, text } of vectors) assert.equal(write(...input), text, `${name} of ${input.join(", ")}`);
  });
}

test("marks of an axis carry no digits that say nothing", () => {
  const check = (value: number, unit: string, text: string) => assert.equal(number.onAxis(value, unit), text);
  check(50_000_000, "ns", "50 ms");
  check(1_500, "ns", "1.5 µs");
  check(100_000_000, "ns", "100 ms");
  check(10 * 1024 * 1024, "bytes", "10 MiB");
  check(0, "bytes", "0");
  check(50, "%", "50%");
  check(2_000, "/s", "2,000");
  check(25_000, "/s", "25 k");
  check(1_500_000, "/s", "1.5 M");
  check(0.5, "count", "0.5");
});

test("values under the cursor carry their unit", () => {
  const check = (value: number, unit: string, text: string) => assert.equal(number.inUnit(value, unit), text);
  check(65_536, "count", "65,536");
  check(2.5, "count", "2.500");
  check(5_242_880, "bytes/s", "5.00 MiB/s");
  check(98.61, "%", "98.6%");
  check(12.345, "/s", "12.3/s");
  check(3, "ratio", "3.000 ratio");
});

test("an objective is spaced for reading", () => {
  assert.equal(number.objective("p99<50ms"), "p99 < 50 ms");
  assert.equal(number.objective("p99.9 < 1.5s"), "p99.9 < 1.5 s");
  assert.equal(number.objective("nothing"), "nothing");
  assert.equal(number.chosenDuration(50_000_000), "50 ms");
});
