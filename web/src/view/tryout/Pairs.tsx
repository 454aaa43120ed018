// Every pair as two dots in the order of time: A a blue disc, B an orange square, joined; blocks shaded; dropped pairs
// hollow, with their reason.

import { useState } from "preact/hooks";
import { blocksOf, minuteTicks, pairTicks, valueDomain } from "../../chart/pairs.ts";
import { linear, type Scale } from "../../chart/scale.ts";
import { useWidth } from "../../chart/size.ts";
import { metricValue } from "../../number.ts";
import { change } from "../../record/effect.ts";
import { type DrawnPair, type Tryout, KINDS, ownDirection } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";
import { Axes, type Frame } from "../Axes.tsx";
import { ArmKey } from "./Outcome.tsx";
import { Dot } from "./Dot.tsx";
import { PairTable } from "./PairTable.tsx";

const HEIGHT = 380;
const MARGIN = { left: 62, right: 14, top: 30, bottom: 44 };
/** Room for the names of comparisons above the plot, where there are several. */
const STAGE_ROOM = 22;

export function Pairs({ tryout }: { tryout: Tryout }) {
  const [picked, setPicked] = useState<number | null>(null);
  const { pairs } = tryout;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || pairs.length === 0) return;
    event.preventDefault();
    setPicked(picked === null ? (step > 0 ? 0 : pairs.length - 1) : (picked + step + pairs.length) % pairs.length);
  };
  const chosen = picked === null ? undefined : pairs[picked];
  const uncounted = pairs.filter(({ pair }) => pair.dropped !== null || pair.improvement === null);
  return (
    <>
      <div class="pairs" tabIndex={0} role="group" aria-label="Chart of all pairs; use arrow keys to move between pairs" onKeyDown={move}>
        <PairChart tryout={tryout} picked={picked} onPick={setPicked} />
      </div>
      <p class="readout" role="status">
        {chosen ? <PairText tryout={tryout} drawn={chosen} /> : <Key hasUncounted={uncounted.length > 0} />}
      </p>
      {uncounted.length > 0 && (
        <ul class="dropped-list">
          {reasonsOf(uncounted).map(([reason, numbers]) => (
            <li key={reason}>
              <strong>
                ○ {numbers.length} of {pairs.length} not counted
              </strong>{" "}
              ({numbers.join(", ")}): {prose(reason)}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>All pairs as a table</summary>
        <PairTable tryout={tryout} />
      </details>
    </>
  );
}

/** Reasons for which pairs do not count, each with the pairs. */
function reasonsOf(uncounted: readonly DrawnPair[]): [reason: string, numbers: string[]][] {
  const found = new Map<string, string[]>();
  for (const { pair } of uncounted) {
    const reason = pair.dropped === null ? NO_RATIO : `discarded, ${pair.dropped}`;
    found.set(reason, [...(found.get(reason) ?? []), `pair ${pair.pair}`]);
  }
  return [...found];
}

/** Why a pair that was not dropped has no difference. */
export const NO_RATIO = "one of its trials has no value, or zero";

function Key({ hasUncounted }: { hasUncounted: boolean }) {
  return (
    <span class="key">
      <span>
        <ArmKey arm="a" /> A
      </span>
      <span>
        <ArmKey arm="b" /> B
      </span>
      {hasUncounted && <span>○ □ not counted</span>}
      <span class="quiet">lines join the trials of a pair, shades mark blocks of two pairs; point at a pair or use the arrow keys for details</span>
    </span>
  );
}

function PairText({ tryout, drawn }: { tryout: Tryout; drawn: DrawnPair }) {
  const { pair } = drawn;
  const { unit, scale } = tryout.metric;
  const hasSteps = tryout.payload.conclusion.stages.length > 1;
  const effect = pair.improvement === null ? "no value" : change(ownDirection(pair.improvement, tryout.metric), scale, 3);
  return (
    <>
      <strong>
        Pair {pair.pair}
        {hasSteps && ` of step ${pair.stage}, ${KINDS[drawn.kind].word}`}
      </strong>
      : A {metricValue(pair.a, unit)}, B {metricValue(pair.b, unit)}, {effect}; {pair.first.toUpperCase()} ran first, trials{" "}
      {Math.min(pair.a_trial, pair.b_trial)} and {Math.max(pair.a_trial, pair.b_trial)}
      {pair.dropped !== null ? `. Discarded: ${pair.dropped}.` : pair.improvement === null ? `. Not counted: ${NO_RATIO}.` : "."}
    </>
  );
}

interface ChartProps {
  tryout: Tryout;
  picked: number | null;
  onPick(position: number | null): void;
}

function PairChart({ tryout, picked, onPick }: ChartProps) {
  const [element, width] = useWidth<HTMLElement>();
  const { pairs, metric } = tryout;
  const { a_median, b_median } = tryout.payload.conclusion;
  // Smaller where there is little room for each trial.
  const size = (width - MARGIN.left) / (2 * pairs.length) < 12 ? 3.4 : 5;
  const isOne = tryout.payload.conclusion.stages.length < 2;
  const top = MARGIN.top + (isOne ? 0 : STAGE_ROOM);
  const frame: Frame = { left: MARGIN.left, right: width - MARGIN.right, top, bottom: HEIGHT - MARGIN.bottom };
  const begin = pairs.reduce((least, pair) => Math.min(least, pair.begin), Number.POSITIVE_INFINITY);
  const end = pairs.reduce((most, pair) => Math.max(most, pair.end), 0);
  const x = linear([begin, end], [frame.left + 6, frame.right - 6]);
  const values = pairs.flatMap(({ dots }) => dots.map(({ value }) => value));
  const y = linear(valueDomain([...values, ...[a_median, b_median].filter((each) => each !== null)]), [frame.bottom, frame.top]);
  return (
    <figure ref={element} class="chart pair-chart" aria-label={`${metric.title} of each trial, in pairs`}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
          <Blocks pairs={pairs} x={x} frame={frame} />
          <Axes
            frame={frame}
            x={x}
            y={y}
            xTicks={minuteTicks([begin, end], width < 500 ? 4 : 8)}
            yTicks={pairTicks(y.domain, metric.unit)}
            xTitle={end - begin > 180 ? "minutes since the start" : "seconds since the start"}
            yTitle={`${metric.title} of a trial; ${metric.better} is better`}
            yTitleGap={isOne ? 12 : 12 + STAGE_ROOM}
          />
          <StageMarks tryout={tryout} x={x} frame={frame} />
          {isOne && a_median !== null && <line class="median median-a" x1={frame.left} x2={frame.right} y1={y(a_median)} y2={y(a_median)} />}
          {isOne && b_median !== null && <line class="median median-b" x1={frame.left} x2={frame.right} y1={y(b_median)} y2={y(b_median)} />}
          {pairs.map((drawn, position) => (
            <DrawnPairMark key={position} drawn={drawn} x={x} y={y} size={size} isPicked={picked === position} />
          ))}
          {pairs.map((drawn, position) => (
            <rect
              key={position}
              class="reach"
              x={x(drawn.begin)}
              y={frame.top}
              width={Math.max(x(drawn.end) - x(drawn.begin), 1)}
              height={frame.bottom - frame.top}
              onPointerEnter={() => onPick(position)}
              onClick={() => onPick(position)}
            />
          ))}
        </svg>
      )}
    </figure>
  );
}

/** Shades behind every second block of two pairs. */
function Blocks({ pairs, x, frame }: { pairs: readonly DrawnPair[]; x: Scale; frame: Frame }) {
  const shaded = blocksOf(pairs).filter(({ number }) => number % 2 === 0);
  return (
    <>
      {shaded.map(({ begin, end }) => (
        <rect
          key={begin}
          class="block"
          x={x(begin)}
          y={frame.top}
          width={Math.max(x(end) - x(begin), 1)}
          height={frame.bottom - frame.top}
        />
      ))}
    </>
  );
}

/** Where each comparison begins, if there are several. */
function StageMarks({ tryout, x, frame }: { tryout: Tryout; x: Scale; frame: Frame }) {
  const { stages } = tryout.payload.conclusion;
  if (stages.length < 2) return null;
  return (
    <>
      {stages.map(({ stage }) => {
        const own = tryout.pairs.filter(({ pair }) => pair.stage === stage.stage);
        const [first, last] = [own[0], own.at(-1)];
        if (!first || !last) return null;
        const room = x(last.end) - x(first.begin);
        return (
          <g key={stage.stage} class="stage-mark">
            <line x1={x(first.begin)} x2={x(first.begin)} y1={frame.top - 14} y2={frame.bottom} />
            <text x={x(first.begin) + 4} y={frame.top - 5}>
              {room > 74 ? `${stage.stage} ${KINDS[stage.kind].word}` : room > 14 ? stage.stage : ""}
            </text>
          </g>
        );
      })}
    </>
  );
}

interface MarkProps {
  drawn: DrawnPair;
  x: Scale;
  y: Scale;
  /** Half the width of a mark. Unit: CSS pixels. */
  size: number;
  isPicked: boolean;
}

function DrawnPairMark({ drawn, x, y, size, isPicked }: MarkProps) {
  const { pair, dots } = drawn;
  const isDropped = pair.dropped !== null || pair.improvement === null;
  const [one, other] = dots;
  return (
    <g class={isDropped ? "pair pair-dropped" : "pair"}>
      {one && other && <line class="pair-line" x1={x(one.second)} y1={y(one.value)} x2={x(other.second)} y2={y(other.value)} />}
      {dots.map(({ arm, trial, second, value }) => (
        <Dot key={trial} arm={arm} x={x(second)} y={y(value)} size={size} isHollow={isDropped} />
      ))}
      {isPicked && dots.map(({ trial, second, value }) => <circle key={trial} class="halo" cx={x(second)} cy={y(value)} r={10} />)}
    </g>
  );
}
