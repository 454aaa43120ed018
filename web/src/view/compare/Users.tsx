// Simulated users of the variants of an experiment: whether each variant met the rules, and what came of its operations.

import { chosenDuration, count, duration, MISSING, percent, significant } from "../../number.ts";
import type { Comparison, ExperimentShown, Scoreboard, ScoreboardOperation } from "../../record/comparison.ts";
import { prose } from "../../record/text.ts";
import { numbers, Table } from "../Table.tsx";

const STEPS = ["side", "variant", "rules", ...numbers(["users", "planned ops/s", "ops/s", "of plan"]), "not met"];
const OPERATIONS = ["operation", "rules", ...numbers(["count", "mix", "target", "mean", "time", "limit", "failed"])];

const passed = (board: Scoreboard) => board.runs_count > 0 && board.passed_count === board.runs_count;

/** A word and its shape, of one run or several. */
function rulesOf(board: Scoreboard): string {
  const runs = board.runs_count > 1 ? ` (${board.passed_count} of ${board.runs_count} runs)` : "";
  return `${passed(board) ? "✔ passed" : "✘ failed"}${runs}`;
}

export const hasUsers = ({ variants }: ExperimentShown) => variants.some(({ scoreboard }) => scoreboard !== undefined);

export function Users({ compared, experiment }: { compared: Comparison; experiment: ExperimentShown }) {
  const boards = experiment.variants.flatMap(({ side, scoreboard }) => (scoreboard ? [{ side: compared.sides[side], board: scoreboard }] : []));
  return (
    <>
      <Table label="Users of each variant" stacks heads={STEPS}>
        {boards.map(({ side, board }) => (
          <tr key={side?.letter}>
            <th scope="row">{side?.letter}</th>
            <td>{side?.name}</td>
            <td>{rulesOf(board)}</td>
            <td class="number">{count(board.users)}</td>
            <td class="number">{board.planned_hz === null ? MISSING : significant(board.planned_hz, 3)}</td>
            <td class="number">{significant(board.rate_hz, 3)}</td>
            <td class="number">{board.planned_hz ? percent(board.rate_hz / board.planned_hz) : MISSING}</td>
            <td>
              {board.broken.map((sentence, position) => (
                <p key={position}>{prose(sentence)}</p>
              ))}
            </td>
          </tr>
        ))}
      </Table>
      <p class="quiet">Planned: users ÷ the mean cycle time, which is the rate if nothing keeps them waiting.</p>
      {boards.map(({ side, board }) => (
        <div key={side?.letter}>
          <h3>
            {side?.letter} {side?.name}: {rulesOf(board)}
          </h3>
          <Table label={`Operations of ${side?.letter}`} stacks heads={OPERATIONS}>
            {board.operations.map((operation, position) => (
              <tr key={position}>
                <th scope="row">{operation.name}</th>
                <td>{operation.passed ? "✔ met" : "✘ not met"}</td>
                {cells(operation).map((cell, column) => (
                  <td class="number" key={column}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        </div>
      ))}
    </>
  );
}

function cells({ completed_count, mix_ratio, mix_target_ratio, mean_ns, percentile_ns, max_ns, limit, failed_count }: ScoreboardOperation): string[] {
  return [
    count(completed_count),
    mix_ratio === null ? MISSING : percent(mix_ratio),
    percent(mix_target_ratio),
    mean_ns === null ? MISSING : duration(mean_ns),
    timeOf(percentile_ns, max_ns),
    limit === null ? MISSING : `p${limit.percentile_ratio * 100} ${chosenDuration(limit.limit)}`,
    count(failed_count),
  ];
}

/** The percentile; the longest, marked as such, where there are too few for it. */
function timeOf(percentile_ns: number | null, max_ns: number | null): string {
  if (percentile_ns !== null) return duration(percentile_ns);
  return max_ns === null ? MISSING : `< ${duration(max_ns)}`;
}
