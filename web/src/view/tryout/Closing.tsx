// How the interval closed in: each counted pair's own effect, and the 95% interval after each block against the band of
// what does not matter.

import { closingDomain, effectTicks } from "../../chart/pairs.ts";
import { linear, type Scale } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { type Effect, effectText, marginText } from "../../record/effect.ts";
import { type Tryout, ownDirection, STOPS } from "../../record/tryout.ts";
import { Axes, type Frame } from "../Axes.tsx";
import { Table } from "../Table.tsx";

const HEIGHT = 340;
const MARGIN = { left: 62, right: 14, top: 34, bottom: 44 };

/** Both ends of the band of what does not matter, in the metric's own direction. */
function bandOf(tryout: Tryout): [number, number] {
  const margin = tryout.payload.conclusion.effect_ratio;
  return tryout.metric.scale === "ratio" ? [1 / (1 + margin), 1 + margin] : [-margin, margin];
}

export function Closing({ tryout }: { tryout: Tryout }) {
  const { proof, metric } = tryout;
  const looks = proof?.looks ?? [];
  return (
    <>
      <ClosingChart tryout={tryout} looks={looks} />
      <p class="readout">
        <span class="key">
          <span>
            <span class="swatch-look" aria-hidden="true">
              ┃
            </span>{" "}
            estimate and 95% interval after each number of pairs
          </span>
          <span>
            <span class="swatch-unsound" aria-hidden="true">
              •
            </span>{" "}
            one pair
          </span>
          <span>
            <span class="swatch-band" aria-hidden="true" /> ±{marginText(tryout.payload.conclusion.effect_ratio, metric.scale)} does not matter
          </span>
        </span>
      </p>
      <p class="measure">
        {looks.length === 0
          ? "There were too few pairs for an interval."
          : `Measuring stopped because ${proof?.stop ? STOPS[proof.stop] : "it was cut off"}. Only the width of the interval, or an interval outside the band, can stop it, so repeated looks do not favor any verdict.`}
      </p>
      {looks.length > 0 && (
        <details>
          <summary>Intervals as a table</summary>
          <Table label="Intervals after each block" heads={[{ number: "pairs" }, { number: "B against A, 95% interval" }]}>
            {looks.map((look) => (
              <tr key={look.pairs_count}>
                <th scope="row" class="number">
                  {look.pairs_count}
                </th>
                <td class="number">{effectText(look)}</td>
              </tr>
            ))}
          </Table>
        </details>
      )}
    </>
  );
}

/** Room of a note beside a line. Unit: pixels. */
const NOTE = 150;

function ClosingChart({ tryout, looks }: { tryout: Tryout; looks: readonly Effect[] }) {
  const [element, width] = useWidth<HTMLElement>();
  const { metric } = tryout;
  const dots = tryout.counted().map(({ pair }) => ownDirection(pair.improvement ?? 0, metric));
  const band = bandOf(tryout);
  const domain = closingDomain(dots, looks, band);
  const least = tryout.payload.plan?.pairs.min_count ?? null;
  const frame: Frame = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
  const last = Math.max(dots.length, looks.at(-1)?.pairs_count ?? 0, 1);
  const x = linear([0.4, last + 0.6], [frame.left, frame.right]);
  const y = linear(domain, [frame.bottom, frame.top]);
  const held = (value: number) => y(Math.min(Math.max(value, domain[0]), domain[1]));
  const none = metric.scale === "ratio" ? 1 : 0;
  // What is written on the right of a line has no room near the right edge.
  const isLate = least !== null && x(least - 0.5) + NOTE > frame.right;
  const every = Math.max(1, Math.ceil(last / (width < 500 ? 8 : 20)));
  const counts = Array.from({ length: last }, (_, index) => index + 1).filter((count) => count % every === 0 || count === 1);
  return (
    <figure ref={element} class="chart closing-chart" aria-label="Effect of each pair, and the interval after each block of pairs">
      {width > 0 && (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
          <rect class="forest-band" x={frame.left} y={held(band[1])} width={frame.right - frame.left} height={held(band[0]) - held(band[1])} />
          {band.map((end) => (
            <line key={end} class="forest-edge" x1={frame.left} x2={frame.right} y1={held(end)} y2={held(end)} />
          ))}
          <Axes
            frame={frame}
            x={x}
            y={y}
            xTicks={counts.map((count) => [count, String(count)] as const)}
            yTicks={effectTicks(domain, metric.scale)}
            xTitle="counted pairs"
            yTitle={`${metric.title}: B against A; ${metric.better} is better`}
          />
          <line class="axis-line" x1={frame.left} x2={frame.right} y1={y(none)} y2={y(none)} />
          {least !== null && least <= last && (
            <g class="least">
              <line x1={x(least - 0.5)} x2={x(least - 0.5)} y1={frame.top} y2={frame.bottom} />
              <text x={x(least - 0.5) + (isLate ? -4 : 4)} y={frame.top + 10} text-anchor={isLate ? "end" : "start"}>
                verdicts from {least} pairs
              </text>
            </g>
          )}
          <Ribbon looks={looks} x={x} held={held} />
          {dots.map((value, position) => (
            <circle key={position} class="pair-effect" cx={x(position + 1)} cy={held(value)} r={3.5} />
          ))}
          {looks.map((look) => (
            <g key={look.pairs_count} class="look">
              <line x1={x(look.pairs_count)} x2={x(look.pairs_count)} y1={held(look.low)} y2={held(look.high)} />
              <path d={`M${x(look.pairs_count) - 5},${held(look.point)}h10`} />
            </g>
          ))}
        </svg>
      )}
    </figure>
  );
}

/** What lies between the ends of the intervals. */
function Ribbon({ looks, x, held }: { looks: readonly Effect[]; x: Scale; held(value: number): number }) {
  if (looks.length < 2) return null;
  const upper = looks.map((look) => `${x(look.pairs_count)},${held(look.high)}`);
  const lower = looks.map((look) => `${x(look.pairs_count)},${held(look.low)}`).reverse();
  return <polygon class="ribbon" points={[...upper, ...lower].join(" ")} />;
}
