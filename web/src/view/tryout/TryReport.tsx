// The report of a tryout from top to bottom: the word and its interval, then every pair; how it was made is folded until asked for.

import { actionText, type Tryout, loadOfTryout } from "../../record/tryout.ts";
import { factsNote, filesNote, plural } from "../../record/notes.ts";
import { folded, RunFrame, type Part } from "../Frame.tsx";
import { Machine } from "../Machine.tsx";
import { Again, Files } from "../Provenance.tsx";
import { ArmLatency } from "./ArmLatency.tsx";
import { Closing } from "./Closing.tsx";
import { Diagnostics } from "./Diagnostics.tsx";
import { TryPlanView } from "./TryPlanView.tsx";
import { Guardrails } from "./Guardrails.tsx";
import { Method } from "./Method.tsx";
import { Outcome } from "./Outcome.tsx";
import { Pairs } from "./Pairs.tsx";
import { Stages } from "./Stages.tsx";
import { Trials } from "./Trials.tsx";

function guardrailsNote({ payload }: Tryout): string {
  const { guardrails } = payload.conclusion;
  const held = guardrails.filter(({ state }) => state === "held").length;
  return held === guardrails.length ? "all held" : `${held} of ${guardrails.length} held`;
}

function trustNote({ payload }: Tryout): string {
  const { conclusion, damage } = payload;
  const warnings = conclusion.diagnostics.filter((diagnostic) => diagnostic.is_warning).length + conclusion.verdict.capped_by.length + damage.length;
  return warnings === 0 ? "nothing speaks against it" : plural(warnings, "warning");
}

function partsOf(tryout: Tryout): Part[] {
  const { conclusion, facts, plan, latencies, trials } = tryout.payload;
  const latency = latencies.filter((each) => each.stage === tryout.proof?.stage.stage);
  const parts: (Part | false)[] = [
    tryout.pairs.length > 0 && { id: "pairs", short: "Pairs", title: "All pairs over time", body: <Pairs tryout={tryout} /> },
    tryout.counted().length > 1 && folded("closing", "How the interval narrowed", plural(tryout.counted().length, "pair"), <Closing tryout={tryout} />, true),
    conclusion.guardrails.length > 0 &&
      folded("guardrails", "Guardrails: what must not get worse", guardrailsNote(tryout), <Guardrails tryout={tryout} />, true),
    conclusion.stages.length > 1 &&
      folded("steps", "Steps: each change alone, then together", plural(conclusion.stages.length, "comparison"), <Stages tryout={tryout} />, true),
    latency.length > 0 && folded("latency", "Latency of each trial", plural(latency.length, "trial"), <ArmLatency tryout={tryout} latencies={latency} />),
    folded("trust", "Diagnostics of the method", trustNote(tryout), <Diagnostics tryout={tryout} />),
    folded("trials", "Trials", plural(trials.length, "trial"), <Trials tryout={tryout} />),
    folded("machine", "Machine", factsNote(facts), <Machine facts={facts} />),
    folded("plan", "Plan", "what was decided before", <TryPlanView tryout={tryout} />),
    folded("method", "Method", "how it was judged", <Method tryout={tryout} />),
    folded("again", "Run it again", "the command", <Again {...tryout.payload} seed={plan?.seed ?? null} what="The same order of trials and the same loads" />),
    folded("files", "Files", filesNote(tryout.payload.manifest), <Files {...tryout.payload} />),
  ];
  return parts.filter((part) => part !== false);
}

export function TryReport({ tryout }: { tryout: Tryout }) {
  const { manifest, plan } = tryout.payload;
  const subject = loadOfTryout(plan)?.target.url ?? actionText(tryout.variants()[1]?.action);
  return <RunFrame manifest={manifest} subject={subject} answer={<Outcome tryout={tryout} />} parts={partsOf(tryout)} />;
}
