// Every pair of a squeeze: what was compared, both values, and why a pair does not count.

import { rate } from "../../number.ts";
import type { SqueezePayload } from "../../record/squeeze.ts";
import { prose } from "../../record/text.ts";
import { numbers, Table } from "../Table.tsx";

export function SqueezePairs({ payload: { conclusion, found, trials } }: { payload: SqueezePayload }) {
  const variantOf = (number: number) => {
    const trial = trials.find((each) => each.trial === number);
    return trial ? (found?.variants[trial.variant]?.name ?? "–") : "–";
  };
  return (
    <Table label="Every pair" stacks heads={["with the squeeze", ...numbers(["without, req/s", "with, req/s"]), "discarded"]}>
      {conclusion.pairs.map((pair) => (
        <tr key={`${pair.stage}-${pair.pair}`}>
          <th scope="row">{variantOf(pair.b_trial)}</th>
          <td class="number">{pair.a === null ? "–" : rate(pair.a)}</td>
          <td class="number">{pair.b === null ? "–" : rate(pair.b)}</td>
          <td class="in-words">{pair.dropped === null ? "" : prose(pair.dropped)}</td>
        </tr>
      ))}
    </Table>
  );
}
