// What changed from one profile to another, per response of the load, and whether it is more than chance.
//
// Samples are counted events: of n samples, the standard error is the root of n (Poisson). A difference is told from chance
// beyond three standard errors of it, since there are hundreds of frames.

import { countedEvent, type FlameNode, type Profile, weightOf } from "./profile.ts";

/** Standard errors from which a difference counts. */
const ERRORS_MIN = 3;

export type Direction = "more" | "less" | "same";

/** Whether two profiles can be held against each other: both are of CPU time, and of a load that was counted. */
export function isComparable(profile: Profile, before: Profile): boolean {
  return [profile, before].every((each) => each.kind === "on-cpu" && countedEvent(each) === null && (each.requests_count ?? 0) > 0);
}

/** What a frame took more or less per response than before. */
export function direction({ value, count, before }: FlameNode): Direction {
  return isBeyondChance(value, count, before.value, before.count) ? (value > before.value ? "more" : "less") : "same";
}

function isBeyondChance(value: number, count: number, beforeValue: number, beforeCount: number): boolean {
  // What was not seen at all is known to a sample of the other, at best.
  const each = count > 0 ? value / count : 0;
  const beforeEach = beforeCount > 0 ? beforeValue / beforeCount : 0;
  const variance = (each || beforeEach) ** 2 * Math.max(count, 1) + (beforeEach || each) ** 2 * Math.max(beforeCount, 1);
  return variance > 0 && Math.abs(value - beforeValue) > ERRORS_MIN * Math.sqrt(variance);
}

/** A function of a program, wherever it was called from. Unit: nanoseconds per response, of its own. */
export interface Changed {
  name: string;
  object: string;
  program: string;
  self: number;
  before: number;
}

interface Counted extends Changed {
  count: number;
  beforeCount: number;
}

/** The functions whose own time has changed beyond chance, the largest difference first. */
export function changedFunctions(profile: Profile, before: Profile): Changed[] {
  const found = new Map<string, Counted>();
  addFunctions(found, profile, (entry, value, count) => {
    entry.self += value;
    entry.count += count;
  });
  addFunctions(found, before, (entry, value, count) => {
    entry.before += value;
    entry.beforeCount += count;
  });
  const changed = [...found.values()].filter((entry) => isBeyondChance(entry.self, entry.count, entry.before, entry.beforeCount));
  return changed.sort((a, b) => Math.abs(b.self - b.before) - Math.abs(a.self - a.before));
}

function addFunctions(found: Map<string, Counted>, profile: Profile, add: (entry: Counted, value: number, count: number) => void): void {
  for (const stack of profile.stacks) {
    const frame = profile.frames[stack.frames.at(-1) ?? -1];
    const program = profile.processes[stack.process]?.name ?? "";
    if (!frame) continue;
    const key = `${program} ${frame.kind} ${frame.object} ${frame.name}`;
    const entry = found.get(key) ?? { name: frame.name, object: frame.object, program, self: 0, before: 0, count: 0, beforeCount: 0 };
    found.set(key, entry);
    add(entry, weightOf(stack) / Math.max(profile.requests_count ?? 0, 1), stack.count);
  }
}
