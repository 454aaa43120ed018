// Each guardrail with what became of it.

import { effectText, marginText } from "../../record/effect.ts";
import { type Experiment, STATES } from "../../record/experiment.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";

export function Guardrails({ experiment }: { experiment: Experiment }) {
  const { guardrails, is_proven, verdict } = experiment.payload.conclusion;
  return (
    <>
      <p class="measure">
        {is_proven
          ? "B is better and no guardrail speaks against it."
          : verdict.word === "better"
            ? "B is better, and a guardrail stands against it: that is not enough to keep it."
            : "Guardrails are judged by themselves, whatever the word on the metric that decides."}
      </p>
      <Table
        label="Guardrails"
        stacks
        heads={["metric", "state", { number: "B against A" }, { number: "may get worse by" }, { number: "pairs" }, "in words"]}
      >
        {guardrails.map((guardrail, position) => {
          const { title, scale } = experiment.metricOf(guardrail.metric);
          const { shape, word } = STATES[guardrail.state];
          return (
            <tr key={position}>
              <th scope="row">{title}</th>
              <td class={guardrail.state === "broken" ? "word-worse" : undefined}>
                {shape} {word}
              </td>
              <td class="number">{guardrail.effect ? effectText(guardrail.effect) : "–"}</td>
              <td class="number">{marginText(guardrail.margin, scale)}</td>
              <td class="number">{guardrail.effect?.pairs_count ?? "–"}</td>
              <td class="in-words">{prose(guardrail.sentence)}</td>
            </tr>
          );
        })}
      </Table>
    </>
  );
}
