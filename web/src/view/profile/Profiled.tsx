// The profile in the report of a run: of the same load, sent once more after the measurement. Of a search there is one at a low load, too,
// and what differs between them.

import { useMemo, useState } from "preact/hooks";
import { count, duration } from "../../number.ts";
import { isComparable } from "../../record/difference.ts";
import { byTier, serverOf } from "../../record/parts.ts";
import type { Grouping, Profile } from "../../record/profile.ts";
import { prose } from "../../record/text.ts";
import type { Payload } from "../../record/types.ts";
import { ChangedFunctions } from "./ChangedFunctions.tsx";
import { FlameGraph } from "./FlameGraph.tsx";
import { Quality } from "./Quality.tsx";

type Shown = "measured" | "low" | "difference";

const NAMES: readonly [Shown, string][] = [
  ["measured", "At the highest load"],
  ["low", "At a fifth of it"],
  ["difference", "Difference per response"],
];

interface ProfiledProps {
  profile: Profile;
  low?: Profile | undefined;
  events: Payload["events"];
}

export function Profiled({ profile, low, events }: ProfiledProps) {
  const tiers = useMemo(() => byTier(events), [events]);
  const server = useMemo(() => serverOf(events), [events]);
  const [shown, setShown] = useState<Shown>("measured");
  if (!low) return <Single profile={profile} tiers={tiers} sentence={once("the same load was sent once more", profile)} />;
  return (
    <>
      <fieldset class="flame-choice">
        <legend>Profile</legend>
        {NAMES.filter(([name]) => name !== "difference" || isComparable(profile, low)).map(([name, text]) => (
          <label key={name}>
            <input type="radio" name="profile" checked={shown === name} onChange={() => setShown(name)} /> {text}
          </label>
        ))}
      </fieldset>
      {shown === "measured" && <Single key="measured" profile={profile} tiers={tiers} sentence={once("the highest load that met the objective was sent once more", profile)} />}
      {shown === "low" && <Single key="low" profile={low} tiers={tiers} sentence={once("a fifth of the highest load was sent", low)} />}
      {shown === "difference" && (
        <>
          <p>{prose("Frames are as wide as what a response takes at the highest load. Their colors tell what it takes more or less than at a fifth of that load: caches that no longer hold, locks, queues.")}</p>
          <FlameGraph profile={profile} before={low} tiers={tiers} first={server} />
          <h3>Functions that differ, per response</h3>
          <ChangedFunctions profile={profile} before={low} />
        </>
      )}
    </>
  );
}

function once(what: string, profile: Profile): string {
  const span = duration(profile.end_mono_ns - profile.begin_mono_ns);
  const responses = profile.requests_count === null ? "" : ` (${count(profile.requests_count)} responses)`;
  const host = profile.host === undefined ? "the whole host" : `host '${profile.host}'`;
  return `After the measurement, ${what} for ${span}${responses}, and ${count(profile.counts.samples_count)} stacks of ${host} were sampled. No measured number contains the profiler.`;
}

function Single({ profile, tiers, sentence }: { profile: Profile; tiers: Grouping | null; sentence: string }) {
  return (
    <>
      <p>{prose(sentence)}</p>
      <FlameGraph profile={profile} tiers={tiers} />
      <h3>How far to trust it</h3>
      <Quality profile={profile} />
    </>
  );
}
