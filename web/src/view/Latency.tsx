// How long requests took: the distribution on a logarithmic axis, and the percentiles of every kind of time.

import { chosenDuration, count, duration, onAxis } from "../number.ts";
import { log, logDomain, logTicks } from "../chart/scale.ts";
import { useWidth } from "../chart/size.ts";
import type { Run } from "../record/decode.ts";
import { objectiveOf, percentileName } from "../record/plan.ts";
import type { Dependence, IntervalBasis, LatencySummary, ProbeSummary } from "../record/types.ts";
import { Axes, type Frame } from "./Axes.tsx";
import { Bands } from "./Bands.tsx";
import { LatencyOverTime } from "./LatencyOverTime.tsx";
import { numbers, Table } from "./Table.tsx";

export function Latency({ run }: { run: Run }) {
  const { analysis } = run.payload;
  const rows: [string, string, LatencySummary][] = [
    ["response time", "from the intended send to the last byte", analysis.response_time_ns],
    ["service time", "from the actual send to the last byte", analysis.service_time_ns],
    ["slip", "delay of the send", analysis.slip_ns],
    ["· loop slip", "caused by a late generator", analysis.loop_slip_ns],
    ["· pool slip", "caused by a lack of free connections", analysis.pool_slip_ns],
    ["first byte", "from the actual send to the first byte", analysis.first_byte_time_ns],
    ["connect", "to establish a connection", analysis.connect_time_ns],
    ...(analysis.handshake_time_ns ? [["handshake", "from connect to TLS established", analysis.handshake_time_ns] as [string, string, LatencySummary]] : []),
    ["failure", "from the intended send to the failure", analysis.failure_time_ns],
  ];
  const seen = rows.filter(([, , summary]) => summary.count > 0);
  const probes = probesOf(run);
  const shown = [...seen.map(([, , summary]) => summary), ...probes.map(({ summary }) => summary.response_time_ns)];
  const censored = shown.some((summary) => summary.censored_count > 0);
  const isOpen = analysis.response_time_ns.count > 0;
  return (
    <>
      <p class="quiet">
        Trial {analysis.shown_trial}, measured phases. {!isOpen && "A closed loop has no intended send times, so only service time is known."}
      </p>
      {run.heat && <LatencyOverTime run={run} />}
      {analysis.bands && <Bands run={run} bands={analysis.bands} />}
      {analysis.distribution.length > 1 && <Distribution run={run} kind={isOpen ? "response" : "service"} />}
      <Table label="Percentiles" class="percentiles" stacks heads={["time", ...numbers(["p50", "p90", "p95", "p99", "p99.9", "max", "mean", "count"])]}>
        {seen.map(([name, meaning, summary]) => (
          <tr key={name}>
            <th scope="row">
              {name} <span class="quiet">{meaning}</span>
            </th>
            <Cell summary={summary} value={summary.p50} interval={summary.p50_interval} />
            <Cell summary={summary} value={summary.p90} interval={summary.p90_interval} />
            <Cell summary={summary} value={summary.p95 ?? null} />
            <Cell summary={summary} value={summary.p99} interval={summary.p99_interval} />
            <Cell summary={summary} value={summary.p99_9} interval={summary.p99_9_interval} />
            <Cell summary={summary} value={summary.max} />
            <td class="number">{summary.mean === null ? "–" : duration(summary.mean)}</td>
            <td class="number">{count(summary.count)}</td>
          </tr>
        ))}
        {probes.map(({ name, summary }) => (
          <ProbeRow key={name} name={name} probe={summary} />
        ))}
      </Table>
      <p class="quiet measure">
        Small print below a percentile: 95% interval, widened by how much samples depend on each other in time; without it,
        that is not known. “–”: fewer than ten samples lie beyond that percentile.
        {censored && " “≥”: a lower bound, because requests that timed out, were in flight, or were never sent took at least that long."}
      </p>
      <Basis summary={isOpen ? analysis.response_time_ns : analysis.service_time_ns} kind={isOpen ? "response" : "service"} />
    </>
  );
}

