// Lines over the seconds of a run that goes on.

import { linear, linearTicks, type Scale } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { onAxis } from "../../number.ts";
import type { Moment } from "../../record/moments.ts";
import { Axes } from "../Axes.tsx";

export interface LiveLine {
  label: string;
  /** One for each moment. */
  values: (number | null)[];
  /** Drawn dashed and in another color. */
  isSecond?: boolean;
}

interface LiveChartProps {
  title: string;
  unit: string;
  moments: readonly Moment[];
  lines: readonly LiveLine[];
}

const HEIGHT = 220;

export function LiveChart({ title, unit, moments, lines }: LiveChartProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  const known = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const frame = { left: 62, right: Math.max(width - 12, 70), top: 28, bottom: HEIGHT - 44 };
  const seconds = moments.at(-1)?.end ?? 0;
  const x = linear([0, Math.max(seconds, 10)], [frame.left, frame.right]);
  const y = linear([0, known.reduce((most, value) => Math.max(most, value), 0) * 1.08 || 1], [frame.bottom, frame.top]);
  return (
    <figure class="live">
      <figcaption>
        {title}
        {lines.length > 1 && (
          <span class="live-keys">
            {lines.map((line) => (
              <span key={line.label} class={line.isSecond ? "live-key live-key-second" : "live-key"}>
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
            {lines.map((line) => (
              <path key={line.label} class={line.isSecond ? "live-line live-second" : "live-line"} d={pathOf(moments, line.values, x, y)} />
            ))}
          </svg>
        )}
      </div>
    </figure>
  );
}

/** A line through the ends of the moments, broken where there is no value. */
function pathOf(moments: readonly Moment[], values: readonly (number | null)[], x: Scale, y: Scale): string {
  let isDrawn = false;
  return moments
    .map((moment, index) => {
      const value = values[index] ?? null;
      if (value === null) {
        isDrawn = false;
        return "";
      }
      const step = `${isDrawn ? "L" : "M"}${x(moment.end).toFixed(1)},${y(value).toFixed(1)}`;
      isDrawn = true;
      return step;
    })
    .join("");
}
