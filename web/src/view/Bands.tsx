// Requests by range of latency as one bar, with the failed ones at its end.

import { chosenDuration, count, percent } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { objectiveOf } from "../record/plan.ts";

/** Parts of the bar with less than this share have no text in it. */
const ROOM = 0.12;

/** Shades from fast to slow; there are as many in charts.css. */
const SHADES = 7;

interface Part {
  name: string;
  count: number;
  shade: string;
}

export function Bands({ run, bands }: { run: Run; bands: { up_to_ns: number | null; count: number }[] }) {
  const { analysis, plan } = run.payload;
  const limit = objectiveOf(plan)?.limit;
  const named = bands.map(({ up_to_ns, count }, index): Part => {
    const from = bands[index - 1]?.up_to_ns ?? null;
    const end = up_to_ns === null ? "" : `${chosenDuration(up_to_ns)}${up_to_ns === limit ? " (objective)" : ""}`;
    const name = up_to_ns === null ? `over ${chosenDuration(from ?? 0)}` : `up to ${end}`;
    return { name, count, shade: `band-${Math.round((index * (SHADES - 1)) / Math.max(bands.length - 1, 1))}` };
  });
  const failed: Part = { name: "failed", count: analysis.counts.failed, shade: "band-failed" };
  const parts = [...named, failed].filter((part) => part.count > 0);
  const all = parts.reduce((sum, part) => sum + part.count, 0);
  const felt = analysis.response_time_ns.count > 0 ? analysis.response_time_ns : analysis.service_time_ns;
  const censored = felt.censored_count;
  if (all === 0) return null;
  return (
    <figure class="bands">
      <figcaption>Requests by latency</figcaption>
      <div class="bands-bar" aria-hidden="true">
        {parts.map((part) => (
          <span key={part.name} class={part.shade} style={{ flexGrow: part.count / all }}>
            {part.count / all >= ROOM && percent(part.count / all)}
          </span>
        ))}
      </div>
      <ul>
        {parts.map((part) => (
          <li key={part.name}>
            <span class={`bands-key ${part.shade}`} aria-hidden="true" />
            {part.name}: <strong>{percent(part.count / all)}</strong> <span class="quiet">({count(part.count)})</span>
          </li>
        ))}
      </ul>
      {censored > 0 && <p class="quiet">{count(censored)} of them may have taken longer: they timed out, were in flight, or were never sent.</p>}
    </figure>
  );
}
