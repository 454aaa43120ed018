// The way of a request through the server: each tier below the one that asks it, with what was in flight there.

import { count, duration, percent, significant } from "../number.ts";
import { prose } from "../record/text.ts";
import type { PathTier, WaitKind } from "../record/types.ts";

export function Path({ path }: { path: PathTier[] }) {
  return (
    <>
      <p class="quiet">
        Found by the connections between processes. A connection is queued until a process accepts it. Times are parts of one request of the load: what
        the kernel saw at the connections, and by Little’s law, threads that were seen at it ÷ completed requests per second.
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
  const about = tier.is_outside
    ? ["not looked into"]
    : [processes, tier.unit, tier.address && `at ${tier.address}`].filter((part) => part !== undefined);
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
      <Notes tier={tier} />
    </div>
  );
}

const WAITS: Record<Exclude<WaitKind, "asking">, string> = {
  running: "running",
  lock: "waiting for a lock",
  process: "waiting for another process",
  disk: "waiting for a disk",
  timer: "sleeping",
  stopped: "stopped",
  network: "waiting for another connection",
  other: "waiting for something else",
};

/** Parts of a tier's time that are left out, as a ratio of the whole. */
const LEAST = 0.02;

interface Part {
  what: string;
  ns: number;
}

/** The parts of a request’s time in a tier: what the kernel saw at its connections, and what its threads were seen at. */
function parts(tier: PathTier, path: PathTier[]): Part[] {
  const { requests } = tier;
  const asked = requests?.asked ?? [];
  const isSeenBetter = ({ kind, on }: { kind: WaitKind; on?: number }) =>
    (kind === "asking" && asked.some((one) => one.on === on)) || (kind === "network" && asked.some((one) => path[one.on]?.is_outside));
  const waits = (tier.waits ?? []).filter((wait) => !isSeenBetter(wait));
  const known = waits.map(({ kind, on, time_ns }) => ({
    what: kind === "asking" ? `waiting for ${called(path[on ?? 0], path)}` : WAITS[kind],
    ns: time_ns ?? 0,
  }));
  if (requests === undefined) return [{ what: "queued for a worker", ns: tier.queue_time_ns ?? 0 }, ...known];
  const answers = asked.flatMap(({ on, sent_count, waiting_ns, unread_ns }) => {
    const name = called(path[on], path);
    const times = Math.abs(sent_count - 1) < ABOUT_ONE ? "" : ` (${significant(sent_count, 2)} requests)`;
    return [
      { what: `waiting for ${name}${times}`, ns: waiting_ns },
      { what: `until an answer of ${name} was read`, ns: unread_ns },
    ];
  });
  const rest = { what: `in ${called(tier, path)} itself`, ns: requests.rest_ns ?? 0 };
  const partial = { what: "until the rest of the request came", ns: requests.partial_ns ?? 0 };
  return [{ what: "waiting to be read", ns: requests.unread_ns }, partial, ...answers, rest, ...known];
}

/** What a tier is called in a sentence: with its address, where others of the path have the same name. */
function called(tier: PathTier | undefined, path: PathTier[]): string {
  if (tier === undefined) return "another tier";
  const isOnly = path.filter(({ name }) => name === tier.name).length < 2;
  return isOnly || tier.address === undefined ? tier.name : `${tier.name} at ${tier.address}`;
}

/** Requests for each one that are said to be one. */
const ABOUT_ONE = 0.05;

/** Time that connections do not explain and that is mentioned, as a ratio. */
const ELSEWHERE = 0.15;

/** What is to be known of these times. */
function Notes({ tier }: { tier: PathTier }) {
  const { requests } = tier;
  if (requests === undefined) return null;
  const elsewhere = requests.elsewhere_ratio ?? 0;
  const trip = requests.round_trip_ns === undefined ? "" : ` (a round trip takes ${duration(requests.round_trip_ns)})`;
  const notes = [
    requests.own_ns === undefined && "Requests share connections and cannot be told apart, so these times are those of connections.",
    elsewhere > ELSEWHERE && `${percent(elsewhere)} of a request’s time passed before the connection was taken up, on the network${trip}, or in the generator.`,
    elsewhere < -ELSEWHERE && `These times are ${percent(-elsewhere)} longer than what the generator saw.`,
  ].filter((note) => note !== false);
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
    </>
  );
}

/** Where the time of a request goes in a tier, the longest part first. */
function Times({ tier, path }: { tier: PathTier; path: PathTier[] }) {
  const all = parts(tier, path).sort((one, other) => other.ns - one.ns);
  const sum = all.reduce((whole, { ns }) => whole + ns, 0);
  const longest = all.filter(({ ns }) => ns > 0 && ns >= LEAST * sum);
  if (longest.length === 0) return null;
  return (
    <ul class="tier-times" aria-label={`Time of a request in ${tier.name}`}>
      {longest.map(({ what, ns }) => (
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
