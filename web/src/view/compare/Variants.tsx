// The variants of an experiment: what each is, what limits it, how it behaves over its trials, and where the trials lie.

import { linear, linearTicks, log, logDomain, logTicks } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { onAxis, percent } from "../../number.ts";
import type { Comparison, ExperimentShown, VariantCpu, VariantPoint } from "../../record/comparison.ts";
import { prose } from "../../record/text.ts";
import { Axes } from "../Axes.tsx";
import { Table } from "../Table.tsx";

const HEIGHT = 320;

/** CPUs that are listed. */
const CPUS_MAX = 8;

/** Names of run folders that a link may lead to. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9-]*$/;

export function Variants({ compared, experiment }: { compared: Comparison; experiment: ExperimentShown }) {
  return (
    <Table label="Variants as a table" class="variants" stacks heads={["side", "variant", "bottleneck", "CPUs", "trials"]}>
      {experiment.variants.map((variant) => {
        const side = compared.sides[variant.side];
        const changed = [...variant.settings, ...variant.prepare];
        return (
          <tr key={variant.side}>
            <th scope="row">{side?.letter}</th>
            <td>
              {side?.name}
              {changed.map((text, position) => (
                <p class="quiet" key={position}>
                  <code>{text}</code>
                </p>
              ))}
            </td>
            <td>
              {variant.found.map((found, position) => (
                <p key={position}>
                  {prose(found.title)} <span class="quiet">({found.runs_count} of {side?.runs.length} runs)</span>
                </p>
              ))}
            </td>
            <td>
              <Cpus cpus={variant.cpus} />
            </td>
            <td>
              {!!variant.failed_ratio && <p>{percent(variant.failed_ratio)} of requests failed</p>}
              {side?.runs.map(({ id }, position) => (
                <Run key={id} id={id} number={position + 1} />
              ))}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The CPUs with most work in interrupts, in the order of their numbers. */
function Cpus({ cpus }: { cpus: VariantCpu[] }) {
  const most = [...cpus].sort((one, other) => other.softirq_ratio - one.softirq_ratio).slice(0, CPUS_MAX);
  return (
    <>
      {most
        .sort((one, other) => one.number - other.number)
        .map(({ number, busy_ratio, softirq_ratio }) => (
          <p key={number}>
            {number}: {percent(busy_ratio)} busy, {percent(softirq_ratio)} in interrupts
          </p>
        ))}
      {cpus.length > CPUS_MAX && <p class="quiet">and {cpus.length - CPUS_MAX} more</p>}
    </>
  );
}

function Run({ id, number }: { id: string; number: number }) {
  if (!PLAIN.test(id)) return <code>{id} </code>;
  return (
    <>
      <a href={`runs/${id}/report.html`} title={id}>
        report {number}
      </a>{" "}
    </>
  );
}

/** Whether the variants have more than one point each, of the same kind. */
export function hasCurve(experiment: ExperimentShown): boolean {
  const places = new Set(experiment.variants.flatMap(({ curve }) => curve.map(place)));
  return places.size > 1;
}

const isOpen = (point: VariantPoint) => point.offered_hz !== null;
const place = (point: VariantPoint) => point.offered_hz ?? point.connections;

export function Curves({ compared, experiment }: { compared: Comparison; experiment: ExperimentShown }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const open = experiment.variants.some(({ curve }) => curve.some(isOpen));
  const dots = experiment.variants.flatMap((variant) =>
    variant.curve
      .filter((point) => isOpen(point) === open)
      .flatMap((point) => {
        const value = open ? point.p99_ns : point.goodput_hz;
        return value === null ? [] : [{ letter: compared.sides[variant.side]?.letter ?? "", side: variant.side, at: place(point), value, met: point.met }];
      }),
  );
  if (dots.length === 0) return <p class="quiet">No trial was valid.</p>;
  const frame = { left: 64, right: Math.max(width - 16, 80), top: 30, bottom: HEIGHT - 44 };
  const right = Math.max(...dots.map(({ at }) => at)) * 1.05;
  const x = linear([0, right], [frame.left, frame.right]);
  const domain: [number, number] = open ? logDomain(dots.map(({ value }) => value), 1.3) : [0, Math.max(...dots.map(({ value }) => value)) * 1.1];
  const y = (open ? log : linear)(domain, [frame.bottom, frame.top]);
  const ticks = open ? logTicks(domain) : linearTicks(domain, 5);
  return (
    <figure class="curves">
      <div ref={element} class="chart">
        {width > 0 && (
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${open ? "p99 latency against offered rate" : "goodput against connections"}, ${dots.length} trials, each marked with the letter of its variant`}>
            <Axes
              frame={frame}
              x={x}
              y={y}
              xTicks={linearTicks([0, right], width < 500 ? 4 : 8).map((tick) => [tick, onAxis(tick, open ? "/s" : "")] as const)}
              yTicks={ticks.map((tick) => [tick, onAxis(tick, open ? "ns" : "/s")] as const)}
              xTitle={open ? "offered rate, requests per second" : "connections"}
              yTitle={open ? "p99 latency" : "goodput, requests per second"}
            />
            {dots.map(({ letter, side, at, value, met }, position) => (
              <text key={position} class={`letter letter-${side % 6}${met === false ? " letter-missed" : ""}`} x={x(at)} y={y(value)} dy="0.35em" text-anchor="middle">
                {letter}
              </text>
            ))}
          </svg>
        )}
      </div>
      <figcaption class="quiet">
        Each letter is a trial of its variant{open ? "; pale ones missed the objective" : ""}.
      </figcaption>
    </figure>
  );
}
