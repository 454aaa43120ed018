// Every trial with all its numbers and what was around it.

import { metricValue, percent, span } from "../../number.ts";
import type { Tryout, TryTrial } from "../../record/tryout.ts";
import { numbers, Table } from "../Table.tsx";

export function Trials({ tryout }: { tryout: Tryout }) {
  const { trials, metrics } = tryout.payload;
  if (trials.length === 0) return <p class="quiet">The record has no trials.</p>;
  const measured = metrics.filter(({ metric }) => trials.some((trial) => trial.values[metric] !== undefined));
  const failed = trials.filter((trial) => trial.failure !== null);
  const share = (ratio: number | null) => (ratio === null ? "–" : percent(ratio));
  return (
    <>
      <p>
        {trials.length} trials{failed.length === 0 ? ", all completed" : `, ${failed.length} of which were not completed`}.
      </p>
      <details>
        <summary>All trials as a table</summary>
        <Table
          label="All trials"
          stacks
          heads={[
            "trial",
            "of",
            { number: "began" },
            ...numbers(measured.map(({ title }) => title)),
            { number: "steal" },
            { number: "others" },
            "remarks",
          ]}
        >
          {trials.map((trial) => (
            <tr key={trial.trial}>
              <th scope="row">{trial.trial}</th>
              <td>
                {trial.arm.toUpperCase()}, pair {trial.pair} of step {trial.stage}
              </td>
              <td class="number">{span(tryout.seconds(trial.begin_mono_ns))}</td>
              {measured.map(({ metric, unit }) => (
                <td class="number" key={metric}>
                  {metricValue(trial.values[metric] ?? null, unit)}
                </td>
              ))}
              <td class="number">{share(trial.environment.steal_ratio)}</td>
              <td class="number">{share(trial.environment.foreign_ratio)}</td>
              <td class="remarks">{remarksOf(trial)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

function remarksOf(trial: TryTrial): string {
  const { invalid, warnings } = trial.environment;
  const settings = trial.read_back.map(({ key, value }) => `${key} read back as ${value}`);
  const all = [...(trial.failure === null ? [] : [`failed: ${trial.failure}`]), ...invalid, ...warnings, ...settings];
  return all.join("; ") || "–";
}
