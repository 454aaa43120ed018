// The functions of each program, by the share of their own.

import { percent } from "../../number.ts";
import type { ProfileSummary, ProgramShare } from "../../record/profile.ts";
import { Table } from "../Table.tsx";
import { KINDS } from "./words.ts";

/** Functions and programs that are listed, and the share from which they are. */
const SYMBOLS_MAX = 15;
const RATIO_MIN = 0.005;

export function Functions({ summary }: { summary: ProfileSummary }) {
  const programs = summary.programs.filter(({ ratio }, position) => position === 0 || ratio >= RATIO_MIN);
  if (programs.length === 0) return <p>Nothing was sampled.</p>;
  return (
    <>
      {programs.map((program) => (
        <Program key={program.name} program={program} />
      ))}
    </>
  );
}

function Program({ program }: { program: ProgramShare }) {
  const { name, processes_count, ratio } = program;
  const symbols = program.symbols.filter(({ self_ratio }) => self_ratio >= RATIO_MIN).slice(0, SYMBOLS_MAX);
  return (
    <>
      <h3>
        {name}: {percent(ratio)}
        {processes_count > 1 && ` (${processes_count} processes)`}
      </h3>
      {symbols.length > 0 && (
        <Table label={`Functions of ${name}`} heads={[{ number: "self" }, { number: "total" }, "function", "where"]} class="functions" stacks>
          {symbols.map(({ frame, self_ratio, total_ratio }) => (
            <tr key={`${frame.name} ${frame.object}`}>
              <td class="number">{percent(self_ratio)}</td>
              <td class="number">{percent(total_ratio)}</td>
              <th scope="row">{frame.name}</th>
              <td>{frame.kind === "user" ? frame.object : KINDS.find(({ kind }) => kind === frame.kind)?.name}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
