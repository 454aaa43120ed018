// Resources that are no rates: how much of their number was used, the fullest first.

import { percent } from "../../number.ts";
import type { ResourceThreshold } from "../../record/squeeze.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";

export function Thresholds({ thresholds }: { thresholds: readonly ResourceThreshold[] }) {
  return (
    <>
      <p class="measure">
        {prose("There is a fixed number of these. A little less of one changes nothing before it is less than what is used, so nothing was taken away: this is what was used while the load was at its highest.")}
      </p>
      <Table label="What was used of each" stacks heads={["resource", { number: "used" }, "result", "what was seen"]}>
        {thresholds.map(({ kind, tier, address, used, available, is_reached, sentence }) => (
          <tr key={`${kind} ${tier} ${address ?? ""}`}>
            <th scope="row">
              {tier} {kind}
            </th>
            <td class="number">{percent(used / available)}</td>
            <td>{is_reached ? "▼ used up" : "= has room"}</td>
            <td class="in-words">{prose(sentence)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
