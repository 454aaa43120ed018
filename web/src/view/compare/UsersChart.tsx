// The slowest operation of each variant against the number of its users: where the line of the limit is crossed.

import { linear, linearTicks, log, logDomain, logTicks } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { onAxis, percent } from "../../number.ts";
import type { Comparison, ExperimentShown, Scoreboard } from "../../record/comparison.ts";
import { seriesOf, tightest } from "../../record/scoreboard.ts";
import { Axes } from "../Axes.tsx";

const HEIGHT = 320;

/** Room between the letters of variants with the same number of users. Unit: CSS pixels. */
const APART = 11;

interface Dot {
  letter: string;
  series: number;
  users: number;
  share: number;
  passed: boolean;
}

const passed = ({ runs_count, passed_count }: Scoreboard) => runs_count > 0 && passed_count === runs_count;

export function UsersChart({ compared, experiment }: { compared: Comparison; experiment: ExperimentShown }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const series = seriesOf(experiment);
  const dots: Dot[] = series.flatMap(({ variants }, number) =>
    variants.flatMap(({ side, scoreboard }) => {
      const share = tightest(scoreboard);
      return share === null ? [] : [{ letter: compared.sides[side]?.letter ?? "", series: number, users: scoreboard.users, share, passed: passed(scoreboard) }];
    }),
  );
  if (dots.length === 0) return null;
  const frame = { left: 64, right: Math.max(width - 16, 80), top: 30, bottom: HEIGHT - 44 };
  const right = Math.max(...dots.map(({ users }) => users)) * 1.08;
  const x = linear([0, right], [frame.left, frame.right]);
  const domain = logDomain([1, ...dots.map(({ share }) => share)], 1.5);
  const y = log(domain, [frame.bottom, frame.top]);
  const dodge = (number: number) => (number - (series.length - 1) / 2) * APART;
  return (
    <div class="card forest-card">
      <h2 class="eyebrow">Slowest operation against the number of users</h2>
      <figure class="curves">
        <div ref={element} class="chart">
          {width > 0 && (
            <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label="Time of the slowest operation as a share of its limit, against the number of users; each variant is marked with its letter, and the table of users has the same data">
              <Axes
                frame={frame}
                x={x}
                y={y}
                xTicks={linearTicks([0, right], width < 500 ? 4 : 8).map((tick) => [tick, onAxis(tick, "")] as const)}
                yTicks={logTicks(domain).map((tick) => [tick, percent(tick)] as const)}
                xTitle="users"
                yTitle="time of the slowest operation, of its limit"
              />
              <line class="limit-line" x1={frame.left} x2={frame.right} y1={y(1)} y2={y(1)} />
              {dots.map(({ letter, series: number, users, share, passed: hasPassed }) => (
                <text key={letter} class={`letter letter-${number % 6}${hasPassed ? "" : " letter-missed"}`} x={x(users) + dodge(number)} y={y(share)} dy="0.35em" text-anchor="middle">
                  {letter}
                </text>
              ))}
            </svg>
          )}
        </div>
        <figcaption class="quiet">
          {series.map(({ name, variants }) => `${variants.map(({ side }) => compared.sides[side]?.letter).join("")}: ${name || "all"}`).join("; ")}. Pale ones failed: they
          missed a limit (the line at 100%) or another rule.
        </figcaption>
      </figure>
    </div>
  );
}
