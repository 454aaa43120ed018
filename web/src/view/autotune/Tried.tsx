// Everything that was tried, with what came of it: what did nothing is as useful to know as what helped.

import { TRIED_WORDS, type TriedChange } from "../../record/autotune.ts";
import { effectText } from "../../record/effect.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";

export function Tried({ tried }: { tried: readonly TriedChange[] }) {
  if (tried.length === 0) return <p>Nothing was tried.</p>;
  return (
    <Table label="Everything that was tried" stacks heads={["change", { number: "round" }, { number: "effect" }, "result", "why it was tried"]}>
      {tried.map(({ candidate, round, effect, word }, position) => (
        <tr key={position}>
          <th scope="row">{prose(candidate.title)}</th>
          <td class="number">{round}</td>
          <td class="number">{effect === null ? "–" : effectText(effect)}</td>
          <td class="in-words">
            {TRIED_WORDS[word].shape} {TRIED_WORDS[word].text}
          </td>
          <td class="in-words">{prose(candidate.reason)}</td>
        </tr>
      ))}
    </Table>
  );
}
