// What outsiders saw: what each target lost and waited, and the windows of time in which probes were lost, with who saw them and
// who did not.

import { chosenDuration, count, duration, percent } from "../number.ts";
import type { Run } from "../record/decode.ts";
import type { LossWindow, ProbeConclusion, ProbedSummary, Sight } from "../record/probes.ts";
import { Cell } from "./Latency.tsx";
import { numbers, Table } from "./Table.tsx";
import { Seconds } from "./words.tsx";

export function ProbedTargets({ probes }: { probes: ProbeConclusion }) {
  return (
    <>
      <Table label="Probed targets" class="percentiles" stacks heads={["target", ...numbers(["sent", "lost", "windows", "p50", "p90", "p99", "max"])]}>
        {probes.targets.map((target) => (
          <TargetRow key={target.name} target={target} />
        ))}
      </Table>
      <p class="quiet measure">
        Small print below a percentile: 95% interval. “–”: fewer than ten probes lie beyond that percentile. “≥”: a lower bound, because
        probes that timed out took at least that long; failed ones are in no percentile. The greatest time is that of an answer.
      </p>
    </>
  );
}

function TargetRow({ target }: { target: ProbedSummary }) {
  const summary = target.response_time_ns;
  const lost = lostOf(target);
  return (
    <tr>
      <th scope="row">
        {target.name}{" "}
        <span class="quiet">
          {target.kind} {target.name === target.url ? "" : `to ${target.url} `}every {chosenDuration(target.interval_ns)}
        </span>
      </th>
      <td class="number">{count(target.sent_count)}</td>
      <td class="number">
        {count(lost)}
        {lost > 0 && target.lost_ratio !== null && <span class="interval-text">{percent(target.lost_ratio)}</span>}
      </td>
      <td class="number">{count(target.windows_count)}</td>
      <Cell summary={summary} value={summary.p50} interval={summary.p50_interval} />
      <Cell summary={summary} value={summary.p90} interval={summary.p90_interval} />
      <Cell summary={summary} value={summary.p99} interval={summary.p99_interval} />
      <td class="number">{target.max_ns === null ? "–" : duration(target.max_ns)}</td>
    </tr>
  );
}

function lostOf(target: ProbedSummary): number {
  return target.timed_out_count + target.failed_count + target.unsent_count;
}

export function LossWindows({ run, probes }: { run: Run; probes: ProbeConclusion }) {
  if (probes.windows.length === 0) return <p class="quiet">No probe was lost.</p>;
  const more = probes.windows_count - probes.windows.length;
  return (
    <>
      <Table label="When probes were lost, and by which targets" stacks heads={["from (UTC)", { number: "length" }, "lost", "not seen by", "can't tell", "seconds"]}>
        {probes.windows.map((window, place) => (
          <tr key={place}>
            <th scope="row">{clockOf(run, window)}</th>
            <td class="number">{duration(window.end_mono_ns - window.begin_mono_ns)}</td>
            <td>{seenBy(probes, window, "lost")}</td>
            <td>{seenBy(probes, window, "clear")}</td>
            <td>{seenBy(probes, window, "too_few")}</td>
            <td>
              <Seconds run={run} begin={window.begin_mono_ns} end={window.end_mono_ns} column={null} />
            </td>
          </tr>
        ))}
      </Table>
      {more > 0 && <p class="quiet">And {count(more)} more.</p>}
      <p class="quiet measure">
        A target saw a window if it lost a probe in it. It did not see it if it lost none, and would have lost some with 95% certainty, had
        it lost the share of the worst target (lower end of its 95% interval). Otherwise, it sent too few probes to tell.
      </p>
    </>
  );
}

function clockOf(run: Run, window: LossWindow): string {
  return run.wallClock(run.seconds(window.begin_mono_ns)).toISOString().slice(11, 23);
}

function seenBy(probes: ProbeConclusion, window: LossWindow, sight: Sight): string {
  const named = window.targets.flatMap((share, place) => {
    const name = probes.targets[place]?.name;
    return share.sight === sight && name !== undefined ? [`${name} ${count(share.lost_count)} of ${count(share.sent_count)}`] : [];
  });
  return named.length > 0 ? named.join(", ") : "–";
}
