// The report of an experiment from top to bottom: the word and its interval, then every pair, then how it was made.

import { actionText, type Experiment, loadOfExperiment } from "../../record/experiment.ts";
import { RunFrame, type Part } from "../Frame.tsx";
import { Machine } from "../Machine.tsx";
import { Again, Files } from "../Provenance.tsx";
import { ArmLatency } from "./ArmLatency.tsx";
import { Closing } from "./Closing.tsx";
import { Diagnostics } from "./Diagnostics.tsx";
import { ExperimentPlanView } from "./ExperimentPlanView.tsx";
import { Guardrails } from "./Guardrails.tsx";
import { Method } from "./Method.tsx";
import { Outcome } from "./Outcome.tsx";
import { Pairs } from "./Pairs.tsx";
import { Stages } from "./Stages.tsx";
import { Trials } from "./Trials.tsx";

function partsOf(experiment: Experiment): Part[] {
  const { conclusion, facts, plan, latencies } = experiment.payload;
  const latency = latencies.filter((each) => each.stage === experiment.proof?.stage.stage);
  const parts: (Part | false)[] = [
    experiment.pairs.length > 0 && { id: "pairs", short: "Pairs", title: "All pairs over time", body: <Pairs experiment={experiment} /> },
    experiment.counted().length > 1 && {
      id: "closing",
      short: "Interval",
      title: "How the interval narrowed",
      body: <Closing experiment={experiment} />,
    },
    conclusion.guardrails.length > 0 && { id: "guardrails", short: "Guardrails", title: "Guardrails: what must not get worse", body: <Guardrails experiment={experiment} /> },
    conclusion.stages.length > 1 && { id: "steps", short: "Steps", title: "Steps: each change alone, then together", body: <Stages experiment={experiment} /> },
    latency.length > 0 && { id: "latency", short: "Latency", title: "Latency of each trial", body: <ArmLatency experiment={experiment} latencies={latency} /> },
    { id: "trust", short: "Diagnostics", title: "Diagnostics of the method", body: <Diagnostics experiment={experiment} /> },
    { id: "trials", short: "Trials", title: "Trials", body: <Trials experiment={experiment} /> },
    { id: "machine", short: "Machine", title: "Machine", body: <Machine facts={facts} /> },
    { id: "plan", short: "Plan", title: "Plan", body: <ExperimentPlanView experiment={experiment} /> },
    { id: "method", short: "Method", title: "Method", body: <Method experiment={experiment} /> },
    { id: "again", short: "Run again", title: "Run it again", body: <Again {...experiment.payload} seed={plan?.seed ?? null} what="The same order of trials and the same loads" /> },
    { id: "files", short: "Files", title: "Files", body: <Files {...experiment.payload} /> },
  ];
  return parts.filter((part) => part !== false);
}

export function ExperimentReport({ experiment }: { experiment: Experiment }) {
  const { manifest, plan } = experiment.payload;
  const subject = loadOfExperiment(plan)?.target.url ?? actionText(experiment.variants()[1]?.action);
  return <RunFrame manifest={manifest} subject={subject} answer={<Outcome experiment={experiment} />} parts={partsOf(experiment)} />;
}
