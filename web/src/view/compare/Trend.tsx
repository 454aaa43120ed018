// Each metric over runs in the order of time, with the places where its level changed.

import { linear, linearTicks } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { onAxis, significant } from "../../number.ts";
import type { Comparison, MetricTrend } from "../../record/comparison.ts";
import { effectText } from "../../record/effect.ts";
import { prose } from "../../record/text.ts";
import { Axes } from "../Axes.tsx";
import { WordMark } from "../Forest.tsx";
import { Table } from "../Table.tsx";
import { written } from "./Numbers.tsx";
import { began } from "./Sides.tsx";

type TrendOf = NonNullable<Comparison["trend"]>;

const HEIGHT = 240;

export function TrendChart({ trend }: { trend: TrendOf }) {
  return (
    <>
      {trend.metrics.map((metric) => (
        <figure class="trend" key={metric.metric}>
          <h3>{prose(metric.sentence)}</h3>
          <Chart metric={metric} />
          <Changes metric={metric} trend={trend} />
          <details>
            <summary>All runs as a table</summary>
            <Runs metric={metric} trend={trend} />
          </details>
        </figure>
      ))}
    </>
  );
}

function Chart({ metric }: { metric: MetricTrend }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const known = metric.values.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const values = known.map(({ value }) => value);
  if (values.length < 2) return null;
  const frame = { left: 58, right: Math.max(width - 12, 60), top: 28, bottom: HEIGHT - 44 };
  const top = Math.max(...values) * 1.05;
  const domain: [number, number] = [0, top];
  const x = linear([0, Math.max(metric.values.length - 1, 1)], [frame.left + 8, frame.right - 8]);
  const y = linear(domain, [frame.bottom, frame.top]);
  const unit = metric.unit === "hz" ? "/s" : "ns";
  const numbers = linearTicks([1, metric.values.length], 6).filter(Number.isInteger);
  return (
    <div ref={element} class="chart trend-chart">
      {width > 0 && (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${metric.title} of ${values.length} runs; the table below has the values`}>
          <Axes
            frame={frame}
            x={x}
            y={y}
            xTicks={numbers.map((number) => [number - 1, String(number)] as const)}
            yTicks={linearTicks(domain, 4).map((tick) => [tick, onAxis(tick, unit)] as const)}
            xTitle="run, oldest first"
            yTitle={`${metric.title}${metric.unit === "hz" ? ", per second" : ""} (${metric.better} is better)`}
          />
          {levels(metric).map(([from, to, median]) => (
            <line key={from} class="level" x1={x(from)} x2={x(to)} y1={y(median)} y2={y(median)} />
          ))}
          {metric.changes.map(({ index }) => (
            <line key={index} class="change" x1={x(index - 0.5)} x2={x(index - 0.5)} y1={frame.top} y2={frame.bottom} />
          ))}
          {known.map(({ value, index }) => (
            <circle key={index} class="mark mark-met" cx={x(index)} cy={y(value)} r={4} />
          ))}
        </svg>
      )}
    </div>
  );
}

/** First and last run of each level, and its median. */
function levels(metric: MetricTrend): [from: number, to: number, median: number][] {
  const ends = [0, ...metric.changes.map(({ index }) => index), metric.values.length];
  return ends.slice(1).flatMap((end, position) => {
    const from = ends[position] ?? 0;
    const sorted = metric.values.slice(from, end).filter((value) => value !== null).sort((one, other) => one - other);
    const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
    return low === undefined || high === undefined ? [] : [[from, end - 1, (low + high) / 2] as [number, number, number]];
  });
}

function Changes({ metric, trend }: { metric: MetricTrend; trend: TrendOf }) {
  if (metric.changes.length === 0) return null;
  return (
    <ul class="changes">
      {metric.changes.map((change) => (
        <li key={change.index}>
          <WordMark word={change.verdict.word} /> {change.effect ? effectText(change.effect) : ""} with run {change.index + 1},{" "}
          <code>{trend.runs[change.index]?.id}</code>{" "}
          <span class="quiet">
            permutation p {significant(change.permutation_p, 2)}
            {change.welch_p !== null && `, Welch p ${change.welch_p < 0.001 ? "< 0.001" : significant(change.welch_p, 2)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Runs({ metric, trend }: { metric: MetricTrend; trend: TrendOf }) {
  return (
    <Table label={`${metric.title} of all runs`} heads={["run", "id", "began", { number: metric.title }]}>
      {trend.runs.map((run, index) => (
        <tr key={run.id}>
          <th scope="row">{index + 1}</th>
          <td>
            <code>{run.id}</code>
          </td>
          <td>{began(run.started_unix_ns)}</td>
          <td class="number">{written(metric.values[index] ?? null, metric)}</td>
        </tr>
      ))}
    </Table>
  );
}
