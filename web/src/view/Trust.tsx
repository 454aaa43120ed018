// Whether to believe the numbers: what casts doubt on them, how much was measured, and whether the generator kept up.

import { count, duration, percent } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { plural } from "../record/notes.ts";
import { prose } from "../record/text.ts";
import { SHAPES } from "./words.tsx";

/** Reasons on the first screen; all of them stand further below. */
const REASONS_MAX = 3;

export function Trust({ run }: { run: Run }) {
  const { analysis } = run.payload;
  const { counts, generator, slip_ns } = analysis;
  const trials = run.payload.trials.length;
  return (
    <article id="trust" class="card" aria-labelledby="trust-title" tabIndex={-1}>
      <h2 id="trust-title" class="eyebrow">
        Trust
      </h2>
      <Reasons run={run} />
      <ul class="trusted">
        <li>
          {count(counts.sent)} requests measured{trials > 1 && ` in trial ${analysis.shown_trial} of ${trials}`}
        </li>
        <li>
          the generator’s busiest thread used {percent(generator.busiest_thread_ratio)} of a CPU
          {slip_ns.p99 !== null && `; sends were late by ${duration(slip_ns.p99)} (p99)`}
        </li>
      </ul>
    </article>
  );
}

function Reasons({ run }: { run: Run }) {
  const { analysis, is_incomplete, manifest } = run.payload;
  const reasons = analysis.verdict.reasons.filter((reason) => reason.status !== "VALID");
  const isWhole = !is_incomplete && (manifest.status === "complete" || manifest.status === "running");
  if (reasons.length === 0 && isWhole) return <p class="sentence">{`${SHAPES.VALID} `}No check casts doubt on these numbers.</p>;
  const hidden = reasons.length - REASONS_MAX;
  return (
    <ul class="reasons-short">
      {!isWhole && <Unfinished run={run} />}
      {reasons.slice(0, REASONS_MAX).map((reason) => (
        <li key={reason.id}>
          <strong>{SHAPES[reason.status]}</strong> {prose(reason.text)} <span class="quiet">{reason.id}</span>
        </li>
      ))}
      {hidden > 0 && (
        <li>
          <a href="#verdict">and {plural(hidden, "more reason")}</a>
        </li>
      )}
    </ul>
  );
}

/** Why the record does not reach the end that was planned. */
function Unfinished({ run }: { run: Run }) {
  const { is_incomplete, manifest } = run.payload;
  return (
    <li>
      <strong>{SHAPES.SUSPECT} {is_incomplete ? "incomplete" : manifest.status}</strong>{" "}
      {is_incomplete ? "sysdyno died" : (manifest.reason ?? "no reason recorded")}; the results up to then are shown.
    </li>
  );
}
