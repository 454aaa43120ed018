// What each host had of a load that several send together.

import { count, duration, percent, rate } from "../number.ts";
import type { GeneratorShare } from "../record/types.ts";
import { numbers, Table } from "./Table.tsx";

const HEADS = ["host", ...numbers(["connections", "requests", "share", "not ok", "goodput", "late, p99", "busiest thread", "clock"])];

export function Hosts({ shares }: { shares: GeneratorShare[] }) {
  const sent = shares.reduce((sum, { measured }) => sum + measured.counts.sent, 0);
  return (
    <>
      <p class="quiet">All of them began at one instant. Their counts and histograms are merged in all that is shown elsewhere on this page.</p>
      <Table label="Hosts that sent the load" stacks heads={HEADS}>
        {shares.map((share, position) => (
          <Row share={share} sent={sent} key={position} />
        ))}
      </Table>
    </>
  );
}

function Row({ share, sent }: { share: GeneratorShare; sent: number }) {
  const { counts, goodput_hz, latency } = share.measured;
  const late = latency.loop_slip?.p99 ?? latency.loop_slip?.max ?? null;
  const cells = [
    count(share.connections),
    count(counts.sent),
    percent(counts.sent / Math.max(sent, 1)),
    count(counts.failed + counts.timed_out + counts.unsent),
    rate(goodput_hz),
    late === null ? "–" : duration(late),
    percent(share.generator.busiest_thread_ratio),
    share.clock.is_same_clock ? "same clock" : `± ${duration(share.clock.uncertainty_ns)}`,
  ];
  return (
    <tr>
      <th scope="row">
        <code>{share.name}</code>
        {share.lost !== undefined && ` was lost: ${share.lost}`}
      </th>
      {cells.map((cell, position) => (
        <td class="number" key={position}>
          {cell}
        </td>
      ))}
    </tr>
  );
}
