// Whether to believe a tryout: how many pairs count, what this host can resolve, and what speaks against it.

import { count, percent, span } from "../../number.ts";
import { marginText } from "../../record/effect.ts";
import { type Tryout, STOPS } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";

interface State {
  shape: string;
  text: string;
  style: "valid" | "suspect" | "invalid";
}

function stateOf({ payload }: Tryout): State {
  const { conclusion, is_incomplete, manifest, damage } = payload;
  const warnings = conclusion.diagnostics.filter((each) => each.is_warning).length + damage.length;
  if (is_incomplete) return { shape: "▲", text: "INCOMPLETE", style: "suspect" };
  if (manifest.status === "interrupted" || manifest.status === "failed") return { shape: "▲", text: manifest.status.toUpperCase(), style: "suspect" };
  if (conclusion.verdict.capped_by.length > 0) return { shape: "✘", text: "NOT COMPARABLE", style: "invalid" };
  if (warnings > 0) return { shape: "▲", text: `VALID, ${warnings} ${warnings === 1 ? "WARNING" : "WARNINGS"}`, style: "suspect" };
  return { shape: "✔", text: "VALID", style: "valid" };
}

export function TrustBadge({ tryout }: { tryout: Tryout }) {
  const { shape, text, style } = stateOf(tryout);
  const { proof } = tryout;
  return (
    <>
      <a class="badge-link" href="#trust">
        <span class={`badge badge-${style}`}>
          <span aria-hidden="true">{shape}</span> {text}
        </span>
      </a>{" "}
      {proof && (
        <span class="quiet">
          {proof.counted} pairs counted{proof.dropped > 0 ? `, ${proof.dropped} of ${proof.counted + proof.dropped} discarded` : ""}
        </span>
      )}
    </>
  );
}

/** Reasons on the first screen; all of them stand further below. */
const MOST_REASONS = 3;

export function Trust({ tryout }: { tryout: Tryout }) {
  const { conclusion, manifest, is_incomplete } = tryout.payload;
  const { proof } = tryout;
  const against = againstOf(tryout);
  const isCut = is_incomplete || manifest.status === "interrupted" || manifest.status === "failed";
  return (
    <article class="card" aria-labelledby="trust-card">
      <h2 id="trust-card" class="eyebrow">
        Can it be trusted?
      </h2>
      {against.length > 0 && (
        <ul class="reasons-short trust-against">
          {against.slice(0, MOST_REASONS).map((text, position) => (
            <li key={position}>
              <strong>▲</strong> {prose(text)}
            </li>
          ))}
          {against.length > MOST_REASONS && (
            <li>
              <a href="#trust">and {against.length - MOST_REASONS} more</a>
            </li>
          )}
        </ul>
      )}
      <dl class="plan trust-list">
        {isCut && (
          <div>
            <dt>record</dt>
            <dd>
              {is_incomplete ? "sysdyno died" : `${manifest.status}: ${manifest.reason ?? "no reason recorded"}`}; the results up to then are
              shown
            </dd>
          </div>
        )}
        {proof && (
          <div>
            <dt>pairs</dt>
            <dd>
              {proof.counted} counted, {proof.dropped === 0 ? "none discarded" : `${proof.dropped} of ${proof.counted + proof.dropped} discarded: ${reasonOf(tryout)}`}
            </dd>
          </div>
        )}
        {proof && (
          <div>
            <dt>stopped because</dt>
            <dd>{proof.stop === null ? "it did not finish" : STOPS[proof.stop]}</dd>
          </div>
        )}
        <Resolution tryout={tryout} />
        <CalibrationRow tryout={tryout} />
        <div>
          <dt>took</dt>
          <dd>{span(conclusion.elapsed_ns / 1e9)}</dd>
        </div>
      </dl>
    </article>
  );
}

/** What speaks against the result, each thing once. */
export function againstOf({ payload }: Tryout): string[] {
  const { conclusion, damage } = payload;
  const warnings = conclusion.diagnostics.filter((each) => each.is_warning).map((each) => each.sentence);
  const sensitive = conclusion.verdict.is_outlier_sensitive ? ["a few trials decide the verdict: by Student’s t, it would be different"] : [];
  return [...new Set([...conclusion.verdict.capped_by, ...warnings, ...sensitive, ...damage])];
}

/** A resolution worse than this says no more than that there is none. */
const SEEN_MAX = 1;

function Resolution({ tryout }: { tryout: Tryout }) {
  const { resolution, verdict } = tryout.payload.conclusion;
  if (resolution === null) return null;
  const { detectable_ratio, pairs_needed, needed_ns } = resolution;
  const isMore = verdict.word === "cannot_tell" && pairs_needed !== null && pairs_needed > (tryout.proof?.counted ?? 0);
  // Two or three pairs know next to nothing of their own spread.
  const isBlind = detectable_ratio > SEEN_MAX;
  return (
    <div>
      <dt>would have detected</dt>
      <dd>
        {isBlind
          ? "hardly any effect: there were too few pairs, or they differed too much"
          : `an effect of ${marginText(detectable_ratio, tryout.metric.scale)}, in four of five such experiments`}
        {isMore && !isBlind && `; about ${count(pairs_needed)} pairs${needed_ns === null ? "" : ` (${span(needed_ns / 1e9)} in all)`} would settle it`}
      </dd>
    </div>
  );
}

function CalibrationRow({ tryout }: { tryout: Tryout }) {
  const { calibration } = tryout.payload.conclusion;
  const isItself = tryout.payload.plan?.is_calibration ?? false;
  if (isItself) return null;
  return (
    <div>
      <dt>calibration</dt>
      <dd>
        {calibration === null
          ? "not done yet: sysdyno try --calibrate finds the smallest effect that this host can resolve"
          : `resolves an effect of ${percent(calibration.detectable_ratio)} in ${span(calibration.elapsed_ns / 1e9)}; ${ageText(calibration.age_s)}${calibration.is_of_earlier_boot ? ", before the last boot" : ""}`}
      </dd>
    </div>
  );
}

/** The first reason for which a pair of the proof was dropped. */
function reasonOf(tryout: Tryout): string {
  const stage = tryout.proof?.stage.stage;
  const reasons = new Set(tryout.pairs.flatMap(({ pair }) => (pair.stage === stage ? (pair.dropped ?? []) : [])));
  const [first = "no reason recorded"] = reasons;
  return reasons.size > 1 ? `${first}; and other reasons` : first;
}

function ageText(seconds: number): string {
  if (seconds < 3600) return "measured within the hour";
  if (seconds < 86_400) return `measured ${Math.round(seconds / 3600)} h ago`;
  const days = Math.round(seconds / 86_400);
  return `measured ${days} ${days === 1 ? "day" : "days"} ago`;
}
