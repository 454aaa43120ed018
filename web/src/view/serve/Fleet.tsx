// The agents of a fleet as rows, if this host may use one: who is free, used, or silent.

import { useState } from "preact/hooks";
import { percent } from "../../number.ts";
import type { AgentRow } from "../../record/served.ts";
import { useLooks } from "../../state/looks.ts";
import { fetchFleet } from "../../state/orders.ts";
import { Table } from "../Table.tsx";

/** Between two looks; the agents are asked as often. Unit: milliseconds. */
const LOOK_MS = 5_000;

const HEADS = ["agent", "state", { number: "busy" }, { number: "CPUs" }, "allows", "labels"];

export function Fleet() {
  const [agents, setAgents] = useState<readonly AgentRow[]>([]);
  useLooks(LOOK_MS, (signal) => {
    // That the server does not answer is said by the list of runs.
    if (!document.hidden) fetchFleet(signal).then(setAgents, () => undefined);
  });
  if (agents.length === 0) return null;
  return (
    <section class="answer home" aria-labelledby="fleet">
      <h2 id="fleet">Fleet</h2>
      <Table label="Agents of the fleet" heads={HEADS} class="runs" stacks>
        {agents.map(({ name, state, labels, allows, cpus_count, busy_ratio }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{state}</td>
            <td class="number">{busy_ratio === null ? "–" : percent(busy_ratio)}</td>
            <td class="number">{cpus_count ?? "–"}</td>
            <td>{allows}</td>
            <td>{labels || "–"}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
