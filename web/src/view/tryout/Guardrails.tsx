// Each guardrail with what became of it.

import { effectText, marginText } from "../../record/effect.ts";
import { type Tryout, STATES } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";

export function Guardrails({ tryout }: { tryout: Tryout }) {
  const { guardrails, is_proven, verdict } = tryout.payload.conclusion;
  return (
    <>
      <p class="measure">
        {is_proven
          ? "B is better, and all guardrails held."
          : verdict.word === "better"
            ? "B is better, but a guardrail could not be cleared, so it was not kept."
            : "Guardrails are judged separately from the deciding metric."}
      </p>
      <Table
        label="Guardrails"
        stacks
        heads={["metric", "state", { number: "B against A" }, { number: "may get worse by" }, { number: "pairs" }, "result"]}
      >
        {guardrails.map((guardrail, position) => {
          const { title, scale } = tryout.metricOf(guardrail.metric);
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
