// What was planned, with every default filled in.

import { bytes, chosenDuration as duration, count, percent, rate } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { connectionsText, loadOf, percentileName } from "../record/plan.ts";
import type { LoadPlan, PhasePlan, RunPlan } from "../record/types.ts";
import { Copyable } from "./words.tsx";

export type Row = [name: string, value: string];

export function PlanView({ run }: { run: Run }) {
  const { plan } = run.payload;
  const load = loadOf(plan);
  if (plan === null || load === null) return <p class="quiet">The record holds no plan.</p>;
  return (
    <>
      {"run" in plan && <Rows title="Search" rows={searchRows(plan.run)} />}
      <Rows title="Load" rows={loadRows(load)} />
      <Rows title="Request" rows={requestRows(load)} />
      <details>
        <summary>The whole plan as JSON</summary>
        <Copyable text={JSON.stringify(plan, null, 2)} label="Plan as JSON" />
      </details>
    </>
  );
}

export function Rows({ title, rows }: { title: string; rows: Row[] }) {
  return (
    <>
      <h3>{title}</h3>
      <dl class="plan">
        {rows.map(([name, value], position) => (
          <div key={position}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

export function searchRows(plan: RunPlan): Row[] {
  const { objective, search } = plan;
  const method =
    search.method === "offered_rate" ? "the highest offered rate that meets the objective" : `closed loop over ${search.method.connections.join(", ")} connections`;
  return [
    [
      "objective",
      `${percentileName(objective.percentile_ratio)} < ${duration(objective.limit)}, achieved ≥ ${percent(objective.min_achieved_ratio)} of offered, errors ≤ ${percent(objective.max_error_ratio)}`,
    ],
    ["search for", method],
    ["windows", `probe ${duration(search.probe)}, measured ${duration(search.window)}, warm-up ${duration(search.warmup)}`],
    ["grid", `${search.grid_rates} rates × ${search.grid_replicates}`],
    ["certification", search.certify_passes === 0 ? "none" : `${search.certify_passes} fresh passes`],
    ["ceiling", search.max_rate_hz === null ? "none" : rate(search.max_rate_hz)],
    ["sampling", `${plan.sampling_hz} readings per second`],
    ["seed", String(plan.seed)],
  ];
}

export function loadRows(load: LoadPlan): Row[] {
  const arrival = { closed: "closed: each connection waits for its response", constant: "open, equal gaps", poisson: "open, exponential gaps (Poisson)", trace: "open, with the timing of an access log", sessions: "users that walk over operations" };
  const { deadlines, hard_stops } = load;
  return [
    ["arrival", arrival[load.arrival]],
    ["connections", connectionsText(load.connections, load)],
    ...wireRows(load),
    ["keep-alive", load.keep_alive === "unlimited" ? "until the end" : `${count(load.keep_alive.requests)} requests per connection`],
    ["phases", load.phases.map(phaseText).join(", then ") || "chosen by the search"],
    ["deadlines", `total ${duration(deadlines.total)}, connect ${duration(deadlines.connect)}, idle ${duration(deadlines.idle)}, drain ${duration(deadlines.drain)}`],
    [
      "hard stops",
      [
        hard_stops.connect_failures_in_a_row !== null && `${count(hard_stops.connect_failures_in_a_row)} connection failures in a row`,
        hard_stops.failure_ratio !== null && `${percent(hard_stops.failure_ratio)} failures`,
      ]
        .filter(Boolean)
        .join(", ") || "none",
    ],
    ["threads", count(load.threads)],
    ["seed", String(load.seed)],
  ];
}

/** What is spoken, where it is not HTTP/1.1 over a plain socket. */
function wireRows({ wire }: LoadPlan): Row[] {
  const rows: Row[] = [];
  if (wire?.http2) rows.push(["protocol", "HTTP/2"]);
  if (wire?.memcached) {
    const { dialect, get_ratio, keys_per_get, keys_count, is_verified } = wire.memcached;
    const gets = `${percent(get_ratio)} gets of ${keys_per_get === 1 ? "a key" : `${count(keys_per_get)} keys`}, the rest sets`;
    rows.push(["protocol", `memcached, ${dialect} commands`], ["operations", gets], ["keys", count(keys_count)]);
    rows.push(["values", is_verified ? "verified for each key" : "not verified"]);
  }
  if (wire?.tls) {
    const { server_name, version, resume_ratio, is_insecure } = wire.tls;
    const checked = is_insecure ? "certificate not verified" : `certificate of ${server_name}`;
    rows.push(["TLS", `${version ?? "1.2 or 1.3"}, ${percent(resume_ratio)} of the connections resumed, ${checked}`]);
  }
  return rows;
}

function phaseText(phase: PhasePlan): string {
  const words = { warmup: "warm-up", step: "step", steady: "steady", drain: "drain", ramp_down: "ramp-down" };
  const length = "after" in phase.end ? duration(phase.end.after) : `${count(phase.end.requests)} requests`;
  return `${words[phase.kind]} ${length}${phase.rate_hz === null ? "" : ` at ${rate(phase.rate_hz)}`}`;
}

export function requestRows(load: LoadPlan): Row[] {
  const { target, request, validators } = load;
  const endpoint = "tcp" in target.endpoint ? target.endpoint.tcp : `unix:${target.endpoint.unix}`;
  const checks = [
    `status ${validators.statuses.length === 0 ? "200–399" : validators.statuses.join(", ")}`,
    validators.body_bytes !== null && `body of ${count(validators.body_bytes)} bytes`,
    validators.header !== null && `header ${validators.header.name}${validators.header.value === null ? "" : `: ${validators.header.value}`}`,
    validators.body_contains !== null && `body contains “${validators.body_contains}”`,
    validators.same_body && "identical bodies",
  ];
  return [
    ["target", `${request.method} ${target.url}`],
    ["address", endpoint],
    ["path", target.path],
    ["host", target.host],
    ...request.headers.map(({ name, value }): Row => ["header", `${name}: ${value}`]),
    ["body", request.body_bytes === 0 ? "none" : bytes(request.body_bytes)],
    ["valid if", checks.filter(Boolean).join(", ")],
    ["largest response", bytes(load.max_body)],
  ];
}
