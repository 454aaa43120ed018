// The functions that differ between two profiles, the largest difference first.

import { duration } from "../../number.ts";
import { changedFunctions } from "../../record/difference.ts";
import type { Profile } from "../../record/profile.ts";
import { Table } from "../Table.tsx";

/** Functions that are listed. */
const FUNCTIONS_MAX = 15;

export function ChangedFunctions({ profile, before }: { profile: Profile; before: Profile }) {
  const changed = changedFunctions(profile, before);
  if (changed.length === 0) return <p>No function differs by more than chance.</p>;
  return (
    <Table label="Functions that differ" heads={[{ number: "difference" }, { number: "self" }, { number: "before" }, "function", "program"]} class="functions" stacks>
      {changed.slice(0, FUNCTIONS_MAX).map(({ name, object, program, self, before: was }) => (
        <tr key={`${program} ${object} ${name}`}>
          <td class="number">{`${self < was ? "−" : "+"}${duration(Math.abs(self - was))}`}</td>
          <td class="number">{duration(self)}</td>
          <td class="number">{duration(was)}</td>
          <th scope="row">{name}</th>
          <td>{program}</td>
        </tr>
      ))}
    </Table>
  );
}
