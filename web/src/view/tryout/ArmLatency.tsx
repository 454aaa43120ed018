// The percentiles of each trial's load, one thin line per trial: A solid with discs, B dashed with squares.

import { log, logDomain, logTicks } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { duration, onAxis } from "../../number.ts";
import type { Tryout, TrialLatency } from "../../record/tryout.ts";
import { Axes, type Frame } from "../Axes.tsx";
import { numbers, Table } from "../Table.tsx";
import { Dot } from "./Dot.tsx";
import { ArmKey } from "./Outcome.tsx";

const HEIGHT = 340;
const MARGIN = { left: 62, right: 26, top: 34, bottom: 44 };

/** Share of requests that are slower, and the percentile's name. */
const PERCENTILES = [
  [0.5, "p50", "p50_ns"],
  [0.1, "p90", "p90_ns"],
  [0.01, "p99", "p99_ns"],
  [0.001, "p99.9", "p99_9_ns"],
] as const;

interface ArmLatencyProps {
  tryout: Tryout;
  latencies: readonly TrialLatency[];
}

export function ArmLatency({ tryout, latencies }: ArmLatencyProps) {
  const kind = latencies[0]?.kind === "service" ? "Service time: a closed loop has no intended send times." : "Response time, from the intended send to the last byte.";
  return (
    <>
      <p class="quiet">{kind} Each line is a trial of the comparison that decides the verdict.</p>
      <LatencyLines latencies={latencies} />
      <p class="readout">
        <span class="key">
          <span>
            <ArmKey arm="a" /> A, solid
          </span>
          <span>
            <ArmKey arm="b" /> B, dashed
          </span>
        </span>
      </p>
      <details>
        <summary>Percentiles of each trial as a table</summary>
        <Table label="Percentiles of each trial" stacks heads={["trial", "of", ...numbers(PERCENTILES.map(([, name]) => name))]}>
          {latencies.map((each) => (
            <tr key={each.trial}>
              <th scope="row">{each.trial}</th>
              <td>
                {each.arm.toUpperCase()}, pair {pairOf(tryout, each.trial)}
              </td>
              {PERCENTILES.map(([, name, key]) => (
                <td class="number" key={name}>
                  {each[key] === null ? "–" : duration(each[key])}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

function pairOf(tryout: Tryout, number: number): string {
  return String(tryout.payload.trials.find(({ trial }) => trial === number)?.pair ?? "–");
}

function LatencyLines({ latencies }: { latencies: readonly TrialLatency[] }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const known = PERCENTILES.filter(([, , key]) => latencies.some((each) => each[key] !== null));
  const [least, most] = [known[0], known.at(-1)];
  const values = latencies.flatMap((each) => known.flatMap(([, , key]) => each[key] ?? []));
  // One percentile makes no line; the table has it.
  if (!least || !most || known.length < 2) return <div ref={element} />;
  const frame: Frame = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
  const x = log([1 / least[0], 1 / most[0]], [frame.left + 10, frame.right]);
  const y = log(logDomain(values, 1.3), [frame.bottom, frame.top]);
  return (
    <figure class="chart arm-latency" aria-label="Latency by percentile, one line per trial">
      <div ref={element} />
      {width > 0 && (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
          <Axes
            frame={frame}
            x={x}
            y={y}
            xTicks={known.map(([slower, name]) => [1 / slower, name] as const)}
            yTicks={logTicks(y.domain).map((tick) => [tick, onAxis(tick, "ns")] as const)}
            xTitle="percentile"
            yTitle="latency, log; lower is better"
          />
          {latencies.map((each) => {
            const points = known.flatMap(([slower, , key]) => (each[key] === null ? [] : [[x(1 / slower), y(each[key])] as const]));
            return (
              <g key={each.trial}>
                <polyline class={`arm-line arm-line-${each.arm}`} points={points.map((point) => point.join(",")).join(" ")} />
                {points.map(([left, top], position) => (
                  <Dot key={position} arm={each.arm} x={left + (each.arm === "a" ? -4 : 4)} y={top} size={2.6} isHollow={false} />
                ))}
              </g>
            );
          })}
        </svg>
      )}
    </figure>
  );
}
