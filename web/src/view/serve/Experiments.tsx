// Experiments as rows: how far each has come, and the way to its comparison.

import { count } from "../../number.ts";
import { wallClock, type ExperimentRow } from "../../record/served.ts";
import { Table } from "../Table.tsx";

const HEADS = ["experiment", { number: "variants" }, { number: "trials" }, "last written"];

export function Experiments({ experiments }: { experiments: readonly ExperimentRow[] }) {
  return (
    <section class="answer home" aria-labelledby="experiments">
      <h2 id="experiments">Experiments</h2>
      <Table label="List of experiments" heads={HEADS} class="runs" stacks>
        {experiments.map((experiment) => (
          <tr key={experiment.name}>
            <th scope="row">
              <a href={`/experiments/${encodeURIComponent(experiment.name)}`}>{experiment.title}</a>
              <span class="target">{experiment.name}</span>
            </th>
            <td class="number">{count(experiment.variants_count)}</td>
            <td class="number">{trials(experiment)}</td>
            <td class="started">{wallClock(experiment.changed_unix_ms)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function trials({ measured_count, trials_count }: ExperimentRow): string {
  return measured_count === trials_count ? count(trials_count) : `${count(measured_count)} of ${count(trials_count)}`;
}
