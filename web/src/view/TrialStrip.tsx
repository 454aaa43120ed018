// The trials above the timelines: which load was on in which seconds, and what else happened.

import { linear } from "../chart/scale.ts";
import { onAxis } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { marksOf } from "../record/marks.ts";
import type { Window } from "../state/view.ts";

/** Room that uPlot leaves left and right of its plots; see chart/timeline.ts. Unit: CSS pixels. */
const PLOT = { left: 62, right: 18 };
const HEIGHT = 44;

interface StripProps {
  run: Run;
  window: Window;
  focus: Window | null;
  left: number;
  width: number;
}

export function TrialStrip({ run, window, focus, left, width }: StripProps) {
  const x = linear(window, [left + PLOT.left, left + width - PLOT.right]);
  const clip = (second: number) => Math.min(Math.max(second, window[0]), window[1]);
  const trials = spans(run).filter((span) => span.end > window[0] && span.begin < window[1]);
  const marks = marksOf(run).filter(({ at }) => at >= window[0] && at <= window[1]);
  return (
    <>
      <svg class="trial-strip" width={left + width} height={HEIGHT} viewBox={`0 0 ${left + width} ${HEIGHT}`} aria-hidden="true">
        {left > 0 && run.bands.length > 0 && (
          <text class="strip-label" x={0} y={17}>
            Trial, offered rate
          </text>
        )}
        {trials.map((span, position) => {
          const [from, to] = [x(clip(span.begin)), x(clip(span.end))];
          const room = to - from;
          return (
            <g key={span.trial} class={position % 2 === 0 ? "even" : "odd"}>
              <rect x={from + 0.5} y={2} width={Math.max(room - 1, 1)} height={HEIGHT - 6} rx={2} />
              {room > 16 && (
                <text x={from + 5} y={17} class="trial-number">
                  {span.trial}
                </text>
              )}
              {room > 44 && (
                <text x={from + 5} y={32}>
                  {span.rate_hz === null ? "closed" : `${onAxis(span.rate_hz, "/s")}/s`}
                </text>
              )}
            </g>
          );
        })}
        {focus && <rect class="focus" x={x(clip(focus[0]))} y={0} width={Math.max(2, x(clip(focus[1])) - x(clip(focus[0])))} height={HEIGHT} />}
        {marks.map(({ at }, position) => (
          <path key={position} class="event" d={`M${x(at)},${HEIGHT - 14}l5,9h-10Z`} />
        ))}
      </svg>
      {marks.length > 0 && (
        <details class="marks">
          <summary>▲ Marks in these seconds ({marks.length})</summary>
          <ul>
            {marks.map(({ at, text }, position) => (
              <li key={position}>
                <b>{at.toFixed(1)} s</b> {text}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

interface Span {
  trial: number;
  begin: number;
  end: number;
  rate_hz: number | null;
}

/** From the first to the last phase of each trial. */
function spans(run: Run): Span[] {
  const found = new Map<number, Span>();
  for (const band of run.bands) {
    const known = found.get(band.trial);
    if (known) known.end = band.end;
    else found.set(band.trial, { trial: band.trial, begin: band.begin, end: band.end, rate_hz: band.rate_hz });
  }
  return [...found.values()];
}
