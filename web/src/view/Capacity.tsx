// Every trial as a point: its tail latency and its rate of completions against the load that was offered.

import { useState } from "preact/hooks";
import { duration, objective, percent, rate, significant } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { prose } from "../record/text.ts";
import type { CurvePoint } from "../record/types.ts";
import { AchievedChart, LatencyChart } from "./CurveCharts.tsx";
import { numbers, Table } from "./Table.tsx";
import { PURPOSES, SHAPES, showSeconds } from "./words.tsx";

/** The load of a trial: what is on the horizontal axis. */
export function loadOfPoint(point: CurvePoint, isSweep: boolean): number | null {
  return isSweep ? point.connections : point.offered_hz;
}

export function Capacity({ run }: { run: Run }) {
  const { curve } = run.payload.analysis;
  const [picked, setPicked] = useState<number | null>(null);
  const isSweep = curve.every((point) => point.offered_hz === null);
  const points = curve.filter((point) => loadOfPoint(point, isSweep) !== null);
  const chosen = points.find((point) => point.trial === picked);
  const claim = run.payload.capacity;
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined || points.length === 0) return;
    event.preventDefault();
    const sorted = [...points].sort((one, other) => (loadOfPoint(one, isSweep) ?? 0) - (loadOfPoint(other, isSweep) ?? 0));
    const at = sorted.findIndex((point) => point.trial === picked);
    const next = sorted[(at + step + sorted.length) % sorted.length];
    setPicked(next?.trial ?? null);
  };
  const shared = { run, points, isSweep, picked, onPick: setPicked };
  return (
    <>
      {points.length > 1 && (
        <div class="curve" tabIndex={0} role="group" aria-label="Charts of all trials; arrow keys go from trial to trial" onKeyDown={move}>
          <LatencyChart {...shared} />
          <AchievedChart {...shared} />
        </div>
      )}
      <p class="readout" role="status">
        {chosen ? <PointText run={run} point={chosen} /> : points.length > 1 && <Key hasObjective={claim.claim !== "not_sought"} />}
      </p>
      {(claim.claim === "estimate" || claim.claim === "at_least") && <p class="quiet measure">{prose(claim.capacity.method)}</p>}
      <details>
        <summary>All trials as a table</summary>
        <TrialTable run={run} />
      </details>
    </>
  );
}

function Key({ hasObjective }: { hasObjective: boolean }) {
  return (
    <span class="key">
      {hasObjective && (
        <>
          <span>
            <span class="swatch-met" aria-hidden="true">
              ●
            </span>{" "}
            met the objective
          </span>
          <span>
            <span class="swatch-missed" aria-hidden="true">
              ◇
            </span>{" "}
            missed it
          </span>
        </>
      )}
      <span>
        <span class="swatch-unsound" aria-hidden="true">
          △
        </span>{" "}
        trial unsound
      </span>
      <span class="quiet">point at a trial, or press an arrow key, to read it</span>
    </span>
  );
}

function PointText({ run, point }: { run: Run; point: CurvePoint }) {
  const value = (ns: number | null) => (ns === null ? "–" : duration(ns));
  return (
    <>
      <strong>
        Trial {point.trial}, {PURPOSES[point.purpose]}
      </strong>
      : {point.offered_hz === null ? `${point.connections} connections, closed` : `offered ${rate(point.offered_hz)}`}, achieved{" "}
      {rate(point.achieved_hz)}, p50 {value(point.p50_ns)}, p99 {value(point.p99_ns)}, errors {percent(point.error_ratio)}
      {point.met !== null && (point.met ? ", met the objective" : ", missed the objective")}.{" "}
      <button
        type="button"
        class="seconds"
        onClick={() => showSeconds(run, [run.seconds(point.begin_mono_ns), run.seconds(point.end_mono_ns)], null)}
      >
        its seconds
      </button>
    </>
  );
}

function TrialTable({ run }: { run: Run }) {
  const { curve, shown_trial } = run.payload.analysis;
  const claim = run.payload.capacity;
  const value = (ns: number | null) => (ns === null ? "–" : duration(ns));
  const heads = ["offered", "achieved", "goodput", "errors", "p50", "p90", "p99", "p99.9"];
  const goal = claim.claim === "estimate" || claim.claim === "at_least" ? objective(claim.capacity.objective) : "objective";
  return (
    <Table label="All trials" stacks heads={["trial", "for", ...numbers(heads), goal, "trial was"]}>
      {curve.map((point) => (
        <tr key={point.trial}>
          <th scope="row">
            {point.trial}
            {point.trial === shown_trial && " (shown)"}
          </th>
          <td>{PURPOSES[point.purpose]}</td>
          <td class="number">{point.offered_hz === null ? `${point.connections} conn.` : `${significant(point.offered_hz, 4)}/s`}</td>
          <td class="number">{significant(point.achieved_hz, 4)}/s</td>
          <td class="number">{significant(point.goodput_hz, 4)}/s</td>
          <td class="number">{percent(point.error_ratio)}</td>
          <td class="number">{value(point.p50_ns)}</td>
          <td class="number">{value(point.p90_ns)}</td>
          <td class="number">{value(point.p99_ns)}</td>
          <td class="number">{value(point.p99_9_ns)}</td>
          <td>{point.met === null ? "–" : point.met ? "● met" : "◇ missed"}</td>
          <td>
            {SHAPES[point.status]} {point.status}
          </td>
        </tr>
      ))}
    </Table>
  );
}
