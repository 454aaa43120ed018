// Every check that fired, with what to do about it, and what the record lacks.

import type { Run } from "../record/decode.ts";
import { prose } from "../record/text.ts";
import { Badge } from "./words.tsx";

export function Verdict({ run }: { run: Run }) {
  const { analysis, damage } = run.payload;
  return (
    <>
      {analysis.verdict.reasons.length > 0 && (
        <ul class="reasons">
          {analysis.verdict.reasons.map((reason, position) => (
            <li key={position}>
              <p class="reason-head">
                {reason.status === "VALID" ? <span class="badge badge-remark">· remark</span> : <Badge status={reason.status} />}{" "}
                <code>{reason.id}</code> <span class="quiet">{reason.name}</span>
              </p>
              <p>{prose(reason.text)}</p>
              {reason.remedy !== "" && <p class="remedy">{prose(reason.remedy)}</p>}
            </li>
          ))}
        </ul>
      )}
      {damage.length > 0 && (
        <>
          <h3>What the record lacks</h3>
          <ul>
            {damage.map((text, position) => (
              <li key={position}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
