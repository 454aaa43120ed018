// What came of each operation, where a load has several.

import { bytes, count, duration, percent, rate } from "../number.ts";
import type { Run } from "../record/decode.ts";
import type { LatencySummary, OperationSummary } from "../record/types.ts";
import { numbers, Table } from "./Table.tsx";

const HEADS = ["operation", ...numbers(["requests", "share", "not ok", "goodput", "p50", "p90", "p99", "received"])];

/** Shown where there were conditional requests. */
const NOT_MODIFIED = numbers(["304"]);

export function Operations({ run }: { run: Run }) {
  const { operations = [], response_time_ns } = run.payload.analysis;
  const sent = operations.reduce((sum, operation) => sum + operation.counts.sent, 0);
  const hasUnmodified = operations.some((operation) => operation.not_modified_count > 0);
  const felt = response_time_ns.count > 0 ? "response time" : "service time";
  return (
    <>
      <p class="quiet">Latency is {felt}, of requests that were answered as expected, and of what was given up.</p>
      <Table label="Operations" stacks heads={hasUnmodified ? [...HEADS, ...NOT_MODIFIED] : HEADS}>
        {operations.map((operation, position) => (
          <Row operation={operation} sent={sent} hasUnmodified={hasUnmodified} key={position} />
        ))}
      </Table>
    </>
  );
}

function Row({ operation, sent, hasUnmodified }: { operation: OperationSummary; sent: number; hasUnmodified: boolean }) {
  const { counts, latency } = operation;
  const cells = [
    count(counts.sent),
    percent(counts.sent / Math.max(sent, 1)),
    count(counts.failed + counts.timed_out + counts.unsent),
    rate(operation.goodput_hz),
    value(latency, latency.p50),
    value(latency, latency.p90),
    value(latency, latency.p99),
    bytes(operation.received_bytes),
    ...(hasUnmodified ? [count(operation.not_modified_count)] : []),
  ];
  return (
    <tr>
      <th scope="row">
        <code>{operation.name}</code>
      </th>
      {cells.map((cell, position) => (
        <td class="number" key={position}>
          {cell}
        </td>
      ))}
    </tr>
  );
}

function value(latency: LatencySummary, ns: number | null): string {
  if (ns === null) return "–";
  const isBound = latency.censored_min_ns !== null && ns >= latency.censored_min_ns;
  return isBound ? `≥ ${duration(ns)}` : duration(ns);
}
