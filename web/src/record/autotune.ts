// An autotune as the page is given it. The writers are crates/report/src/html/autotune.rs and crates/record/src/autotune.

import type { Effect, Word } from "./effect.ts";

export type StepKind = "look" | "race" | "proof" | "ablation" | "outcome";
export type TriedWord = "kept" | "taken-back" | "not-proven" | "no-difference" | "worse" | "cannot-tell";
export type Ending = "exhausted" | "not-allowed" | "budget" | "rounds" | "interrupted";

export interface Candidate {
  remedy: string;
  title: string;
  reason: string;
  settings: { key: string; value: string }[];
  services: { service: string; key: string; value: unknown }[];
  needs: string[];
}

export interface StepArm {
  effect: Effect | null;
  word: Word;
  p: number | null;
  sentence: string;
  worse: string[];
}

export interface Step {
  began: { step: number; round: number; kind: StepKind; candidates: Candidate[]; kept: Candidate[]; folder: string };
  ended: {
    baseline: number | null;
    arms: StepArm[];
    seen: { findings: { id: string; title: string; confidence: string }[] } | null;
    elapsed_ns: number;
  };
}

export interface TriedChange {
  candidate: Candidate;
  round: number;
  word: TriedWord;
  effect: Effect | null;
  folders: string[];
  sentence: string;
}

export interface AutotuneConclusion {
  headline: string;
  metric: string;
  unit: string;
  before: number | null;
  outcome: Effect | null;
  is_proven: boolean;
  kept: Candidate[];
  is_in_force: boolean;
  tried: TriedChange[];
  not_allowed: Candidate[];
  given_up: string[];
  bottlenecks: readonly [string | null, string | null];
  ending: Ending;
  steps_count: number;
  elapsed_ns: number;
}

export const AUTOTUNE_SCHEMA = "sysdyno.report-autotune/1";

export interface AutotunePayload {
  schema: typeof AUTOTUNE_SCHEMA;
  folder: string;
  url: string;
  name: string;
  steps: Step[];
  conclusion: AutotuneConclusion;
}

/** The word for a change, with a shape so that color is never alone. */
export const TRIED_WORDS: Record<TriedWord, { shape: string; text: string }> = {
  kept: { shape: "✔", text: "kept" },
  "taken-back": { shape: "=", text: "taken back" },
  "not-proven": { shape: "?", text: "not proven" },
  "no-difference": { shape: "=", text: "no difference" },
  worse: { shape: "▼", text: "worse" },
  "cannot-tell": { shape: "?", text: "can’t tell" },
};

export const ENDINGS: Record<Ending, string> = {
  exhausted: "nothing is left that is known to help",
  "not-allowed": "only changes are left that were not allowed",
  budget: "its time was up",
  rounds: "it made the most rounds that were asked for",
  interrupted: "it was interrupted",
};

/** What each step was for, in the words of the story. */
export const STEP_TITLES: Record<StepKind, string> = {
  look: "Measured as it was found",
  race: "Compared what might help",
  proof: "Measured the best one again",
  ablation: "Left each kept change out once",
  outcome: "Compared the end with the beginning",
};

/** What a candidate changes, as it is typed. */
export function changesOf({ settings, services }: Candidate): string[] {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return [
    ...settings.map(({ key, value }) => `${key}=${value}`),
    ...services.map(({ service, key, value }) => `${service}.${key}=${text(value)}`),
  ];
}
