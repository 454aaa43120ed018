// The steps in the order in which they were made: what was seen, what was tried, and what came of it.

import { STEP_TITLES, type Step } from "../../record/autotune.ts";
import { WORDS } from "../../record/effect.ts";
import { prose } from "../../record/text.ts";
import { rate, span } from "../../number.ts";

/** Diagnoses that are named of a step. */
const FINDINGS_MAX = 2;

export function Story({ steps }: { steps: readonly Step[] }) {
  return (
    <ol class="story">
      {steps.map((step) => (
        <li key={step.began.step}>
          <StepView step={step} />
        </li>
      ))}
    </ol>
  );
}

function StepView({ step: { began, ended } }: { step: Step }) {
  const { baseline } = ended;
  return (
    <>
      <p>
        <strong>{STEP_TITLES[began.kind]}</strong>{" "}
        <span class="quiet">
          {began.kind === "race" && `round ${began.round}, `}
          {span(ended.elapsed_ns / 1e9)}
          {baseline !== null && `, ${rate(baseline)} ${began.kind === "look" ? "" : "without"}`}
        </span>
      </p>
      {began.kind === "look" && <Suspected step={{ began, ended }} />}
      <ul>
        {ended.arms.map((arm, position) => (
          <li key={position}>
            {WORDS[arm.word].shape} {prose(nameOf(began, position))}: {prose(arm.sentence)}
          </li>
        ))}
      </ul>
      {ended.arms.length > 0 && (
        <p class="quiet">
          <a href={`steps/${encodeURIComponent(began.folder)}/report.html`}>every number of this step</a>
        </p>
      )}
    </>
  );
}

function nameOf({ kind, candidates }: Step["began"], position: number): string {
  const title = candidates[position]?.title ?? "";
  if (kind === "outcome") return "all that is kept";
  return kind === "ablation" ? `without ${title}` : title;
}

function Suspected({ step: { ended } }: { step: Step }) {
  const findings = ended.seen?.findings.slice(0, FINDINGS_MAX) ?? [];
  if (findings.length === 0) return <p>No bottleneck was found.</p>;
  return (
    <ul>
      {findings.map(({ id, title, confidence }) => (
        <li key={id}>
          <code>{id}</code> {confidence}: {prose(title)}
        </li>
      ))}
    </ul>
  );
}
