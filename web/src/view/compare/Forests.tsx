// The effects of all metrics of the first operation on a common axis; of many sides, the deciding metric of each.

import { type Comparison, type MetricComparison, rising } from "../../record/comparison.ts";
import { Forest, type ForestRow } from "../Forest.tsx";

export function Forests({ compared }: { compared: Comparison }) {
  const [first] = compared.operations;
  if (!first) return null;
  const isPair = compared.sides.length === 2;
  const rows = isPair ? rising(first.metrics).flatMap((metric) => rowsOf(metric, compared, null)) : sidesOf(first.metrics[0], compared);
  if (rows.length === 0) return null;
  return (
    <div class="card forest-card">
      <h2 class="eyebrow">{isPair ? `B against A, ${first.operation}` : `${first.metrics[0]?.title} of each side against A`}</h2>
      <Forest rows={rows} label="Effects with their intervals, and the band that does not matter; the table of all numbers has the same data" />
      <p class="quiet">
        Dot: estimate; thin bar: 95% interval; thick bar: 90%. An interval within the gray band means the same; one that excludes zero means different.
        {rows.some(({ effect, bound }) => !effect && bound) && " An arrow without a dot: at least so much, because measured values are lower bounds."}
      </p>
    </div>
  );
}

function sidesOf(metric: MetricComparison | undefined, compared: Comparison): ForestRow[] {
  return metric ? rowsOf(metric, compared, (side) => compared.sides[side]?.letter ?? "") : [];
}

function rowsOf(metric: MetricComparison, compared: Comparison, letter: ((side: number) => string) | null): ForestRow[] {
  return metric.effects.map(({ side, effect, bound, verdict }) => ({
    key: `${metric.metric}-${side}`,
    label: letter ? `${letter(side)} ${compared.matrix || compared.hosts ? compared.sides[side]?.name : (compared.sides[side]?.runs[0]?.id ?? "")}` : metric.title,
    note: `${metric.better} is better`,
    effect,
    bound,
    word: verdict.word,
    scale: "ratio",
    better: metric.better,
    margin: metric.margin_ratio,
    ...(verdict.capped_by[0] === undefined ? {} : { without: verdict.capped_by[0] }),
  }));
}
