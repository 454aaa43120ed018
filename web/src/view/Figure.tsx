// Capacity as a figure: the number, its interval, and a strip that shows the trials that it rests on.

import { linear } from "../chart/scale.ts";
import { useWidth } from "../chart/size.ts";
import { objective, rate, rateInterval, significant } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { prose } from "../record/text.ts";
import type { Capacity, CurvePoint } from "../record/types.ts";
import { ENDINGS } from "./words.tsx";

export function Figure({ run }: { run: Run }) {
  const claim = run.payload.capacity;
  return (
    <article class="card" aria-labelledby="figure-title">
      <h2 id="figure-title" class="eyebrow">
        Capacity
      </h2>
      {claim.claim === "estimate" && <Estimate run={run} capacity={claim.capacity} />}
      {claim.claim === "at_least" && <AtLeast run={run} capacity={claim.capacity} />}
      {claim.claim === "bounds" && <Bounds capacity={claim.capacity} />}
      {claim.claim === "withheld" && (
        <>
          <p class="big">{run.payload.analysis.verdict.status === "INVALID" ? "not known" : "none found"}</p>
          <p class="quiet">
            {run.payload.analysis.verdict.status === "INVALID"
              ? "The run is INVALID: its numbers are not the server's."
              : `${objective(claim.objective)}: ${claim.ending}.`}
          </p>
        </>
      )}
    </article>
  );
}

function Estimate({ run, capacity }: { run: Run; capacity: Capacity }) {
  const { low_hz, high_hz } = capacity;
  const written = low_hz !== null && high_hz !== null ? rateInterval(capacity.rate_hz, low_hz, high_hz) : null;
  return (
    <>
      <p class="big">
        {written?.rate ?? significant(capacity.rate_hz, 4)} <span class="unit">req/s</span>
      </p>
      <p>
        {written ? (
          <>
            {capacity.basis === "enclosure" ? "between" : "95% interval"}{" "}
            <strong>
              {capacity.basis === "enclosure" ? `${written.low} and ${written.high}` : `${written.low}–${written.high}`}
            </strong>
          </>
        ) : (
          openInterval(low_hz, high_hz)
        )}
        <Goal capacity={capacity} />; {ENDINGS[capacity.ended_by]}
      </p>
      <Strip run={run} capacity={capacity} />
      <Certificate capacity={capacity} />
    </>
  );
}

function openInterval(low: number | null, high: number | null): string {
  if (low !== null) return `95% interval from ${significant(low, 4)}, open above`;
  if (high !== null) return `95% interval up to ${significant(high, 4)}, open below`;
  return "no interval";
}

function AtLeast({ run, capacity }: { run: Run; capacity: Capacity }) {
  return (
    <>
      <p class="big">
        <span class="unit">at least</span> {significant(capacity.rate_hz, 4)} <span class="unit">req/s</span>
      </p>
      <p>
        {ENDINGS[capacity.ended_by]}
        <Goal capacity={capacity} />
      </p>
      <Strip run={run} capacity={capacity} />
      <Certificate capacity={capacity} />
    </>
  );
}

/** What a search saw that was stopped: no estimate. */
function Bounds({ capacity }: { capacity: Omit<Capacity, "rate_hz"> }) {
  return (
    <>
      <p class="big">not known</p>
      <p>
        {capacity.low_hz !== null && `${significant(capacity.low_hz, 4)} req/s met the objective`}
        {capacity.high_hz !== null && `, ${significant(capacity.high_hz, 4)} did not`}
        <Goal capacity={capacity} />; {ENDINGS[capacity.ended_by]}.
      </p>
    </>
  );
}

function Goal({ capacity }: { capacity: Pick<Capacity, "objective"> }) {
  if (capacity.objective === "") return null;
  return (
    <>
      {" "}
      at <strong>{prose(objective(capacity.objective))}</strong>
    </>
  );
}

function Certificate({ capacity }: { capacity: Capacity }) {
  if (capacity.certified_hz === null) return null;
  const passes = capacity.certified_passes;
  return (
    <p class="quiet">
      {rate(capacity.certified_hz)} is certified by {passes} fresh {passes === 1 ? "pass" : "passes"}.
    </p>
  );
}

const STRIP_HEIGHT = 46;

/** All open trials on the axis of rates, with the interval as a band. */
function Strip({ run, capacity }: { run: Run; capacity: Capacity }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const points = run.payload.analysis.curve.filter((point): point is CurvePoint & { offered_hz: number } => point.offered_hz !== null);
  if (points.length < 2) return null;
  const rates = [...points.map((point) => point.offered_hz), capacity.rate_hz];
  const x = linear([Math.min(...rates) * 0.97, Math.max(...rates) * 1.03], [8, Math.max(width - 8, 9)]);
  const ends = [Math.min(...rates), Math.max(...rates)];
  return (
    <div ref={element} class="strip">
      {width > 0 && (
        <svg width={width} height={STRIP_HEIGHT} viewBox={`0 0 ${width} ${STRIP_HEIGHT}`} aria-hidden="true">
          {capacity.low_hz !== null && capacity.high_hz !== null && (
            <rect class="interval" x={x(capacity.low_hz)} y={4} width={Math.max(2, x(capacity.high_hz) - x(capacity.low_hz))} height={22} />
          )}
          <line class="axis-line" x1={x.domain[0] && x(x.domain[0])} x2={x(x.domain[1])} y1={15} y2={15} />
          {points.map((point) => (
            <Mark key={point.trial} point={point} x={x(point.offered_hz)} y={15} size={4} />
          ))}
          <line class="estimate" x1={x(capacity.rate_hz)} x2={x(capacity.rate_hz)} y1={1} y2={29} />
          {ends.map((end, position) => (
            <text key={position} class="tick" x={x(end)} y={42} text-anchor={position === 0 ? "start" : "end"}>
              {significant(end, 3)}
            </text>
          ))}
        </svg>
      )}
    </div>
  );
}

interface MarkProps {
  point: CurvePoint;
  x: number;
  y: number;
  size: number;
}

/** A trial as a shape: a disc where it met the objective, a diamond where not, a hollow triangle where it was unsound. */
export function Mark({ point, x, y, size }: MarkProps) {
  if (point.status === "INVALID") {
    return <path class="mark mark-unsound" d={`M${x},${y - size}L${x + size},${y + size}L${x - size},${y + size}Z`} />;
  }
  if (point.met === false) {
    const half = size * 1.25;
    return <path class="mark mark-missed" d={`M${x},${y - half}L${x + half},${y}L${x},${y + half}L${x - half},${y}Z`} />;
  }
  return <circle class={`mark ${point.met ? "mark-met" : "mark-free"}`} cx={x} cy={y} r={size} />;
}
