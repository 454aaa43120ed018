// Small pieces of text that several parts share: badges, jumps to seconds, text to copy.

import type { Run } from "../record/decode.ts";
import type { Confidence, EndedBy, Evidence, EvidenceRole, Purpose, VerdictStatus } from "../record/types.ts";
import { around, reveal, view, type Window } from "../state/view.ts";

export const SHAPES: Record<VerdictStatus, string> = { VALID: "✔", SUSPECT: "▲", INVALID: "✘" };

export const CONFIDENCES: Record<Confidence, { shape: string; word: string }> = {
  confirmed: { shape: "●", word: "confirmed" },
  likely: { shape: "◕", word: "likely" },
  possible: { shape: "◔", word: "possible" },
  excluded: { shape: "○", word: "ruled out" },
};

export const ROLES: Record<EvidenceRole, string> = {
  mechanism: "mechanism",
  confirmer: "supported by",
  effect: "effect",
  against: "against it",
  experiment: "tried",
};

export const PURPOSES: Record<Purpose, string> = {
  single: "load",
  pilot: "pilot",
  bracket: "bracket",
  grid: "grid",
  certify: "certify",
  sweep: "sweep",
};

export const ENDINGS: Record<EndedBy, string> = {
  objective: "above it, the objective is missed",
  achieved_rate: "above it, completions fall behind the offered rate",
  errors: "above it, too many requests fail",
  generator: "the generator could not send more",
  ceiling: "no higher rate was allowed",
  interrupted: "the search was interrupted",
  saturation: "more connections did not raise the rate",
  nothing_carried: "no rate met the objective",
};

export function Badge({ status }: { status: VerdictStatus }) {
  return (
    <span class={`badge badge-${status.toLowerCase()}`}>
      <span aria-hidden="true">{SHAPES[status]}</span> {status}
    </span>
  );
}

export function ConfidenceMark({ confidence }: { confidence: Confidence }) {
  const { shape, word } = CONFIDENCES[confidence];
  return (
    <span class={`confidence confidence-${confidence}`}>
      <span aria-hidden="true">{shape}</span> {word}
    </span>
  );
}

/** Shows seconds in the timelines, with the column that they are about. */
export function showSeconds(run: Run, focus: Window, column: string | null): void {
  const added = view.get().added;
  const isKnown = column === null || added.includes(column) || run.column(column) === undefined;
  view.set({
    focus,
    window: around(focus, run.extent),
    added: isKnown || isInPanels(column) ? added : [...added, column],
  });
  // The panel of an added column exists after the next drawing.
  requestAnimationFrame(() => {
    const panel = column === null ? null : document.querySelector<HTMLElement>(`[data-columns~="${CSS.escape(column)}"]`);
    reveal(panel?.id ?? "timeline");
  });
}

function isInPanels(column: string): boolean {
  return document.querySelector(`[data-columns~="${CSS.escape(column)}"]`) !== null;
}

interface SecondsProps {
  run: Run;
  begin: number;
  end: number;
  column?: string | null;
}

/** A button that says which seconds, and shows them. */
export function Seconds({ run, begin, end, column = null }: SecondsProps) {
  const focus: Window = [run.seconds(begin), run.seconds(end)];
  const text = `${focus[0].toFixed(0)}–${focus[1].toFixed(0)} s`;
  return (
    <button type="button" class="seconds" onClick={() => showSeconds(run, focus, column)} aria-label={`Show ${text} in the timeline`}>
      {text}
    </button>
  );
}

/** The seconds in which a signal was seen; an experiment came after them, and has a report that is its own. */
export function EvidenceSeconds({ run, evidence }: { run: Run; evidence: Evidence }) {
  if (evidence.source === "experiment") return <a href="#proofs">experiment</a>;
  return <Seconds run={run} begin={evidence.begin_mono_ns} end={evidence.end_mono_ns} column={evidence.column} />;
}

/** Text that the reader may copy, with a button where the browser lets it. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const copy = (event: Event) => {
    const button = event.currentTarget as HTMLButtonElement;
    const done = (word: string) => () => {
      button.textContent = word;
    };
    navigator.clipboard?.writeText(text).then(done("copied"), done("select and copy"));
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" onClick={copy}>
        copy
      </button>
    </div>
  );
}
