// A run while it goes on: what it did in the last second, and second by second since it began.

import { useEffect, useState } from "preact/hooks";
import { count, duration, MISSING, significant, span } from "../../number.ts";
import { momentsOfGrowth, rateOf, type GrowthPoint, type LivePage } from "../../record/served.ts";
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

function useGrowth(name: string): [readonly GrowthPoint[], State] {
  const [points, setPoints] = useState<readonly GrowthPoint[]>([]);
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
    source.addEventListener("ended", () => {
      end({ now: "ended" });
      setTimeout(() => location.reload(), LIST_AGE_MS);
    });
    source.addEventListener("gone", (event) => end({ now: "gone", why: (parseRecord(JSON.stringify(event.data)) as string) ?? "" }));
    source.addEventListener("error", () => setState((before) => (before.now === "ended" || before.now === "gone" ? before : { now: "lost" })));
    return () => source.close();
  }, [name]);
  return [points, state];
}

const SAID = {
  waiting: "Waiting for the first interval.",
  running: "Each second is added when it is over.",
  lost: "The server does not answer; trying again.",
  ended: "The run has ended. Opening its report.",
};

export function Live({ live }: { live: LivePage }) {
  const { run } = live;
  const [points, state] = useGrowth(run.name);
  const moments = momentsOfGrowth(points);
  const last = moments.at(-1);
  const phase = points.at(-1);
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
          <LiveChart title="good responses per second" unit="/s" moments={moments} lines={[{ label: "rate", values: moments.map(rateOf) }]} />
          <LiveChart
            title="latency"
            unit="ns"
            moments={moments}
            lines={[
              { label: "p50", values: moments.map((moment) => moment.p50_ns) },
              { label: "p99", values: moments.map((moment) => moment.p99_ns), isSecond: true },
            ]}
          />
        </section>
      </main>
    </>
  );
}
