// What was concluded about the host, each conclusion with its evidence, what would refute it, and what to change.

import type { Run } from "../record/decode.ts";
import { prose } from "../record/text.ts";
import type { Finding } from "../record/types.ts";
import { ConfidenceMark, EvidenceSeconds, ROLES } from "./words.tsx";

export function Findings({ run }: { run: Run }) {
  const { findings } = run.payload.analysis;
  const held = findings.filter((finding) => finding.confidence !== "excluded");
  const excluded = findings.filter((finding) => finding.confidence === "excluded");
  return (
    <>
      {held.length === 0 && <p>No bottleneck was found on this host.</p>}
      {held.map((finding, position) => (
        <FindingView key={position} run={run} finding={finding} />
      ))}
      {excluded.length > 0 && (
        <details>
          <summary>Ruled out ({excluded.length})</summary>
          {excluded.map((finding, position) => (
            <FindingView key={position} run={run} finding={finding} />
          ))}
        </details>
      )}
    </>
  );
}

function FindingView({ run, finding }: { run: Run; finding: Finding }) {
  return (
    <article class="finding">
      <p class="finding-head">
        <ConfidenceMark confidence={finding.confidence} /> <code>{finding.id}</code> <span class="quiet">{finding.name}</span>
      </p>
      <h3>{prose(finding.title)}</h3>
      <ul class="evidence">
        {finding.evidence.map((each, position) => (
          <li key={position} class={`evidence-${each.role}`}>
            <span class="role">{ROLES[each.role]}</span>
            <span class="text">
              {prose(each.text)}
              <span class="source">{each.source}</span>
            </span>
            <EvidenceSeconds run={run} evidence={each} />
          </li>
        ))}
      </ul>
      <dl class="argument">
        {finding.remedy !== null && (
          <div>
            <dt>Remedy</dt>
            <dd>{prose(finding.remedy)}</dd>
          </div>
        )}
        <div>
          <dt>What would disprove it</dt>
          <dd>{prose(finding.counterfactual)}</dd>
        </div>
      </dl>
    </article>
  );
}
