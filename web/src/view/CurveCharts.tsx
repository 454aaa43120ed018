// The two charts of the capacity curve: tail latency, and completions, against the offered load.

import { linear, linearTicks, log, logDomain, logTicks, type Scale } from "../chart/scale.ts";
import { useWidth } from "../chart/size.ts";
import { chosenDuration, onAxis, rateInterval, significant } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { objectiveOf, percentileName } from "../record/plan.ts";
import type { CurvePoint } from "../record/types.ts";
import { Axes, type Frame } from "./Axes.tsx";
import { loadOfPoint } from "./Capacity.tsx";
import { Mark } from "./Figure.tsx";

export interface CurveProps {
  run: Run;
  points: CurvePoint[];
  isSweep: boolean;
  picked: number | null;
  onPick(trial: number | null): void;
}

const HEIGHT = 330;
const MARGIN = { left: 58, right: 14, top: 34, bottom: 44 };

/** Radius within which a point is pointed at. Unit: CSS pixels. */
const REACH = 14;

function frameOf(width: number): Frame {
  return { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
}

function loadScale(points: CurvePoint[], isSweep: boolean, frame: Frame): Scale {
  const loads = points.map((point) => loadOfPoint(point, isSweep) ?? 0);
  const [low, high] = [Math.min(...loads), Math.max(...loads)];
  const room = (high - low || high || 1) * 0.06;
  return linear([Math.max(0, low - room), high + room], [frame.left, frame.right]);
}

/** The percentile that the objective limits, where a trial has it; the 99th otherwise. */
function tail(run: Run): { name: string; of(point: CurvePoint): number | null } {
  const objective = objectiveOf(run.payload.plan);
  const name = objective ? percentileName(objective.percentile_ratio) : "p99";
  const known: Record<string, (point: CurvePoint) => number | null> = {
    p50: (point) => point.p50_ns,
    p90: (point) => point.p90_ns,
    p99: (point) => point.p99_ns,
    "p99.9": (point) => point.p99_9_ns,
  };
  const of = known[name];
  return of ? { name, of } : { name: "p99", of: (point) => point.p99_ns };
}

export function LatencyChart(props: CurveProps) {
  const { run, points, isSweep } = props;
  const [element, width] = useWidth<HTMLElement>();
  const { name, of } = tail(run);
  const limit = objectiveOf(run.payload.plan)?.limit ?? null;
  const values = points.map(of).filter((value) => value !== null);
  const frame = frameOf(width);
  const x = loadScale(points, isSweep, frame);
  const y = log(logDomain([...values, ...(limit === null ? [] : [limit])], 1.5), [frame.bottom, frame.top]);
  const title = `${name} of ${isSweep ? "service" : "response"} time (log), lower is better`;
  return (
    <figure ref={element} class="chart">
      {width > 0 && (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`${title}, of ${points.length} trials against the load`}>
          <CapacityBand run={run} x={x} y={limit === null ? null : y(limit)} frame={frame} isSweep={isSweep} />
          <Axes
            frame={frame}
            x={x}
            y={y}
            xTicks={linearTicks(x.domain, width / 110).map((tick) => [tick, onAxis(tick, "/s")])}
            yTicks={logTicks(y.domain).map((tick) => [tick, onAxis(tick, "ns")])}
            xTitle={isSweep ? "connections" : "offered rate, requests per second"}
            yTitle={title}
          />
          {limit !== null && (
            <g class="objective">
              <line x1={frame.left} x2={frame.right} y1={y(limit)} y2={y(limit)} />
              <text x={isSweep ? frame.right - 6 : frame.left + 6} y={y(limit) + (isSweep || y(limit) < frame.top + 22 ? 16 : -7)} text-anchor={isSweep ? "end" : "start"}>
                objective: {name} &lt; {chosenDuration(limit)}
              </text>
            </g>
          )}
          <Points {...props} at={(point) => at(point, of(point), x, y, isSweep)} />
        </svg>
      )}
    </figure>
  );
}

