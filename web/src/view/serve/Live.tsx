// A run while it goes on: what it did in the last second, and second by second since it began.

import { useEffect, useState } from "preact/hooks";
import { count, duration, MISSING, significant, span } from "../../number.ts";
import { cpusOf, dueOf, failuresOf, type GrowthPoint, type HostNow, type LivePage, momentsOfGrowth, rateOf } from "../../record/served.ts";
import { parseRecord } from "../../record/text.ts";
import { Bar } from "./Bar.tsx";
import { Stopper } from "./Control.tsx";
import { LiveChart } from "./LiveChart.tsx";

/** The list of the server is this old at most. Unit: milliseconds. */
const LIST_AGE_MS = 1_500;

/** Intervals that are kept: an hour. */
const POINTS_MAX = 3_600;

/** How it is with the run, and with the connection to the server. */
type State = { now: "waiting" | "running" | "lost" | "ended" } | { now: "gone"; why: string };

function useGrowth(name: string): [readonly GrowthPoint[], readonly HostNow[], State] {
  const [points, setPoints] = useState<readonly GrowthPoint[]>([]);
  const [nows, setNows] = useState<readonly HostNow[]>([]);
  const [state, setState] = useState<State>({ now: "waiting" });
  useEffect(() => {
    const source = new EventSource(`/runs/${encodeURIComponent(name)}/growth`);
    const read = (event: MessageEvent<string>) => parseRecord(event.data) as GrowthPoint[];
    const end = (state: State) => {
      source.close();
      setState(state);
    };
    source.addEventListener("begin", (event) => {
      setPoints(read(event));
      setState({ now: "running" });
    });
    source.addEventListener("grown", (event) => setPoints((before) => [...before, ...read(event)].slice(-POINTS_MAX)));
    source.addEventListener("now", (event: MessageEvent<string>) =>
      setNows((before) => [...before, parseRecord(event.data) as HostNow].slice(-POINTS_MAX)),
    );
    source.addEventListener("ended", () => {
      end({ now: "ended" });
      setTimeout(() => location.reload(), LIST_AGE_MS);
    });
    source.addEventListener("gone", (event) => end({ now: "gone", why: (parseRecord(JSON.stringify(event.data)) as string) ?? "" }));
    source.addEventListener("error", () => setState((before) => (before.now === "ended" || before.now === "gone" ? before : { now: "lost" })));
    return () => source.close();
  }, [name]);
  return [points, nows, state];
}

const SAID = {
  waiting: "Waiting for the first interval.",
  running: "Each second is added when it is over.",
  lost: "The server does not answer; trying again.",
  ended: "The run has ended. Opening its report.",
};

export function Live({ live }: { live: LivePage }) {
  const { run } = live;
  const [points, nows, state] = useGrowth(run.name);
  const moments = momentsOfGrowth(points);
  const last = moments.at(-1);
  const phase = points.at(-1);
  // While a trial drains, nothing is due.
  const drawn = momentsOfGrowth(points.filter((point) => point.phase !== "drain"));
  const ends = drawn.map((moment) => moment.end);
  const errors = moments.reduce((sum, moment) => sum + moment.errors, 0);
  const rateNow = last ? rateOf(last) : null;
  const figures: [string, string][] = [
    ["good responses per second", rateNow === null ? MISSING : significant(rateNow, 4)],
    ["p50", last?.p50_ns == null ? MISSING : duration(last.p50_ns)],
    ["p99", last?.p99_ns == null ? MISSING : duration(last.p99_ns)],
    ["errors", count(errors)],
  ];
  return (
    <>
      <Bar />
      <header class="masthead">
        <p class="wordmark">sysdyno</p>
        <p class="subject">{run.url ?? run.command}</p>
        <p class="when">{run.name}</p>
      </header>
      <main>
        <section id="result" class="answer" aria-labelledby="headline">
          <p class="verdict-line">
            <span class="badge badge-running">{state.now === "ended" || state.now === "gone" ? state.now : "running"}</span>{" "}
            <span class="quiet" role="status">
              {state.now === "gone" ? `The folder of this run cannot be read any more: ${state.why}` : SAID[state.now]}
            </span>
          </p>
          <h1 id="headline">{run.url ?? run.command}</h1>
          {live.key !== undefined && <Stopper access={live.key} />}
          <p class="quiet">
            {phase ? `Trial ${phase.trial}, ${phase.phase.replace("_", " ")}` : "No trial yet"}
            {last && `, ${span(last.end)} since the first request`}. The verdict comes with the report.
          </p>
          <dl class="figures live-figures">
            {figures.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <Seen now={nows.at(-1)} />
          <LiveChart
            title="requests per second"
            unit="/s"
            ends={ends}
            lines={[
              { label: "good responses", values: drawn.map(rateOf) },
              { label: "due", values: drawn.map(dueOf) },
            ]}
          />
          <LiveChart
            title="latency"
            unit="ns"
            ends={ends}
            lines={[
              { label: "p50", values: drawn.map((moment) => moment.p50_ns) },
              { label: "p99", values: drawn.map((moment) => moment.p99_ns) },
            ]}
          />
          <Cpus nows={nows} origin_ns={points[0]?.begin_mono_ns} />
          <Failures points={points} />
        </section>
      </main>
    </>
  );
}

/** What limits the host now, as far as its readings show. */
function Seen({ now }: { now: HostNow | undefined }) {
  if (!now || now.seen.length === 0) return null;
  return (
    <div class="live-seen">
      <p class="quiet">Readings of the last ten seconds show:</p>
      <ul>
        {now.seen.map(({ id, title }) => (
          <li key={id}>
            {title} <code>sysdyno explain {id}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Who uses the CPUs of the server's host, since the page was opened. */
function Cpus({ nows, origin_ns }: { nows: readonly HostNow[]; origin_ns: number | undefined }) {
  if (nows.length === 0 || origin_ns === undefined) return null;
  const all = nows.at(-1)?.uses.host_cpus_count;
  const title = all == null ? "CPUs in use" : `CPUs in use, of ${all}`;
  const ends = nows.map((now) => (now.mono_ns - origin_ns) / 1e9);
  return <LiveChart title={title} unit="CPUs" ends={ends} lines={[...cpusOf(nows)].map(([label, values]) => ({ label, values }))} />;
}

/** Failed requests by class, where there are any. */
function Failures({ points }: { points: readonly GrowthPoint[] }) {
  const failures = failuresOf(points);
  if (failures.length === 0) return null;
  return (
    <table class="live-failures">
      <caption>failed requests so far</caption>
      <thead>
        <tr>
          <th scope="col">class</th>
          <th scope="col">requests</th>
        </tr>
      </thead>
      <tbody>
        {failures.map(([name, number]) => (
          <tr key={name}>
            <th scope="row">{name.replaceAll("_", " ")}</th>
            <td>{count(number)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
