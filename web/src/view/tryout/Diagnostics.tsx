// What was looked at to see whether the method held, with what was found, and what the record lacks.

import type { Tryout } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";

const KINDS = {
  order: "order",
  drift: "drift",
  stalls: "stalls",
  dropped: "discarded pairs",
  calibration: "calibration",
  outliers: "outliers",
  bounds: "lower bounds",
} as const;

export function Diagnostics({ tryout }: { tryout: Tryout }) {
  const { conclusion, damage } = tryout.payload;
  const ordered = [...conclusion.diagnostics].sort((one, other) => Number(other.is_warning) - Number(one.is_warning));
  return (
    <>
      {conclusion.verdict.capped_by.length > 0 && (
        <>
          <h3>Why there is no verdict</h3>
          <ul class="reasons-short">
            {conclusion.verdict.capped_by.map((reason, position) => (
              <li key={position}>{prose(reason)}</li>
            ))}
          </ul>
        </>
      )}
      <dl class="plan diagnostics">
        {ordered.map((diagnostic, position) => (
          <div key={position}>
            <dt>
              <span class={diagnostic.is_warning ? "warned" : undefined}>
                {diagnostic.is_warning ? "▲ warning" : "✔"} {KINDS[diagnostic.kind]}
              </span>
            </dt>
            <dd>{prose(diagnostic.sentence)}</dd>
          </div>
        ))}
      </dl>
      {ordered.length === 0 && <p class="quiet">There were too few pairs to analyze.</p>}
      {damage.length > 0 && (
        <>
          <h3>Missing from the record</h3>
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
