// The report of a tryout from top to bottom: the word and its interval, then every pair, then how it was made.

import { actionText, type Tryout, loadOfTryout } from "../../record/tryout.ts";
import { RunFrame, type Part } from "../Frame.tsx";
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

function partsOf(tryout: Tryout): Part[] {
  const { conclusion, facts, plan, latencies } = tryout.payload;
  const latency = latencies.filter((each) => each.stage === tryout.proof?.stage.stage);
  const parts: (Part | false)[] = [
    tryout.pairs.length > 0 && { id: "pairs", short: "Pairs", title: "All pairs over time", body: <Pairs tryout={tryout} /> },
    tryout.counted().length > 1 && {
      id: "closing",
      short: "Interval",
      title: "How the interval narrowed",
      body: <Closing tryout={tryout} />,
    },
    conclusion.guardrails.length > 0 && { id: "guardrails", short: "Guardrails", title: "Guardrails: what must not get worse", body: <Guardrails tryout={tryout} /> },
    conclusion.stages.length > 1 && { id: "steps", short: "Steps", title: "Steps: each change alone, then together", body: <Stages tryout={tryout} /> },
    latency.length > 0 && { id: "latency", short: "Latency", title: "Latency of each trial", body: <ArmLatency tryout={tryout} latencies={latency} /> },
    { id: "trust", short: "Diagnostics", title: "Diagnostics of the method", body: <Diagnostics tryout={tryout} /> },
    { id: "trials", short: "Trials", title: "Trials", body: <Trials tryout={tryout} /> },
    { id: "machine", short: "Machine", title: "Machine", body: <Machine facts={facts} /> },
    { id: "plan", short: "Plan", title: "Plan", body: <TryPlanView tryout={tryout} /> },
    { id: "method", short: "Method", title: "Method", body: <Method tryout={tryout} /> },
    { id: "again", short: "Run again", title: "Run it again", body: <Again {...tryout.payload} seed={plan?.seed ?? null} what="The same order of trials and the same loads" /> },
    { id: "files", short: "Files", title: "Files", body: <Files {...tryout.payload} /> },
  ];
  return parts.filter((part) => part !== false);
}

export function TryReport({ tryout }: { tryout: Tryout }) {
  const { manifest, plan } = tryout.payload;
  const subject = loadOfTryout(plan)?.target.url ?? actionText(tryout.variants()[1]?.action);
  return <RunFrame manifest={manifest} subject={subject} answer={<Outcome tryout={tryout} />} parts={partsOf(tryout)} />;
}
