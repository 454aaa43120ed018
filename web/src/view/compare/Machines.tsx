// What differs between the hosts of the first side and the others, likeliest to matter first.

import type { Comparison } from "../../record/comparison.ts";
import { textOf } from "../Machine.tsx";
import { Table } from "../Table.tsx";

export function Machines({ compared }: { compared: Comparison }) {
  return (
    <>
      {compared.machines.map(({ side, differences, count }) => (
        <div key={side}>
          <h3>
            A and {compared.sides[side]?.letter}: {count} {count === 1 ? "difference" : "differences"}
          </h3>
          <Table
            label={`Differences between A and ${compared.sides[side]?.letter}`}
            class="facts"
            heads={["fact", "A", compared.sides[side]?.letter ?? "B", "effect"]}
          >
            {differences.map(({ name, a, b, known }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{a ? textOf(name, a) : "missing"}</td>
                <td>{b ? textOf(name, b) : "missing"}</td>
                <td>{known ? `${known.rule} ${known.what}: ${known.why}` : "no rule for it"}</td>
              </tr>
            ))}
          </Table>
          {count > differences.length && <p class="quiet">{count - differences.length} more: sysdyno facts RUN RUN --all</p>}
        </div>
      ))}
    </>
  );
}
