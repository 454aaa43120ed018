// How far a profile can be trusted: names, stacks that end early, lost records, cost.

import { count, duration, percent } from "../../number.ts";
import type { Profile } from "../../record/profile.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";

export function Quality({ profile }: { profile: Profile }) {
  const { counts, cost } = profile;
  const lost = counts.lost_count + counts.beyond_bound_count;
  const span = Math.max(profile.end_mono_ns - profile.begin_mono_ns, 1);
  const share = (part: number, whole: number) => (whole === 0 ? "–" : percent(part / whole));
  const uncopied = counts.uncopied_stacks_count ?? null;
  const unseen = profile.unseen_pids?.length ?? 0;
  const rows: [string, string, string][] = [
    ["Frames with a name", share(counts.resolved_frames_count, counts.frames_count), "Others show their file in brackets: its debug symbols are not installed."],
    ["User stacks that end early", share(counts.cut_stacks_count, counts.user_stacks_count), "Their callers are not known, so the totals of callers are too low."],
    ...(uncopied === null ? [] : [["Waits without a copied stack", share(uncopied, counts.samples_count), "There were too many context switches to copy all stacks: callers without frame pointers are missing."] as [string, string, string]]),
    ...(unseen === 0 ? [] : [["Processes not seen", count(unseen), "They are children that run as other users."] as [string, string, string]]),
    ["Records lost", `${count(lost)} of ${count(lost + counts.samples_count)}`, "The kernel’s buffers were full, or there were too many different stacks."],
    ["Cost of sampling", prose(`${percent(cost.sampling_cpu_ns / span)} of one CPU`), "CPU time of the thread that read the samples."],
    ["Cost of names", prose(duration(cost.naming_cpu_ns)), "CPU time after sampling had ended."],
  ];
  return (
    <>
      <Table label="Quality" heads={["what", { number: "value" }, "meaning"]} stacks>
        {rows.map(([name, value, meaning]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{value}</td>
            <td>{meaning}</td>
          </tr>
        ))}
      </Table>
      <p>
        {profile.kind === "on-cpu"
          ? `Each CPU was sampled ${profile.rate_hz ?? "–"} times a second while it was not idle, by ${profile.event ?? "cpu-clock"}.`
          : "Each wait has the stack of its beginning, and lasts until the thread ran again. Threads that never ran meanwhile are missing."}
      </p>
    </>
  );
}
