// The way of a request through the server: each tier below the one that asks it, with what was in flight there.

import { count, duration, significant } from "../number.ts";
import { prose } from "../record/text.ts";
import type { PathTier, WaitKind } from "../record/types.ts";

export function Path({ path }: { path: PathTier[] }) {
  return (
    <>
      <p class="quiet">
        Found by the connections between processes. A connection is queued until a process accepts it. Times are parts of one request of the load, by
        Little’s law: threads that were seen at it ÷ completed requests per second.
      </p>
      <Below path={path} asker={undefined} depth={0} />
    </>
  );
}

/** The tiers that one asks, each with those that it asks in turn. */
function Below({ path, asker, depth }: { path: PathTier[]; asker: number | undefined; depth: number }) {
  const tiers = path.map((tier, position) => ({ tier, position })).filter(({ tier }) => tier.asked_by === asker);
  // A record may say that a tier asks itself.
  if (tiers.length === 0 || depth > path.length) return null;
  return (
    <ol class="path">
      {tiers.map(({ tier, position }) => (
        <li key={position}>
          <Tier tier={tier} path={path} />
          <Below path={path} asker={position} depth={depth + 1} />
        </li>
      ))}
    </ol>
  );
}

function Tier({ tier, path }: { tier: PathTier; path: PathTier[] }) {
  const processes = `${tier.processes_count} ${tier.processes_count === 1 ? "process" : "processes"}`;
  const about = [processes, tier.unit, tier.address && `at ${tier.address}`].filter((part) => part !== undefined);
  const limit = tier.queue_limit_count === undefined ? "" : ` of ${count(tier.queue_limit_count)}`;
  const figures: [string, string | undefined][] = [
    ["connected", shown(tier.connections)],
    ["queued", tier.queue && `${shown(tier.queue)}${limit}`],
    ["CPUs", tier.cpus === undefined ? undefined : significant(tier.cpus, 2)],
  ];
  return (
    <div class="tier">
      <p>
        <b>{prose(tier.name)}</b> <span class="quiet">{prose(about.join(" · "))}</span>
      </p>
      <dl class="tier-figures">
        {figures.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text ?? "–"}</dd>
          </div>
        ))}
      </dl>
      <Times tier={tier} path={path} />
    </div>
  );
}

const WAITS: Record<Exclude<WaitKind, "asking">, string> = {
  running: "running",
  lock: "waiting for a lock",
  disk: "waiting for a disk",
  timer: "sleeping",
  stopped: "stopped",
  network: "waiting for another connection",
  other: "waiting for something else",
};

/** Parts of a tier's time that are left out, as a ratio of the whole. */
const LEAST = 0.02;

/** Where the time of a request goes in a tier, the longest part first. */
function Times({ tier, path }: { tier: PathTier; path: PathTier[] }) {
  const known = (tier.waits ?? []).map(({ kind, on, time_ns }) => ({
    what: kind === "asking" ? `waiting for ${path[on ?? 0]?.name ?? "another tier"}` : WAITS[kind],
    ns: time_ns ?? 0,
  }));
  const all = [{ what: "queued for a worker", ns: tier.queue_time_ns ?? 0 }, ...known].sort((one, other) => other.ns - one.ns);
  const sum = all.reduce((whole, { ns }) => whole + ns, 0);
  const parts = all.filter(({ ns }) => ns > 0 && ns >= LEAST * sum);
  if (parts.length === 0) return null;
  return (
    <ul class="tier-times" aria-label={`Time of a request in ${tier.name}`}>
      {parts.map(({ what, ns }) => (
        <li key={what}>
          <span class="bar" style={{ width: `${Math.max((ns / sum) * 100, 1)}%` }} />
          <span>
            {duration(ns)} {prose(what)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The mean, and the greatest reading where it says more. */
function shown(range: PathTier["queue"]): string | undefined {
  if (range === undefined) return undefined;
  const mean = significant(range.mean, 2);
  return range.max > 1.5 * range.mean ? `${mean} (up to ${significant(range.max, 2)})` : mean;
}
