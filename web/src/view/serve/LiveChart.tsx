// Lines over the seconds of a run that goes on.

import { linear, linearTicks, type Scale } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { onAxis } from "../../number.ts";
import { Axes } from "../Axes.tsx";

export interface LiveLine {
  label: string;
  /** One for each of the ends. */
  values: readonly (number | null)[];
}

/** Lines are told apart by color and dashes; there are as many styles in serve.css. */
const STYLES = 5;

interface LiveChartProps {
  title: string;
  unit: string;
  /** Where the values of the lines are. Unit: seconds since the first request. */
  ends: readonly number[];
  lines: readonly LiveLine[];
}

const HEIGHT = 220;

export function LiveChart({ title, unit, ends, lines }: LiveChartProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  const known = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const frame = { left: 62, right: Math.max(width - 12, 70), top: 28, bottom: HEIGHT - 44 };
  const seconds = ends.at(-1) ?? 0;
  const x = linear([0, Math.max(seconds, 10)], [frame.left, frame.right]);
  const y = linear([0, known.reduce((most, value) => Math.max(most, value), 0) * 1.08 || 1], [frame.bottom, frame.top]);
  return (
    <figure class="live">
      <figcaption>
        {title}
        {lines.length > 1 && (
          <span class="live-keys">
            {lines.map((line, index) => (
              <span key={line.label} class={`live-key live-style-${index % STYLES}`}>
                {line.label}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div ref={element} class="live-chart chart">
        {width > 0 && (
          <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${title} over ${Math.round(seconds)} seconds`}>
            <Axes
              frame={frame}
              x={x}
              y={y}
              xTicks={linearTicks(x.domain, 6).map((tick) => [tick, String(tick)] as const)}
              yTicks={linearTicks(y.domain, 4).map((tick) => [tick, onAxis(tick, unit)] as const)}
              xTitle="seconds since the first request"
              yTitle=""
            />
            {lines.map((line, index) => (
              <path key={line.label} class={`live-line live-style-${index % STYLES}`} d={pathOf(ends, line.values, x, y)} />
            ))}
          </svg>
        )}
      </div>
    </figure>
  );
}

/** A line through the values, broken where there is none. */
function pathOf(ends: readonly number[], values: readonly (number | null)[], x: Scale, y: Scale): string {
  let isDrawn = false;
  return ends
    .map((end, index) => {
      const value = values[index] ?? null;
      if (value === null) {
        isDrawn = false;
        return "";
      }
      const step = `${isDrawn ? "L" : "M"}${x(end).toFixed(1)},${y(value).toFixed(1)}`;
      isDrawn = true;
      return step;
    })
    .join("");
}