export function AchievedChart(props: CurveProps) {
  const { run, points, isSweep } = props;
  const [element, width] = useWidth<HTMLElement>();
  const frame = frameOf(width);
  const x = loadScale(points, isSweep, frame);
  const reached = points.map((point) => point.achieved_hz);
  // With y = x as long as completions keep up; lower where they collapse, so that no point is outside.
  const domain: [number, number] = isSweep ? [0, Math.max(...reached) * 1.08] : [Math.min(x.domain[0], ...reached.map((rate) => rate * 0.95)), x.domain[1]];
  const y = linear(domain, [frame.bottom, frame.top]);
  const labelled = x.domain[0] + (x.domain[1] - x.domain[0]) * 0.3;
  return (
    <figure ref={element} class="chart">
      {width > 0 && (
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Achieved rate of ${points.length} trials against the load`}>
          <CapacityBand run={run} x={x} y={null} frame={frame} isSweep={isSweep} />
          <Axes
            frame={frame}
            x={x}
            y={y}
            xTicks={linearTicks(x.domain, width / 110).map((tick) => [tick, onAxis(tick, "/s")])}
            yTicks={linearTicks(y.domain, 5).map((tick) => [tick, onAxis(tick, "/s")])}
            xTitle={isSweep ? "connections" : "offered rate, requests per second"}
            yTitle="achieved rate, requests per second, higher is better"
          />
          {isSweep && <CapacityLine run={run} y={y} frame={frame} />}
          {!isSweep && (
            <g class="identity">
              <line x1={frame.left} y1={y(x.domain[0])} x2={frame.right} y2={y(x.domain[1])} />
              <text x={x(labelled)} y={y(labelled) - 12} text-anchor="end">
                achieved = offered
              </text>
            </g>
          )}
          <Points {...props} at={(point) => at(point, point.achieved_hz, x, y, isSweep)} />
        </svg>
      )}
    </figure>
  );
}

type Position = [x: number, y: number] | null;

function at(point: CurvePoint, value: number | null, x: Scale, y: Scale, isSweep: boolean): Position {
  const load = loadOfPoint(point, isSweep);
  return load === null || value === null || value <= 0 ? null : [x(load), y(value)];
}

function Points({ points, picked, onPick, at }: CurveProps & { at(point: CurvePoint): Position }) {
  return (
    <g class="points" onPointerLeave={() => onPick(null)}>
      {points.map((point) => {
        const position = at(point);
        if (position === null) return null;
        const [x, y] = position;
        const isPicked = point.trial === picked;
        return (
          <g key={point.trial} class={isPicked ? "picked" : ""} onPointerEnter={() => onPick(point.trial)} onClick={() => onPick(point.trial)}>
            <circle class="reach" cx={x} cy={y} r={REACH} />
            {isPicked && <circle class="halo" cx={x} cy={y} r={11} />}
            <Mark point={point} x={x} y={y} size={5.5} />
          </g>
        );
      })}
    </g>
  );
}

interface BandProps {
  run: Run;
  x: Scale;
  /** Where the objective's line is, to mark the knee on it; `null` for no mark. */
  y: number | null;
  frame: Frame;
  isSweep: boolean;
}

/** The capacity of a closed-loop sweep, which is a height and not a place on the axis of loads. */
function CapacityLine({ run, y, frame }: { run: Run; y: Scale; frame: Frame }) {
  const claim = run.payload.capacity;
  if (claim.claim !== "estimate" && claim.claim !== "at_least") return null;
  const { rate_hz, low_hz, high_hz } = claim.capacity;
  const [top, bottom] = low_hz !== null && high_hz !== null ? [y(high_hz), y(low_hz)] : [y(rate_hz), y(rate_hz)];
  return (
    <g class="capacity-band">
      <rect class="interval" x={frame.left} y={top} width={frame.right - frame.left} height={Math.max(bottom - top, 2)} />
      <line class="estimate" x1={frame.left} x2={frame.right} y1={y(rate_hz)} y2={y(rate_hz)} />
      <text x={frame.left + 6} y={bottom + 15}>
        {claim.claim === "at_least" ? "at least" : "capacity"} {significant(rate_hz, 4)}/s
      </text>
    </g>
  );
}

/** The capacity as a line in the band of its interval, with the knee where it meets the objective. */
function CapacityBand({ run, x, y, frame, isSweep }: BandProps) {
  const claim = run.payload.capacity;
  if (isSweep || (claim.claim !== "estimate" && claim.claim !== "at_least")) return null;
  const { rate_hz, low_hz, high_hz } = claim.capacity;
  const center = x(rate_hz);
  // What is below or above all loads of the axis has no place on it; the sentence above the chart says it.
  if (center < frame.left || center > frame.right) return null;
  const [left, right] = low_hz !== null && high_hz !== null ? [x(low_hz), x(high_hz)] : [center, center];
  const written = low_hz !== null && high_hz !== null ? rateInterval(rate_hz, low_hz, high_hz).rate : significant(rate_hz, 4);
  const isLate = center > (frame.left + frame.right) / 2;
  const word = claim.claim === "at_least" ? "at least" : "capacity";
  return (
    <g class="capacity-band">
      <rect class="interval" x={left} y={frame.top} width={Math.max(right - left, 2)} height={frame.bottom - frame.top} />
      <line class="estimate" x1={center} x2={center} y1={frame.top} y2={frame.bottom} />
      <text x={isLate ? left - 7 : right + 7} y={frame.top + 11} text-anchor={isLate ? "end" : "start"}>
        {word} {written}/s
      </text>
      {y !== null && claim.claim === "estimate" && (
        <>
          <circle class="knee" cx={center} cy={y} r={8} />
          <text x={right + 8} y={y + 18} class="knee-label">
            knee
          </text>
        </>
      )}
    </g>
  );
}
