// The page of a profile: how much, the flame graph, the functions of each program, and how far to trust it.

import { count, duration, percent, significant } from "../../number.ts";
import { prose } from "../../record/text.ts";
import { countedEvent, type ProfilePayload } from "../../record/profile.ts";
import { Frame, type Part } from "../Frame.tsx";
import { Masthead } from "../Masthead.tsx";
import { FlameGraph } from "./FlameGraph.tsx";
import { Functions } from "./Functions.tsx";
import { Quality } from "./Quality.tsx";
import { KINDS, weight } from "./words.ts";

export function ProfileReport({ payload }: { payload: ProfilePayload }) {
  const { profile, summary, tool } = payload;
  const parts: Part[] = [
    { id: "functions", short: "Functions", title: "Functions by program", body: <Functions summary={summary} /> },
    { id: "quality", short: "Quality", title: "How far to trust it", body: <Quality profile={profile} /> },
  ];
  const colophon = (
    <>
      Made by sysdyno {tool.version} ({tool.target}). This page contains its profile, needs no network, and sends no data.
    </>
  );
  return <Frame masthead={<Masthead subject={payload.subject} started_unix_ns={payload.started_unix_ns} />} answer={<Answer payload={payload} />} parts={parts} colophon={colophon} />;
}

function Answer({ payload }: { payload: ProfilePayload }) {
  const { profile, summary } = payload;
  const kinds = summary.kinds.filter(({ ratio }) => ratio >= 0.005);
  return (
    <section id="result" class="answer" tabIndex={-1} aria-labelledby="headline">
      <h1 id="headline">{prose(headline(payload))}</h1>
      {profile.kernel_unseen && <p>{prose(unseen(payload))}</p>}
      {profile.kind === "on-cpu" && !profile.kernel_unseen && kinds.length > 0 && (
        <p>{kinds.map(({ kind, ratio }) => `${percent(ratio)} in ${kind === "user" ? "programs" : (KINDS.find((each) => each.kind === kind)?.name ?? kind)}`).join(" · ")}</p>
      )}
      <FlameGraph profile={profile} />
    </section>
  );
}

function headline({ profile, summary }: ProfilePayload): string {
  const span = duration(profile.end_mono_ns - profile.begin_mono_ns);
  const samples = count(profile.counts.samples_count);
  const event = countedEvent(profile);
  if (event !== null) return `${weight(profile, summary.events_count ?? 0)}${profile.kernel_unseen ? " in user code" : ""}: ${samples} samples in ${span}`;
  const mean = significant(summary.mean_count ?? 0, 3);
  if (profile.kind === "off-cpu") return `On average, ${mean} threads waited: ${samples} waits in ${span}`;
  const cpus = profile.cpus_count === 1 ? "1 CPU" : `${profile.cpus_count} CPUs`;
  return `${mean} of ${cpus} busy${profile.kernel_unseen ? " in user code" : ""}: ${samples} samples in ${span}`;
}

/** What is missing where the user may not sample the kernel, how much it is, and what would show it. */
function unseen({ profile, summary }: ProfilePayload): string {
  const size = summary.kernel_unseen_ratio === undefined ? "" : `, ${percent(summary.kernel_unseen_ratio)} of the CPU time,`;
  const level = profile.kernel_unseen?.perf_event_paranoid ?? null;
  const setting = level === null ? "" : ` (kernel.perf_event_paranoid is ${level})`;
  return `The kernel’s part${size} is not seen: this user may not sample the kernel${setting}. Root may, and so may every user if kernel.perf_event_paranoid is 1.`;
}
