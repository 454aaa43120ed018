// Which runs were compared, and what each says of itself.

import type { Comparison } from "../../record/comparison.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";
import { Badge } from "../words.tsx";

export function Sides({ compared }: { compared: Comparison }) {
  return (
    <div class="runs">
      <Table label="All runs as a table" stacks heads={["side", "run", "began", "verdict", "result", "server"]}>
        {compared.sides.flatMap((side) =>
          side.runs.map((run) => (
            <tr key={run.id}>
              <th scope="row">{side.letter}</th>
              <td>
                <code>{run.id}</code>
              </td>
              <td>{began(run.started_unix_ns)}</td>
              <td>
                <Badge status={run.status} />
              </td>
              <td>{prose(run.headline)}</td>
              <td>
                <code>{run.url}</code>
              </td>
            </tr>
          )),
        )}
      </Table>
    </div>
  );
}

export function began(unix_ns: string): string {
  const at = new Date(Number(unix_ns) / 1e6);
  return Number.isFinite(at.getTime()) ? at.toISOString().replace("T", " ").replace(/\.\d+Z/, " UTC") : "–";
}
