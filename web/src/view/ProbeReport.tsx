// The page of a probe that ran alone: who lost what, all targets on one time axis, and the windows in which probes were lost.

import { plural } from "../record/notes.ts";
import { runOfProbes } from "../record/probed.ts";
import type { ProbePayload } from "../record/probes.ts";
import { prose } from "../record/text.ts";
import { Frame, type Part } from "./Frame.tsx";
import { Masthead } from "./Masthead.tsx";
import { LossWindows, ProbedTargets } from "./Probes.tsx";
import { Timeline } from "./Timeline.tsx";

export function ProbeReport({ payload }: { payload: ProbePayload }) {
  const { probes, tool, damage } = payload;
  const run = runOfProbes(payload);
  const parts: Part[] = [
    { id: "timeline", short: "Timeline", title: "All targets over time", body: <Timeline run={run} /> },
    { id: "windows", short: "Loss windows", title: "Loss windows", body: <LossWindows run={run} probes={probes} /> },
  ];
  const colophon = (
    <>
      Made by sysdyno {tool ? `${tool.version} (${tool.target})` : "from the lines that it printed, whose times have three digits"}. This page
      contains its record, needs no network, and sends no data.
    </>
  );
  const answer = (
    <section id="result" class="answer" tabIndex={-1} aria-labelledby="headline">
      <h1 id="headline">{prose(probes.headline)}</h1>
      {payload.is_interrupted && <p class="quiet">Stopped by a signal; the results up to that point are valid.</p>}
      {damage.length > 0 && (
        <p>
          {plural(damage.length, "gap")}: {damage.join("; ")}
        </p>
      )}
      <ProbedTargets probes={probes} />
    </section>
  );
  return <Frame masthead={<Masthead subject={payload.subject} started_unix_ns={payload.started_unix_ns} />} answer={answer} parts={parts} colophon={colophon} />;
}
