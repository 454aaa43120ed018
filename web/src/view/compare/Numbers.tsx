// Every metric of every side as tables: the medians, the runs behind them, effects and letters.

import { duration, MISSING, rate, significant } from "../../number.ts";
import { type Comparison, type EffectMethod, type MetricComparison, type MetricEffect, rising, type SideValues } from "../../record/comparison.ts";
import { boundText, effectText } from "../../record/effect.ts";
import { WordMark } from "../Forest.tsx";
import { numbers, Table } from "../Table.tsx";

const METHODS: Record<EffectMethod, string> = {
  assumed_deviation: "assumed deviation between runs",
  welch: "Welch, over runs",
  rank_shift: "rank shift, over runs",
  blocks: "within blocks, all variants together",
  block_ranks: "ranks within blocks",
};

type Measure = Pick<MetricComparison, "metric" | "unit">;

export function written(value: number | null, { metric, unit }: Measure): string {
  if (value === null) return MISSING;
  if (unit === "hz") return metric === "operations" ? `${significant(value, 4)} ops/s` : rate(value);
  return unit === "per_joule" ? `${significant(value, 4)}/J` : duration(value);
}

/** A value that is a lower bound, or not. */
const bounded = (value: number | null, isLowerBound: boolean, measure: Measure) => `${isLowerBound ? "≥ " : ""}${written(value, measure)}`;

export function Numbers({ compared }: { compared: Comparison }) {
  return (
    <>
      {compared.operations.map(({ operation, metrics }, position) => (
        <div key={position} class="numbers">
          <h3>{operation}</h3>
          <Table
            stacks
            label={`Numbers of ${operation}`}
            heads={[
              "metric",
              ...numbers(compared.sides.map(({ letter }) => letter)),
              ...compared.sides.slice(1).map(({ letter }) => `${letter} against A`),
            ]}
          >
            {rising(metrics).map((metric) => (
              <Row key={metric.metric} metric={metric} compared={compared} />
            ))}
          </Table>
        </div>
      ))}
      {compared.sides.length > 2 && <p class="quiet">Sides that share a letter do not differ detectably (all pairs by Holm’s method; in an experiment, also each with the best by Hsu’s).</p>}
    </>
  );
}

function Row({ metric, compared }: { metric: MetricComparison; compared: Comparison }) {
  return (
    <tr>
      <th scope="row">
        {metric.title} <span class="quiet">{metric.better} is better</span>
        {metric.scatter !== null && <p class="quiet reason">{metric.scatter}</p>}
      </th>
      {metric.sides.map((values, side) => (
        <td class="number" key={side}>
          {bounded(values.median, values.is_lower_bound, metric)} {metric.letters[side] && <sup>{metric.letters[side]}</sup>}
          <Runs values={values} metric={metric} />
        </td>
      ))}
      {compared.sides.slice(1).map((side, index) => {
        const effect = metric.effects.find((each) => each.side === index + 1);
        if (!effect) return <td key={side.letter}>no difference shown</td>;
        return (
          <td key={side.letter}>
            <WordMark word={effect.verdict.word} /> {differenceText(effect)}
            {effect.method && (
              <p class="quiet">
                {METHODS[effect.method]}
                <Confidence effect={effect} />
                {effect.p !== null && `, p ${effect.p < 0.001 ? "< 0.001" : significant(effect.p, 2)}`}
                {effect.verdict.is_outlier_sensitive && ", decided by a few runs"}
              </p>
            )}
          </td>
        );
      })}
    </tr>
  );
}

function differenceText({ effect, bound, verdict }: MetricEffect): string | undefined {
  if (effect) return effectText(effect);
  return bound ? boundText(bound) : verdict.capped_by[0];
}

/** The level of an interval, where it is not the usual one. */
function Confidence({ effect: { effect, bound } }: { effect: MetricEffect }) {
  const ratio = (effect ?? bound)?.confidence_ratio ?? 0;
  return ratio > 0.95 ? <>, {significant(ratio * 100, 4)}% {effect ? "interval" : "confidence"}</> : null;
}

/** The runs behind a median, or why there is none. */
function Runs({ values, metric }: { values: SideValues; metric: MetricComparison }) {
  if (values.missing !== null) return <p class="quiet reason">{values.missing}</p>;
  const [only, ...others] = values.runs;
  if (only && others.length === 0) {
    return only.interval && <p class="quiet">{only.interval.map((end) => written(end, metric)).join(" – ")} within the run</p>;
  }
  return <p class="quiet">{values.runs.map((run) => bounded(run.value, run.is_lower_bound, metric)).join(", ")}</p>;
}
