// What was tried to prove findings: one experiment may be about several.

import type { FindingProof } from "./types.ts";

export interface ProofRow extends FindingProof {
  findings: string[];
}

/** One row for each experiment, with all findings that it is about, and one for each finding for which there was none. */
export function proofRows(proofs: readonly FindingProof[]): ProofRow[] {
  const rows: ProofRow[] = [];
  for (const proof of proofs) {
    const same = proof.run === null ? undefined : rows.find((row) => row.run === proof.run);
    if (same) same.findings.push(proof.finding);
    else rows.push({ ...proof, findings: [proof.finding] });
  }
  return rows;
}
