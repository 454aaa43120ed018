// What services of a lab told of themselves: counters as what they grew by in a trial, states as they were around it.

import { significant, trimmed } from "../number.ts";
import { servicesOf, type ServiceRow } from "../record/services.ts";
import type { Run } from "../record/decode.ts";
import { numbers, Table } from "./Table.tsx";

const HEADS = ["service", "what", "unit", ...numbers(["before", "after", "grew by"])];

export function Services({ run }: { run: Run }) {
  const { payload } = run;
  const rows = servicesOf(payload.events, payload.analysis.shown_trial);
  return (
    <>
      <p class="quiet">Each service was asked before the first request and after the last one of trial {payload.analysis.shown_trial}.</p>
      <Table label="Services" stacks heads={HEADS}>
        {rows.map((row, position) => (
          <Row row={row} key={position} />
        ))}
      </Table>
    </>
  );
}

function Row({ row }: { row: ServiceRow }) {
  const grew = row.kind === "counter" && row.before !== null && row.after !== null ? row.after - row.before : null;
  return (
    <tr>
      <th scope="row">
        <code>{row.service}</code> ({row.recipe} on {row.host})
      </th>
      <td>{row.name.replaceAll("_", " ")}</td>
      <td>{row.unit}</td>
      {[row.before, row.after, grew].map((value, position) => (
        <td class="number" key={position}>
          {value === null ? "–" : trimmed(significant(value, 6))}
        </td>
      ))}
    </tr>
  );
}
