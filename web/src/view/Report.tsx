// The report from top to bottom: the answer on the first screen, then what it rests on, then how it was made.

import type { Run } from "../record/decode.ts";
import { loadOf, seedOf } from "../record/plan.ts";
import { servicesOf } from "../record/services.ts";
import { settingsOf } from "../record/settings.ts";
import type { Payload } from "../record/types.ts";
import { Answer } from "./Answer.tsx";
import { Capacity } from "./Capacity.tsx";
import { Findings } from "./Findings.tsx";
import { RunFrame, type Part } from "./Frame.tsx";
import { Hosts } from "./Hosts.tsx";
import { Latency } from "./Latency.tsx";
import { Machine } from "./Machine.tsx";
import { Operations } from "./Operations.tsx";
import { Path } from "./Path.tsx";
import { PlanView } from "./Plan.tsx";
import { Again, Files } from "./Provenance.tsx";
import { Profiled } from "./profile/Profiled.tsx";
import { Requests } from "./Requests.tsx";
import { Services } from "./Services.tsx";
import { Session } from "./Session.tsx";
import { Settings } from "./Settings.tsx";
import { Timeline } from "./Timeline.tsx";
import { Verdict } from "./Verdict.tsx";

function partsOf(run: Run): Part[] {
  const { analysis } = run.payload;
  const hasReasons = analysis.verdict.reasons.length > 0 || run.payload.damage.length > 0;
  const parts: (Part | false)[] = [
    hasReasons && { id: "verdict", short: "Validity", title: "Validity", body: <Verdict run={run} /> },
    ((analysis.path?.length ?? 0) > 1 || analysis.path?.[0]?.requests !== undefined) && { id: "path", short: "Request path", title: "Request path", body: <Path path={analysis.path ?? []} /> },
    analysis.curve.length > 1 && { id: "capacity", short: "Load", title: "Rate and latency against load", body: <Capacity run={run} /> },
    { id: "latency", short: "Latency", title: "Latency distribution", body: <Latency run={run} /> },
    analysis.session !== undefined && { id: "session", short: "Users", title: "Users", body: <Session run={run} /> },
    (analysis.operations?.length ?? 0) > 0 && { id: "operations", short: "Operations", title: "Operations", body: <Operations run={run} /> },
    run.payload.generators !== undefined && { id: "hosts", short: "Hosts", title: "Hosts that sent the load", body: <Hosts shares={run.payload.generators} /> },
    settingsOf(run.payload.events).length > 0 && { id: "settings", short: "Settings", title: "Settings during the load", body: <Settings run={run} /> },
    servicesOf(run.payload.events, analysis.shown_trial).length > 0 && { id: "services", short: "Services", title: "Counters of the services", body: <Services run={run} /> },
    analysis.findings.length > 0 && { id: "findings", short: "Findings", title: "Findings", body: <Findings run={run} /> },
    run.payload.profile !== undefined && { id: "profile", short: "Profile", title: "Where the CPU time goes", body: <Profiled profile={run.payload.profile} low={run.payload.profile_low} server={serverOf(run.payload.events)} /> },
    { id: "timeline", short: "Timeline", title: "Timeline of all counters", body: <Timeline run={run} /> },
    { id: "requests", short: "Requests", title: "Requests", body: <Requests run={run} /> },
    { id: "machine", short: "Machine", title: "Machine", body: <Machine facts={run.payload.facts} /> },
    { id: "plan", short: "Plan", title: "Plan", body: <PlanView run={run} /> },
    { id: "again", short: "Run again", title: "Run it again", body: <Again {...run.payload} seed={seedOf(run.payload.plan)} what="The same load, arrival by arrival" /> },
    { id: "files", short: "Files", title: "Files", body: <Files {...run.payload} /> },
  ];
  return parts.filter((part) => part !== false);
}

export function Report({ run }: { run: Run }) {
  const { manifest, plan } = run.payload;
  const subject = loadOf(plan)?.target.url ?? manifest.id;
  return <RunFrame manifest={manifest} subject={subject} answer={<Answer run={run} />} parts={partsOf(run)} />;
}

/** Names of the processes that serve the load. */
function serverOf(events: Payload["events"]): ReadonlySet<string> {
  return new Set(events.flatMap(({ event }) => (event.kind === "watched" && event.role === "target" ? [event.command] : [])));
}
