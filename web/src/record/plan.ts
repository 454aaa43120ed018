// The parts of a plan that several views need.

import { count } from "../number.ts";
import type { LoadPlan, Objective, Plan } from "./types.ts";

export function loadOf(plan: Plan | null): LoadPlan | null {
  if (plan === null || "watch" in plan) return null;
  return "run" in plan ? plan.run.load : plan.load;
}

/** `64`, or `4 of 32 streams` where each connection carries several requests at a time. */
export function connectionsText(connections: number, load: LoadPlan | null): string {
  const streams = load?.wire?.http2?.streams;
  return streams === undefined ? count(connections) : `${count(connections)} with ${count(streams)} stream${streams === 1 ? "" : "s"}`;
}

/** The seed that sends the same load again. */
export function seedOf(plan: Plan | null): number | null {
  if (plan === null || "watch" in plan) return null;
  return "run" in plan ? plan.run.seed : plan.load.seed;
}

/** What a rate had to meet; `null` of a load that has no objective. */
export function objectiveOf(plan: Plan | null): Objective | null {
  return plan !== null && "run" in plan ? plan.run.objective : (loadOf(plan)?.objective ?? null);
}

/** The percentile of the objective as it is called: `p99`, `p99.9`. */
export function percentileName(ratio: number): string {
  return `p${Number((ratio * 100).toFixed(4))}`;
}
