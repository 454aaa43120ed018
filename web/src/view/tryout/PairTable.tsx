// The numbers of the chart of pairs.

import { metricValue } from "../../number.ts";
import { change } from "../../record/effect.ts";
import { type Tryout, ownDirection } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";
import { NO_RATIO } from "./Pairs.tsx";

export function PairTable({ tryout }: { tryout: Tryout }) {
  const { metric } = tryout;
  const hasSteps = tryout.payload.conclusion.stages.length > 1;
  return (
    <Table
      label="All pairs"
      stacks
      heads={[
        ...(hasSteps ? ["step"] : []),
        "pair",
        "first",
        { number: "A" },
        { number: "B" },
        { number: "B against A" },
        "counts",
      ]}
    >
      {tryout.pairs.map(({ pair }) => (
        <tr key={`${pair.stage}-${pair.pair}`}>
          {hasSteps && <td>{pair.stage}</td>}
          <th scope="row">{pair.pair}</th>
          <td>{pair.first.toUpperCase()}</td>
          <td class="number">{metricValue(pair.a, metric.unit)}</td>
          <td class="number">{metricValue(pair.b, metric.unit)}</td>
          <td class="number">{pair.improvement === null ? "–" : change(ownDirection(pair.improvement, metric), metric.scale, 3)}</td>
          <td class="remarks">{pair.dropped !== null ? `○ dropped: ${prose(pair.dropped)}` : pair.improvement === null ? `○ ${NO_RATIO}` : "● yes"}</td>
        </tr>
      ))}
    </Table>
  );
}
