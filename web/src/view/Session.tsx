// Simulated users: rules that were met or not, and every operation against its limit, its share and its cycle time.

import { chosenDuration, count, duration, percent, significant } from "../number.ts";
import type { Run } from "../record/decode.ts";
import type { SessionResult } from "../record/types.ts";
import { numbers, Table } from "./Table.tsx";

const HEADS = ["operation", ...numbers(["ops/s", "p90", "limit", "share", "planned", "mean cycle", "planned cycle", "failed", "unfinished"])];

export function Session({ run }: { run: Run }) {
  const session = run.payload.analysis.session;
  if (!session) return null;
  const met = session.rules.filter((rule) => rule.passed).length;
  return (
    <>
      <p class="sentence">
        <b>{session.passed ? "✔ passed" : "✘ failed"}</b>: {session.name} with{" "}
        {session.users > 0 ? `${count(session.users)} users` : "arriving sessions"},{" "}
        {significant(session.rate_hz, 4)} operations per second{session.planned_hz != null && ` of ${significant(session.planned_hz, 4)} planned`}, {met} of {session.rules.length} rules met.
      </p>
      <Operations session={session} />
      <Rules session={session} />
    </>
  );
}

function Operations({ session }: { session: SessionResult }) {
  const or = (ns: number | null) => (ns === null ? "–" : duration(ns));
  return (
    <Table label="Operations of the users" stacks heads={HEADS}>
      {session.operations.map(({ measured, mix_ratio, mix_target_ratio, limit }, position) => (
        <tr key={position}>
          <th scope="row">{measured.name}</th>
          {[
            significant(measured.rate_hz, 3),
            or(measured.latency.p90),
            limit === null ? "–" : `p${limit.percentile_ratio * 100} ${chosenDuration(limit.limit)}`,
            mix_ratio === null ? "–" : percent(mix_ratio),
            percent(mix_target_ratio),
            or(measured.cycle_actual_ns),
            or(measured.cycle_planned_ns),
            count(measured.failed_count),
            count(measured.unfinished_count),
          ].map((cell, column) => (
            <td class="number" key={column}>
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Rules({ session }: { session: SessionResult }) {
  return (
    <Table label="Rules" stacks heads={["rule", "met", "result"]}>
      {session.rules.map((rule, position) => (
        <tr key={position}>
          <th scope="row">
            <code>{rule.rule}</code>
          </th>
          <td>{rule.passed ? "✔ yes" : "✘ no"}</td>
          <td>{rule.sentence}</td>
        </tr>
      ))}
    </Table>
  );
}
