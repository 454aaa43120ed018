// Rows of what was tried.

import assert from "node:assert/strict";
import { test } from "node:test";
import { proofRows } from "../../src/record/proofs.ts";
import type { FindingProof } from "../../src/record/types.ts";

const proof = (finding: string, run: string | null): FindingProof => ({
  finding,
  means: "change",
  tried: "",
  run,
  outcome: "undecided",
  sentence: "",
});

test("an experiment about two findings has one row, and what was not tried a row for each finding", () => {
  const rows = proofRows([proof("T01", "a"), proof("T04", "a"), proof("T04", "b"), proof("N17", null), proof("F04", null)]);
  assert.deepEqual(
    rows.map(({ findings, run }) => [findings, run]),
    [
      [["T01", "T04"], "a"],
      [["T04"], "b"],
      [["N17"], null],
      [["F04"], null],
    ],
  );
});
