// The accounting of requests, failures by class, status codes, and what the generator measured of itself.

import { count, duration, percent, rate, significant } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { connectionsText, loadOf } from "../record/plan.ts";
import { Spoken } from "./Spoken.tsx";
import { Table } from "./Table.tsx";

export function Requests({ run }: { run: Run }) {
  const { analysis, trials } = run.payload;
  const { counts, rates } = analysis;
  const shown = trials.find((trial) => trial.trial === analysis.shown_trial);
  const terms: [string, number][] = [
    ["ok", counts.ok],
    ["failed", counts.failed],
    ["timed out", counts.timed_out],
    ["in flight at the end", counts.in_flight],
  ];
  return (
    <>
      <p class="quiet">
        Measured phases of trial {analysis.shown_trial}
        {trials.length > 1 && ` of ${trials.length}`}.
      </p>
      <p class="equation">
        <span class="term">
          <b>{count(counts.sent)}</b> sent
        </span>
        {terms.map(([name, value], position) => (
          <span class="term" key={name}>
            <i>{position === 0 ? "=" : "+"}</i> <b>{count(value)}</b> {name}
          </span>
        ))}
      </p>
      {counts.unsent > 0 && <p>{count(counts.unsent)} more were scheduled but never sent, for lack of a free connection.</p>}
      <dl class="facts-row">
        <div>
          <dt>offered</dt>
          <dd>{rates.offered_hz === null ? "closed loop" : rate(rates.offered_hz)}</dd>
        </div>
        <div>
          <dt>achieved</dt>
          <dd>{rate(rates.achieved_hz)}</dd>
        </div>
        <div>
          <dt>goodput</dt>
          <dd>{rate(rates.goodput_hz)}</dd>
        </div>
        {shown && (
          <div>
            <dt>connections</dt>
            <dd>
              {connectionsText(shown.connections, loadOf(run.payload.plan))}
              {shown.measured && `, ${count(shown.measured.connections_opened)} opened during the load`}
            </dd>
          </div>
        )}
        <Spoken run={run} />
      </dl>
      <Failures run={run} />
      {shown?.measured && <Statuses statuses={shown.measured.statuses} />}
      <Generator run={run} />
    </>
  );
}

function Failures({ run }: { run: Run }) {
  const { failures, analysis } = run.payload;
  if (failures.length === 0) return <p>No request failed.</p>;
  return (
    <Table label="Failures by class" stacks heads={["failure class", { number: "requests" }, { number: "of sent" }, "meaning"]}>
      {failures.map((failure) => (
        <tr key={failure.class}>
          <th scope="row">
            <code>{failure.class}</code>
          </th>
          <td class="number">{count(failure.count)}</td>
          <td class="number">{percent(failure.count / Math.max(analysis.counts.sent, 1))}</td>
          <td>
            {failure.meaning}
            {failure.is_generator && " Not the server's doing."}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Statuses({ statuses }: { statuses: Record<string, number> }) {
  const seen = Object.entries(statuses).filter(([, responses]) => responses > 0);
  if (seen.length === 0) return null;
  return (
    <p>
      Status codes:{" "}
      {seen.map(([status, responses], position) => (
        <span key={status}>
          {position > 0 && " · "}
          <b>{status}</b> {count(responses)}
        </span>
      ))}
    </p>
  );
}

function Generator({ run }: { run: Run }) {
  const { generator } = run.payload.analysis;
  const cpus = generator.cpus.map((cpu) => (cpu === null ? "not pinned" : `CPU ${cpu}`)).join(", ");
  return (
    <>
      <h3>Generator</h3>
      <dl class="facts-row">
        <div>
          <dt>threads</dt>
          <dd>
            {generator.threads} ({generator.io})
          </dd>
        </div>
        <div>
          <dt>pinned to</dt>
          <dd>{cpus}</dd>
        </div>
        <div>
          <dt>CPU time</dt>
          <dd>{significant(generator.cpu_seconds, 3)} s</dd>
        </div>
        <div>
          <dt>busiest thread</dt>
          <dd>{percent(generator.busiest_thread_ratio)} of a CPU</dd>
        </div>
        {generator.spin_seconds ? (
          <div>
            <dt>spinning before sends</dt>
            <dd>{significant(generator.spin_seconds, 3)} s of CPU</dd>
          </div>
        ) : null}
        {generator.spin_ended ? (
          <div>
            <dt>spinning stopped</dt>
            <dd>{generator.spin_ended}</dd>
          </div>
        ) : null}
        {generator.io_fallback ? (
          <div>
            <dt>io_uring not used</dt>
            <dd>{generator.io_fallback}</dd>
          </div>
        ) : null}
        <div>
          <dt>timer late by, p50 / p99</dt>
          <dd>
            {duration(generator.timer_error.p50_ns)} / {duration(generator.timer_error.p99_ns)}
          </dd>
        </div>
        <div>
          <dt>most requests waiting at once</dt>
          <dd>{count(generator.backlog_max)}</dd>
        </div>
      </dl>
    </>
  );
}
