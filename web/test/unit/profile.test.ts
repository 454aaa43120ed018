import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFunctions, direction, isComparable } from "../../src/record/difference.ts";
import { byTier } from "../../src/record/parts.ts";
import { differenceTree, type FrameKind, flameBoxes, flameTree, groupsOf, matching, type Profile } from "../../src/record/profile.ts";

const frame = (name: string, kind: FrameKind = "user") => ({ name, object: `${name}.so`, kind, is_resolved: true });
const stack = (process: number, frames: number[], count: number) => ({ process, frames, count, value_ns: count * 10 });

const profile: Profile = {
  kind: "on-cpu",
  scope_pids: [],
  begin_mono_ns: 0,
  end_mono_ns: 1e9,
  rate_hz: 99,
  cpus_count: 2,
  counts: {
    samples_count: 100,
    lost_count: 0,
    beyond_bound_count: 0,
    frames_count: 250,
    resolved_frames_count: 250,
    user_stacks_count: 100,
    cut_stacks_count: 0,
  },
  requests_count: null,
  cost: { sampling_cpu_ns: 0, naming_cpu_ns: 0 },
  processes: [
    { pid: 1, name: "web" },
    { pid: 2, name: "web" },
    { pid: 3, name: "db" },
  ],
  frames: [frame("main"), frame("parse"), frame("read", "kernel")],
  stacks: [stack(0, [0, 1], 40), stack(1, [0, 1, 1], 10), stack(2, [0, 2], 30), stack(0, [0], 20)],
};

test("stacks that begin alike share their frames, across processes of one name", () => {
  const root = flameTree(profile, null);
  assert.deepEqual([root.value, root.count], [1000, 100]);
  assert.deepEqual(root.children.map(({ name, value }) => [name, value]), [["web", 700], ["db", 300]]);
  const main = root.children[0]?.children[0];
  assert.deepEqual([main?.name, main?.value, main?.self], ["main", 700, 200]);
  assert.deepEqual([main?.children[0]?.value, main?.children[0]?.self], [500, 400]);
});

test("a program can be seen alone, and what it weighs among all", () => {
  assert.deepEqual(flameTree(profile, "db").children.map(({ name }) => name), ["db"]);
  assert.equal(flameTree(profile, "no such").value, 0);
  assert.deepEqual(groupsOf(profile), [{ name: "web", ratio: 0.7 }, { name: "db", ratio: 0.3 }]);
});

test("stacks are put under the tiers of a server that has several, and below those under programs", () => {
  const watched = (pid: number, command: string, role: "target" | "generator", address?: { tcp: string }) =>
    ({ mono_ns: 0, event: { kind: "watched", pid, command, role, ...(address ? { tier: { address } } : {}) } }) as const;
  const front = [watched(1, "master", "target"), watched(2, "worker", "target")];
  assert.equal(byTier(front), null, "it has one tier");
  const tiers = byTier([...front, watched(3, "db", "target", { tcp: "127.0.0.1:3306" })]);
  assert.ok(tiers);
  const root = flameTree({ ...profile, processes: [...profile.processes, { pid: 9, name: "web" }], stacks: [...profile.stacks, stack(3, [0], 10)] }, null, tiers);
  assert.deepEqual(root.children.map(({ name, value }) => [name, value]), [["master", 700], ["db at 127.0.0.1:3306", 300], ["others", 100]]);
  assert.deepEqual(root.children.map(({ children }) => children.map(({ name }) => name)), [["web"], ["db"], ["web"]]);
  assert.deepEqual(groupsOf(profile, tiers)[1], { name: "db at 127.0.0.1:3306", ratio: 0.3 });
});

test("boxes lie below their callers, and what is too narrow is left out", () => {
  const root = flameTree(profile, null);
  const boxes = flameBoxes(root, 0.25);
  assert.deepEqual(
    boxes.map(({ node, x, width, depth }) => [node.name, x, width, depth]),
    [
      ["all", 0, 1, 0],
      ["web", 0, 0.7, 1],
      ["db", 0.7, 0.3, 1],
      ["main", 0, 0.7, 2],
      ["main", 0.7, 0.3, 2],
      ["parse", 0, 0.5, 3],
      ["read", 0.7, 0.3, 3],
    ],
  );
  const zoomed = root.children[1];
  assert.ok(zoomed);
  assert.deepEqual(
    flameBoxes(zoomed, 0.01).map(({ node, width, isAbove }) => [node.name, width, isAbove]),
    [["all", 1, true], ["db", 1, false], ["main", 1, false], ["read", 1, false]],
  );
});

test("a search counts each stack once, by function or file", () => {
  const root = flameTree(profile, null);
  assert.equal(matching(root, "PARSE"), 500);
  assert.equal(matching(root, "main"), 1000);
  assert.equal(matching(root, "read.so"), 300);
  assert.equal(matching(root, ""), 0);
});

/** The same stacks with other counts, and responses to divide by. */
const loaded = (counts: number[], responses: number): Profile => ({
  ...profile,
  requests_count: responses,
  stacks: profile.stacks.map((each, position) => stack(each.process, each.frames, counts[position] ?? 0)).filter(({ count }) => count > 0),
});

test("a difference is per response: twice the samples for twice the responses are none", () => {
  const root = differenceTree(loaded([80, 20, 60, 40], 20), loaded([40, 10, 30, 20], 10), null);
  assert.deepEqual([root.value, root.before.value, root.count, root.before.count], [100, 100, 200, 100]);
  const all = (node: typeof root): (typeof root)[] => [node, ...node.children.flatMap(all)];
  assert.deepEqual(new Set(all(root).map(direction)), new Set(["same"]));
  assert.deepEqual(changedFunctions(loaded([80, 20, 60, 40], 20), loaded([40, 10, 30, 20], 10)), []);
});

test("a difference beyond chance has a direction, and one within it has none", () => {
  const [now, before] = [loaded([400, 0, 34, 20], 10), loaded([40, 0, 30, 20], 10)];
  const web = differenceTree(now, before, "web").children[0];
  assert.ok(web);
  assert.equal(direction(web), "more");
  const db = differenceTree(now, before, "db").children[0];
  assert.ok(db);
  assert.equal(direction(db), "same");
  const [changed, ...others] = changedFunctions(now, before);
  assert.deepEqual([changed?.name, changed?.self, changed?.before, others.length], ["parse", 400, 40, 0]);
  assert.equal(changedFunctions(before, now)[0]?.self, 40);
});

test("what only one of two profiles has is seen, if it is more than chance", () => {
  const [now, before] = [loaded([0, 0, 30, 20], 10), loaded([40, 0, 30, 20], 10)];
  assert.deepEqual(changedFunctions(now, before).map(({ name, self }) => [name, self]), [["parse", 0]]);
  assert.deepEqual(changedFunctions(loaded([3, 0, 30, 20], 10), loaded([0, 0, 30, 20], 10)), []);
});

test("profiles are held against each other only where responses were counted and CPU time was sampled", () => {
  assert.equal(isComparable(loaded([1], 1), loaded([1], 1)), true);
  assert.equal(isComparable(loaded([1], 0), loaded([1], 1)), false);
  assert.equal(isComparable(profile, loaded([1], 1)), false);
  assert.equal(isComparable({ ...loaded([1], 1), kind: "off-cpu" }, loaded([1], 1)), false);
  assert.equal(isComparable({ ...loaded([1], 1), event: "cycles" }, loaded([1], 1)), false);
});
