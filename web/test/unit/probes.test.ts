import assert from "node:assert/strict";
import { test } from "node:test";
import { panelsOf } from "../../src/chart/panels.ts";
import { runOfProbes } from "../../src/record/probed.ts";
import { PROBE_REPORT_SCHEMA, type ProbePayload } from "../../src/record/probes.ts";

const share = (lost_count: number, sight: "lost" | "clear") => ({ sent_count: 3, lost_count, sight });

/** Two targets, the second of which lost its second and third operation. */
function payload(): ProbePayload {
  const mono_ns = { deltas: [2e9, 1e9, 1e9, 1e9] };
  const answered = { deltas: [1e6, 0, 0, 1e6] };
  const partly = { deltas: [1e6, null, null, 1e6] };
  return {
    schema: PROBE_REPORT_SCHEMA,
    subject: "a, b",
    started_unix_ns: "0",
    clock: { mono_ns: 1e9, unix_ns: "0" },
    is_interrupted: false,
    damage: [],
    probes: {
      headline: "",
      targets: [],
      windows: [{ begin_mono_ns: 3e9, end_mono_ns: 5e9, targets: [share(0, "clear"), share(2, "lost")] }],
      windows_count: 1,
    },
    strips: [
      { name: "a", kind: "icmp", every: 1, mono_ns, low_ns: answered, p50_ns: answered, high_ns: answered, lost: { constant: 0 } },
      { name: "b", kind: "tcp", every: 1, mono_ns, low_ns: partly, p50_ns: partly, high_ns: partly, lost: { deltas: [0, 1, 0, -1] } },
    ],
  };
}

test("each target has a panel on the one time axis, with its losses as ticks", () => {
  const run = runOfProbes(payload());
  const { panels, silent } = panelsOf(run);
  assert.deepEqual(panels.map(({ title, seconds, lost }) => [title, seconds, lost]), [
    ["a", [1, 2, 3, 4], []],
    ["b", [1, 2, 3, 4], [2, 3]],
  ]);
  assert.deepEqual(panels[1]?.lines[0]?.values, [1e6, null, null, 2e6]);
  assert.equal(panels[1]?.note, "2 lost: ticks at the top");
  assert.deepEqual([run.losses, run.extent, silent], [[[2, 4]], [0, 4], []]);
});

test("a target that never answered still has a panel", () => {
  const all = payload();
  const nothing = { constant: null };
  all.strips = [{ name: "b", kind: "tcp", every: 1, mono_ns: { deltas: [2e9, 1e9] }, low_ns: nothing, p50_ns: nothing, high_ns: nothing, lost: { constant: 1 } }];
  const { panels } = panelsOf(runOfProbes(all));
  assert.deepEqual(panels.map(({ title, lost }) => [title, lost]), [["b", [1, 2]]]);
});

test("points that stand for several operations have a band from the least to the greatest", () => {
  const many = payload();
  const [first] = many.strips;
  if (first) many.strips = [{ ...first, every: 5 }];
  const [panel] = panelsOf(runOfProbes(many)).panels;
  assert.equal(panel?.lines[0]?.label, "median of 5");
  assert.deepEqual(panel?.lines[0]?.bounds, { low: [1e6, 1e6, 1e6, 2e6], high: [1e6, 1e6, 1e6, 2e6] });
});
