// Effects one below the other on a common axis: the estimate, its 95% interval, thicker its 90% interval, and the grey
// band of what does not matter. To the right is better, whichever way the metric goes.

import type { ComponentChildren } from "preact";
import { forestDomain, forestTicks, type Margin, type Placed, place, placeBound } from "../chart/forest.ts";
import { linear, type Scale } from "../chart/scale.ts";
import { useWidth } from "../chart/size.ts";
import { boundText, type ComparisonVerdict, type Effect, type EffectBound, effectText, type Word, WORDS } from "../record/effect.ts";

export interface ForestRow extends Margin {
  key: string;
  /** What is compared. */
  label: ComponentChildren;
  /** `null`: there is no interval; `bound` is its only end, or `without` says why there is none. */
  effect: Effect | null;
  /** What the effect is at least or at most, where no more is known. */
  bound?: EffectBound | null;
  /** The word on B; `null`: there is none. */
  word: Word | null;
  /** More about the row, below its label. */
  note?: ComponentChildren;
  /** What became of the row where that is no word on B: a guardrail held or broken. */
  mark?: { shape: string; word: string; isBad: boolean };
  /** Why there is no interval. */
  without?: string;
}

const ROW = { height: 34, middle: 17, narrow: 8, dot: 5 };
const AXIS_HEIGHT = 34;

export function Forest({ rows, label }: { rows: readonly ForestRow[]; label: string }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const placed = rows.map((row) => (row.effect ? place(row.effect, row) : row.bound ? placeBound(row.bound, row) : null));
  const domain = forestDomain(
    placed.filter((each) => each !== null),
    rows,
  );
  const x = linear(domain, [10, Math.max(width - 10, 11)]);
  return (
    <figure class="forest" aria-label={label}>
      <div ref={element} class="forest-ruler" />
      {rows.map((row, position) => (
        <div class="forest-row" key={row.key}>
          <div class="forest-label">
            <p>{row.label}</p>
            {row.note && <p class="quiet">{row.note}</p>}
          </div>
          <div class="forest-strip">{width > 0 && <Strip x={x} width={width} placed={placed[position] ?? null} word={row.mark?.isBad ? "worse" : row.word} />}</div>
          <p class="forest-value">
            {row.word && <WordMark word={row.word} />}
            {row.mark && (
              <span class={`word${row.mark.isBad ? " mark-bad" : ""}`}>
                <span aria-hidden="true">{row.mark.shape}</span> {row.mark.word}
              </span>
            )}{" "}
            <span class={row.effect || row.bound ? "forest-number" : "forest-number forest-number-none"}>{textOf(row)}</span>
          </p>
        </div>
      ))}
      <div class="forest-row forest-axis" aria-hidden="true">
        <div class="forest-label" />
        <div class="forest-strip">{width > 0 && <Axis x={x} width={width} rows={rows} />}</div>
      </div>
    </figure>
  );
}

function textOf({ effect, bound, without }: ForestRow): string {
  if (effect) return effectText(effect);
  return bound ? boundText(bound) : (without ?? "no interval");
}

/** A verdict's word with its shape. */
export function WordMark({ word }: { word: Word }) {
  return (
    <span class={`word word-${word}`}>
      <span aria-hidden="true">{WORDS[word].shape}</span> {WORDS[word].text}
    </span>
  );
}

/** The word of a verdict as a badge, with the reason for which it is no better where there is one. */
export function WordBadge({ verdict }: { verdict: ComparisonVerdict }) {
  return (
    <span class={`badge badge-${verdict.word}`}>
      <span aria-hidden="true">{WORDS[verdict.word].shape}</span> {WORDS[verdict.word].text.toUpperCase()}
    </span>
  );
}

