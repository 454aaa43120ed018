// The report from top to bottom: the answer on the first screen; what it rests on and how it was made, folded until asked for.

import type { Run } from "../record/decode.ts";
import { factsNote, filesNote, findingsNote, latencyNote, planNote, plural, requestsNote, verdictNote } from "../record/notes.ts";
import { loadOf, seedOf } from "../record/plan.ts";
import type { ProbeConclusion } from "../record/probes.ts";
import { proofRows } from "../record/proofs.ts";
import { servicesOf } from "../record/services.ts";
import { settingsOf } from "../record/settings.ts";
import { Answer } from "./Answer.tsx";
import { Capacity } from "./Capacity.tsx";
import { Findings } from "./Findings.tsx";
import { folded, RunFrame, type Part } from "./Frame.tsx";
import { Hosts } from "./Hosts.tsx";
import { Latency } from "./Latency.tsx";
import { Links } from "./Links.tsx";
import { Machine } from "./Machine.tsx";
import { Operations } from "./Operations.tsx";
import { Path } from "./Path.tsx";
import { PlanView } from "./Plan.tsx";
import { Again, Files } from "./Provenance.tsx";
import { LossWindows, ProbedTargets } from "./Probes.tsx";
import { Profiled } from "./profile/Profiled.tsx";
import { Proofs } from "./Proofs.tsx";
import { Requests } from "./Requests.tsx";
import { Services } from "./Services.tsx";
import { Session } from "./Session.tsx";
import { Settings } from "./Settings.tsx";
import { Timeline } from "./Timeline.tsx";
import { Verdict } from "./Verdict.tsx";

function partsOf(run: Run): Part[] {
  const { analysis, events, facts, generators, manifest, plan, profile, series, damage } = run.payload;
  const path = analysis.path ?? [];
  const { session, operations = [], links = [], proofs = [], curve, findings } = analysis;
  const [settings, services] = [settingsOf(events), servicesOf(events, analysis.shown_trial)];
  const hasReasons = analysis.verdict.reasons.length > 0 || damage.length > 0;
  const counters = series.columns.filter((column) => !column.unavailable).length;
  const parts: (Part | false)[] = [
    hasReasons && folded("verdict", "Validity", verdictNote(run), <Verdict run={run} />),
    (path.length > 1 || path[0]?.requests !== undefined) && folded("path", "Request path", plural(path.length, "tier"), <Path path={path} />),
    curve.length > 1 && folded("capacity", "Rate and latency against load", plural(curve.length, "trial"), <Capacity run={run} />, true),
    folded("latency", "Latency", latencyNote(run), <Latency run={run} />, true),
    isWorthTelling(analysis.probes) && folded("probes", "Probes", analysis.probes.headline, <Outsiders run={run} probes={analysis.probes} />, true),
    links.length > 0 && folded("links", "Links", plural(links.reduce((sum, split) => sum + split.links.length, 0), "link"), <Links splits={links} />),
    session !== undefined && folded("session", "Users", plural(session.users, "user"), <Session run={run} />),
    operations.length > 0 && folded("operations", "Operations", plural(operations.length, "operation"), <Operations run={run} />),
    generators !== undefined && folded("hosts", "Hosts that sent the load", plural(generators.length, "host"), <Hosts shares={generators} />),
    settings.length > 0 && folded("settings", "Settings during the load", plural(settings.length, "setting"), <Settings run={run} />),
    services.length > 0 && folded("services", "Counters of the services", plural(services.length, "service"), <Services run={run} />),
    proofs.length > 0 && folded("proofs", "What was tried", plural(proofRows(proofs).filter(({ run }) => run !== null).length, "experiment"), <Proofs proofs={proofs} />, true),
    findings.length > 0 && folded("findings", "Findings", findingsNote(run), <Findings run={run} />),
    profile !== undefined && folded("profile", "Where the CPU time goes", "flame graph", <Profiled profile={profile} low={run.payload.profile_low} events={events} />),
    folded("timeline", "Timeline", plural(counters, "counter"), <Timeline run={run} />),
    folded("requests", "Requests", requestsNote(run), <Requests run={run} />),
    folded("machine", "Machine", factsNote(facts), <Machine facts={facts} />),
    folded("plan", "Plan", planNote(run), <PlanView run={run} />),
    folded("again", "Run it again", "the command", <Again {...run.payload} seed={seedOf(plan)} what="The same load, arrival by arrival" />),
    folded("files", "Files", filesNote(manifest), <Files {...run.payload} />),
  ];
  return parts.filter((part) => part !== false);
}

/** Whether probes say more than the one row in the table of latencies. */
function isWorthTelling(probes: ProbeConclusion | undefined): probes is ProbeConclusion {
  return probes !== undefined && (probes.targets.length > 1 || probes.windows_count > 0);
}

function Outsiders({ run, probes }: { run: Run; probes: ProbeConclusion }) {
  return (
    <>
      <ProbedTargets probes={probes} />
      <h3>Loss windows</h3>
      <LossWindows run={run} probes={probes} />
    </>
  );
}

export function Report({ run }: { run: Run }) {
  const { manifest, plan } = run.payload;
  const subject = loadOf(plan)?.target.url ?? manifest.id;
  return <RunFrame manifest={manifest} subject={subject} answer={<Answer run={run} />} parts={partsOf(run)} />;
}
