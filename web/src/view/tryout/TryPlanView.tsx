// What was planned, with every default filled in, and what the pilot settled.

import { chosenDuration as duration, percent, rate } from "../../number.ts";
import { marginText } from "../../record/effect.ts";
import { actionText, type Tryout, type TryPlan, loadOfTryout, type Settled } from "../../record/tryout.ts";
import { loadRows, requestRows, type Row, Rows, searchRows } from "../Plan.tsx";
import { Copyable } from "../words.tsx";

export function TryPlanView({ tryout }: { tryout: Tryout }) {
  const { plan, settled } = tryout.payload;
  if (plan === null) return <p class="quiet">The record has no plan.</p>;
  const load = loadOfTryout(plan);
  return (
    <>
      <Rows title="Experiment" rows={tryoutRows(tryout, plan)} />
      {settled && <Rows title="Set by the pilot" rows={settledRows(settled)} />}
      {plan.workload !== "commands" && "capacity" in plan.workload && <Rows title="Search" rows={searchRows(plan.workload.capacity)} />}
      {load && <Rows title="Load" rows={loadRows(load)} />}
      {load && <Rows title="Request" rows={requestRows(load)} />}
      <details>
        <summary>The whole plan as JSON</summary>
        <Copyable text={JSON.stringify(plan, null, 2)} label="Plan as JSON" />
      </details>
    </>
  );
}

function tryoutRows(tryout: Tryout, plan: TryPlan): Row[] {
  const { metric } = tryout;
  const guardrails = plan.guardrails.map(({ metric: name, margin }) => {
    const { title, scale } = tryout.metricOf(name);
    return `${title} by ${marginText(margin, scale)}`;
  });
  return [
    ...plan.variants.map(({ name, action }): Row => [name, actionText(action)]),
    ["metric", `${metric.title}, ${metric.better} is better`],
    ["smallest effect that matters", marginText(plan.effect_ratio, metric.scale)],
    ["may get worse", guardrails.join(", ") || "no guardrails"],
    ["pairs", `${plan.pairs.min_count} to ${plan.pairs.max_count} per comparison`],
    ["budget", duration(plan.budget)],
    ["offered", rateText(plan.rate)],
    ["window", plan.window === 0 ? "as long as the command takes" : duration(plan.window)],
    ["warm-up", plan.warmup === null ? "set by the pilot" : duration(plan.warmup)],
    ...(plan.limits ? [["discarded above", limitsText(plan.limits)] satisfies Row] : []),
    ["kept if proven", plan.keeps_better ? "yes" : "no"],
    ["sampling", `${plan.sampling_hz} readings per second`],
    ["seed", String(plan.seed)],
  ];
}

function rateText(planned: TryPlan["rate"]): string {
  if (planned === "closed") return "closed loop";
  if (planned === "not_applicable") return "no fixed rate";
  return "fixed" in planned ? rate(planned.fixed) : `${percent(planned.share_of_pilot)} of the pilot’s rate`;
}

function limitsText(limits: NonNullable<TryPlan["limits"]>): string {
  if (limits.steal_ratio >= 1 && limits.foreign_ratio >= 1) return "no limit (noisy host accepted)";
  return (
    `hypervisor ${percent(limits.steal_ratio)} of the CPU time or ${percent(limits.steal_difference_ratio)} between the trials of a pair, ` +
    `others ${percent(limits.foreign_ratio)} or ${percent(limits.foreign_difference_ratio)}`
  );
}

function settledRows(settled: Settled): Row[] {
  return [
    ["pilot completed", settled.pilot_hz === null ? "no pilot" : rate(settled.pilot_hz)],
    ["offered rate", settled.rate_hz === null ? "none" : rate(settled.rate_hz)],
    ["warm-up", duration(settled.warmup)],
    ["window", settled.window === 0 ? "as long as the command takes" : duration(settled.window)],
    ["whole trial", duration(settled.trial)],
    ["plan.json", `SHA-256 ${settled.plan_sha256}`],
  ];
}
