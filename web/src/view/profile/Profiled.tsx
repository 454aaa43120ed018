// The profile in the report of a run: of the same load, sent once more after the measurement.

import { count, duration } from "../../number.ts";
import { type Profile, programsOf } from "../../record/profile.ts";
import { prose } from "../../record/text.ts";
import { FlameGraph } from "./FlameGraph.tsx";
import { Quality } from "./Quality.tsx";

export function Profiled({ profile }: { profile: Profile }) {
  const span = duration(profile.end_mono_ns - profile.begin_mono_ns);
  const responses = profile.requests_count === null ? "" : ` (${count(profile.requests_count)} responses)`;
  const { samples_count } = profile.counts;
  return (
    <>
      <p>{prose(`After the measurement, the same load was sent once more for ${span}${responses}, and ${count(samples_count)} stacks of the whole host were sampled. No measured number contains the profiler.`)}</p>
      <FlameGraph profile={profile} programs={programsOf(profile)} />
      <h3>How far to trust it</h3>
      <Quality profile={profile} />
    </>
  );
}
