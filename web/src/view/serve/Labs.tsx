// The labs of the host as rows: whether each is up, and which of its services are not well.

import { useState } from "preact/hooks";
import type { LabRow } from "../../record/served.ts";
import { useLooks } from "../../state/looks.ts";
import { fetchLabs } from "../../state/orders.ts";
import { Table } from "../Table.tsx";

/** Between two looks, which ask every service how it is. Unit: milliseconds. */
const LOOK_MS = 10_000;

const HEADS = ["lab", "state", "hosts", "services"];

export function Labs() {
  const [labs, setLabs] = useState<readonly LabRow[]>([]);
  useLooks(LOOK_MS, (signal) => {
    // That the server does not answer is said by the list of runs.
    if (!document.hidden) fetchLabs(signal).then(setLabs, () => undefined);
  });
  if (labs.length === 0) return null;
  return (
    <section class="answer home" aria-labelledby="labs">
      <h2 id="labs">Labs</h2>
      <Table label="Labs of this host" heads={HEADS} class="runs" stacks>
        {labs.map((lab) => (
          <tr key={lab.name}>
            <th scope="row">{lab.name}</th>
            <td>{lab.state}</td>
            <td>{lab.hosts.join(", ")}</td>
            <td class="found">
              {lab.services.map(({ name, host, recipe, cause }) => (
                <span class="service" key={`${host}/${name}`}>
                  {name} ({recipe} on {host}): {cause ?? "healthy"}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
