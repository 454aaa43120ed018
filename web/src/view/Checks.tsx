// What came of the checks that were asked for with --fail-if: failed ones first, each with by how much.

import type { Run } from "../record/decode.ts";
import { prose } from "../record/text.ts";

export function Checks({ run }: { run: Run }) {
  // Records of older versions have none.
  const checks = run.payload.analysis.checks ?? [];
  if (checks.length === 0) return null;
  const ordered = [...checks.filter((check) => !check.passed), ...checks.filter((check) => check.passed)];
  return (
    <ul class="reasons-short checks" aria-label="Checks that were asked for">
      {ordered.map((check, position) => (
        <li key={position}>
          <strong>{check.passed ? "✔ passed" : "✘ FAILED"}</strong> {prose(check.sentence)}
        </li>
      ))}
    </ul>
  );
}