function Strip({ x, width, placed, word }: { x: Scale; width: number; placed: Placed | null; word: Word | null }) {
  const [least, most] = x.domain;
  const held = (value: number) => x(Math.min(Math.max(value, least), most));
  return (
    <svg width={width} height={ROW.height} viewBox={`0 0 ${width} ${ROW.height}`} aria-hidden="true" class={word ? `forest-${word}` : undefined}>
      <rect class="forest-band" x={x(-1)} y={0} width={x(1) - x(-1)} height={ROW.height} />
      <line class="forest-edge" x1={x(-1)} x2={x(-1)} y1={0} y2={ROW.height} />
      <line class="forest-edge" x1={x(1)} x2={x(1)} y1={0} y2={ROW.height} />
      <line class="axis-line" x1={x(0)} x2={x(0)} y1={0} y2={ROW.height} />
      {placed && (
        <>
          <line class="forest-wide" x1={held(placed.low)} x2={held(placed.high)} y1={ROW.middle} y2={ROW.middle} />
          {placed.narrow && (
            <rect
              class="forest-narrow"
              x={held(placed.narrow[0])}
              y={ROW.middle - ROW.narrow / 2}
              width={Math.max(held(placed.narrow[1]) - held(placed.narrow[0]), 1)}
              height={ROW.narrow}
            />
          )}
          {placed.low < least && <Arrow at={x(least)} step={-6} />}
          {placed.high > most && <Arrow at={x(most)} step={6} />}
          {placed.point === null ? (
            <Stop at={held(Number.isFinite(placed.low) ? placed.low : placed.high)} />
          ) : (
            <circle class="forest-point" cx={held(placed.point)} cy={ROW.middle} r={ROW.dot} />
          )}
        </>
      )}
    </svg>
  );
}

/** The only end of an interval that is known. */
function Stop({ at }: { at: number }) {
  return <line class="forest-wide" x1={at} x2={at} y1={ROW.middle - ROW.narrow} y2={ROW.middle + ROW.narrow} />;
}

/** The interval goes on beyond the axis. */
function Arrow({ at, step }: { at: number; step: number }) {
  return <path class="forest-arrow" d={`M${at},${ROW.middle - 5}l${step},5l${-step},5Z`} />;
}

/** Half the width of a text of the axis at most: signs are wider than letters. Unit: pixels. */
const halfOf = (text: string) => text.length * 3.4 + (text.match(/[%−+±×]/g)?.length ?? 0) * 2.6;

/** Where the middle of a text lies so that none of it leaves the axis. */
const within = (at: number, text: string, width: number) => Math.min(Math.max(at, halfOf(text)), Math.max(width - halfOf(text), halfOf(text)));

/** Whether a text fits between the two words at the ends of the axis. */
const hasRoom = (at: number, text: string, width: number) => at - halfOf(text) > 62 && at + halfOf(text) < width - 62;

function Axis({ x, width, rows }: { x: Scale; width: number; rows: readonly Margin[] }) {
  const [first] = rows;
  const isShared = first !== undefined && (rows.length === 1 || rows.every((row) => row.scale === "ratio" && row.margin === first.margin));
  const band = isShared ? `±${Number((first.margin * 100).toPrecision(3))} ${first.scale === "ratio" ? "%" : "pp"} does not matter` : "gray: too small to matter";
  return (
    <svg width={width} height={AXIS_HEIGHT} viewBox={`0 0 ${width} ${AXIS_HEIGHT}`}>
      {forestTicks(x.domain, rows).map(([at, text]) => (
        <g key={at}>
          <line class="axis-line" x1={x(at)} x2={x(at)} y1={0} y2={4} />
          <text x={within(x(at), text, width)} y={16} text-anchor="middle">
            {text}
          </text>
        </g>
      ))}
      <text class="axis-title" x={0} y={31}>
        ← worse
      </text>
      {hasRoom(x(0), band, width) && (
        <text x={x(0)} y={31} text-anchor="middle">
          {band}
        </text>
      )}
      <text class="axis-title" x={width} y={31} text-anchor="end">
        better →
      </text>
    </svg>
  );
}