/** The outsiders of the shown trial with what they are called; of an older record, the only one. */
function probesOf({ payload: { analysis } }: Run): { name: string; summary: ProbeSummary }[] {
  if (analysis.probes) return analysis.probes.targets.map((summary) => ({ name: summary.name, summary }));
  return analysis.probe ? [{ name: analysis.probe.kind, summary: analysis.probe }] : [];
}

/** What an outsider waited, and how often in vain. */
function ProbeRow({ name, probe }: { name: string; probe: ProbeSummary }) {
  const summary = probe.response_time_ns;
  const lost = probe.timed_out_count + probe.failed_count + probe.unsent_count;
  const all = probe.sent_count + probe.unsent_count;
  return (
    <tr>
      <th scope="row">
        probe ({name}){" "}
        <span class="quiet">
          outside the load, every {chosenDuration(probe.interval_ns)}; lost {count(lost)} of {count(all)}
        </span>
      </th>
      <Cell summary={summary} value={summary.p50} interval={summary.p50_interval} />
      <Cell summary={summary} value={summary.p90} interval={probe.p90_interval} />
      <Cell summary={summary} value={summary.p95 ?? null} />
      <Cell summary={summary} value={summary.p99} interval={summary.p99_interval} />
      <Cell summary={summary} value={summary.p99_9} />
      <Cell summary={summary} value={summary.max} />
      <td class="number">{summary.mean === null ? "–" : duration(summary.mean)}</td>
      <td class="number">{count(summary.count)}</td>
    </tr>
  );
}

