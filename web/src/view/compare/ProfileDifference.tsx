// What the second run took more or less CPU time for than the first, per response.

import { isComparable } from "../../record/difference.ts";
import type { Profile } from "../../record/profile.ts";
import { ChangedFunctions } from "../profile/ChangedFunctions.tsx";
import { FlameGraph } from "../profile/FlameGraph.tsx";

export function ProfileDifference({ profiles: [before, profile] }: { profiles: [Profile, Profile] }) {
  if (!isComparable(profile, before)) return <p>The profiles cannot be compared: one of them has no responses to divide by.</p>;
  return (
    <>
      <p>Frames are as wide as the CPU time that they take per response in B. Their colors tell what that is more or less than in A.</p>
      <FlameGraph profile={profile} before={before} />
      <h3>Functions that differ, per response</h3>
      <ChangedFunctions profile={profile} before={before} />
    </>
  );
}
