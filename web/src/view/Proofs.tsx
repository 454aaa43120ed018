// What was tried to prove findings, and what came of it; each experiment has a report beside this one.

import { proofRows } from "../record/proofs.ts";
import { prose } from "../record/text.ts";
import type { FindingProof } from "../record/types.ts";
import { Table } from "./Table.tsx";

const HEADS = ["finding", "outcome", "what happened", "what was tried"];

/** What the folder of a run is called; a record that says something else gets no link. */
const PLAIN = /^[0-9A-Za-z][0-9A-Za-z._-]*$/;

const OUTCOMES: Record<FindingProof["outcome"], string> = {
  confirmed: "● confirmed",
  refuted: "○ refuted",
  undecided: "◔ can't tell",
  untried: "– not tried",
};

export function Proofs({ proofs }: { proofs: FindingProof[] }) {
  return (
    <Table label="Experiments" stacks heads={HEADS}>
      {proofRows(proofs).map((proof, position) => (
        <tr key={position}>
          <th scope="row">
            <code>{proof.findings.join(", ")}</code>
          </th>
          <td>{OUTCOMES[proof.outcome]}</td>
          <td>{prose(proof.sentence)}</td>
          <td>
            {proof.tried === "" ? "nothing" : <code>{proof.tried}</code>}
            {proof.run !== null && PLAIN.test(proof.run) && (
              <>
                {" "}
                <a href={`../${encodeURIComponent(proof.run)}/report.html`}>its report</a>
              </>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
