// The comparisons of a tryout with several changes: alone, combined, proven on trials of their own, without each.

import { type Tryout, actionText, KINDS, STOPS } from "../../record/tryout.ts";
import { Forest, type ForestRow } from "../Forest.tsx";
import { Table } from "../Table.tsx";

export function Stages({ tryout }: { tryout: Tryout }) {
  const { conclusion, plan } = tryout.payload;
  const rows = conclusion.stages.map((stage): ForestRow => {
    const isChoice = stage.stage.kind === "alone" || stage.stage.kind === "combined";
    return {
      key: String(stage.stage.stage),
      label: stage.stage.kind === "proof" ? <strong>{stage.title}</strong> : stage.title,
      note: `${stage.stage.stage}. ${KINDS[stage.stage.kind].word} · ${stage.counted} pairs`,
      effect: stage.effect,
      word: isChoice ? null : stage.verdict.word,
      without: "too few pairs",
      scale: tryout.metric.scale,
      better: conclusion.better,
      margin: conclusion.effect_ratio,
    };
  });
  return (
    <>
      <p class="measure">
        Results used to pick a change are optimistic, because the luckiest one gets picked. The verdict comes from the proof,
        with separate trials.
      </p>
      <Forest rows={rows} label="Effects of each comparison with their 95% intervals" />
      <details>
        <summary>Variants, and why each comparison stopped</summary>
        <Table label="Variants" heads={["variant", "is"]}>
          {(plan?.variants ?? []).map((variant, position) => (
            <tr key={position}>
              <th scope="row">{variant.name}</th>
              <td>
                <code>{actionText(variant.action)}</code>
              </td>
            </tr>
          ))}
        </Table>
        <Table label="Comparisons" stacks heads={["comparison", "for", { number: "pairs" }, { number: "discarded" }, "stopped because"]}>
          {conclusion.stages.map((stage) => (
            <tr key={stage.stage.stage}>
              <th scope="row">
                {stage.stage.stage}. {stage.title}
              </th>
              <td>
                {KINDS[stage.stage.kind].word}: {KINDS[stage.stage.kind].meaning}
              </td>
              <td class="number">{stage.counted}</td>
              <td class="number">{stage.dropped}</td>
              <td>{stage.stop === null ? "it did not finish" : STOPS[stage.stop]}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