/** What the intervals of the felt time rest on, or why there are none. */
function Basis({ summary, kind }: { summary: LatencySummary; kind: string }) {
  const basis = summary.interval_basis;
  if (!basis) return null;
  const rows: [string, Dependence | null][] = [
    ["p50", basis.p50],
    ["p90", basis.p90],
    ["p99", basis.p99],
    ["p99.9", basis.p99_9],
  ];
  return (
    <details class="basis">
      <summary>What the intervals of {kind} time rest on</summary>
      <ul>
        {rows.map(([name, found]) => (
          <li key={name}>
            {name}: {basisText(found, basis, summary)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function basisText(found: Dependence | null, basis: IntervalBasis, summary: LatencySummary): string {
  const windows = `${count(basis.windows_count)} windows of ${chosenDuration(basis.window_ns)}`;
  if (found === null) return `too few samples beyond it, or too few windows (${windows})`;
  const autocorrelation = `autocorrelation of the ${windows} ${found.autocorrelation_ratio.toFixed(2)}`;
  if (found.effective_count === null || found.batch_ns === null || found.batches_count === null) return `${autocorrelation}: too strong for an interval`;
  return `${count(summary.count)} samples are worth ${count(found.effective_count)} independent ones (${count(found.batches_count)} batches of ${chosenDuration(found.batch_ns)}, ${autocorrelation})`;
}

interface CellProps {
  summary: LatencySummary;
  value: number | null;
  interval?: [number, number] | null | undefined;
}

/** A percentile with its interval. */
export function Cell({ summary, value, interval = null }: CellProps) {
  if (value === null) return <td class="number">–</td>;
  const isBound = summary.censored_min_ns !== null && value >= summary.censored_min_ns;
  return (
    <td class="number">
      {isBound && "≥ "}
      {duration(value)}
      {interval && (
        <span class="interval-text">
          {duration(interval[0])}–{duration(interval[1])}
        </span>
      )}
    </td>
  );
}

const HEIGHT = 340;

/** A drawing with less room than this has short titles. Unit: pixels. */
const NARROW = 480;
const MARGIN = { left: 58, right: 18, top: 34, bottom: 44 };

/** Percentiles that are marked where the distribution reaches them. */
const MARKS: [ratio: number, label: string][] = [
  [0.5, "p50"],
  [0.9, "p90"],
  [0.99, "p99"],
  [0.999, "p99.9"],
  [0.9999, "p99.99"],
  [0.99999, "p99.999"],
];

/** Each decade of requests beyond a percentile takes the same width, so that the tail is as wide as the body. */
const beyond = (ratio: number) => 1 / Math.max(1 - ratio, 1e-9);

function Distribution({ run, kind }: { run: Run; kind: "response" | "service" }) {
  const [element, width] = useWidth<HTMLElement>();
  const { analysis, plan } = run.payload;
  const points = analysis.distribution.filter((point) => point.value_ns > 0 && point.ratio < 1);
  const summary = kind === "response" ? analysis.response_time_ns : analysis.service_time_ns;
  const objective = kind === "response" ? objectiveOf(plan) : null;
  const frame: Frame = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
  const last = points.at(-1)?.ratio ?? 0.9;
  const x = log([1, beyond(last) * 1.15], [frame.left, frame.right]);
  const values = points.map((point) => point.value_ns);
  const y = log(logDomain([...values, ...(objective ? [objective.limit] : [])], 1.25), [frame.bottom, frame.top]);
  const marks = MARKS.filter(([ratio]) => ratio <= last);
  const bound = summary.censored_min_ns;
  const path = (which: typeof points) => which.map(({ ratio, value_ns }, index) => `${index === 0 ? "M" : "L"}${x(beyond(ratio)).toFixed(1)},${y(value_ns).toFixed(1)}`).join("");
  const firm = bound === null ? points : points.filter((point) => point.value_ns < bound);
  const bounded = points.slice(Math.max(firm.length - 1, 0));
  const known: Record<string, number | null> = { p50: summary.p50, p90: summary.p90, p99: summary.p99, "p99.9": summary.p99_9 };
  const isLast = (ratio: number) => x(beyond(ratio)) > frame.right - 70;
  return (
    <>
      <figure ref={element} class="chart wide">
        {width > 0 && (
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Distribution of ${kind} time by percentile; values in the table below`}>
            <Axes
              frame={frame}
              x={x}
              y={y}
              xTicks={marks.map(([ratio, label]) => [beyond(ratio), label])}
              yTicks={logTicks(y.domain).map((tick) => [tick, onAxis(tick, "ns")])}
              xTitle={width < NARROW ? "percentile (log)" : "percentile (log scale of the tail)"}
              yTitle={`${kind} time (log), lower is better`}
            />
            {objective && (
              <g class="objective">
                <line x1={frame.left} x2={frame.right} y1={y(objective.limit)} y2={y(objective.limit)} />
                <text x={frame.left + 6} y={y(objective.limit) + (y(objective.limit) < frame.top + 22 ? 16 : -7)}>
                  objective: {percentileName(objective.percentile_ratio)} &lt; {chosenDuration(objective.limit)}
                </text>
              </g>
            )}
            <path class="distribution" d={path(firm)} />
            {bounded.length > 1 && bound !== null && <path class="distribution bounded" d={path(bounded)} />}
            {marks.map(([ratio, label]) => {
              const value = known[label];
              return value === undefined || value === null ? null : (
                <g key={label} class="quantile">
                  <circle cx={x(beyond(ratio))} cy={y(value)} r={4} />
                  <text x={x(beyond(ratio)) + (isLast(ratio) ? 0 : 9)} y={y(value) + 19} text-anchor={isLast(ratio) ? "middle" : "start"}>
                    {bound !== null && value >= bound && "≥ "}
                    {duration(value)}
                  </text>
                </g>
              );
            })}
          </svg>
        )}
      </figure>
      <details>
        <summary>The distribution as a table</summary>
        <Table label="Distribution" heads={["percentile", { number: `${kind} time` }]}>
          {points.map((point, position) => (
            <tr key={position}>
              <th scope="row">{percentileName(point.ratio)}</th>
              <td class="number">{duration(point.value_ns)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

