// From the embedded document to what charts draw: columns decoded, instants as seconds since the run began.

import { type Heat, heatOf } from "./heat.ts";
import { type Moment, momentsOf } from "./moments.ts";
import { type ProbeTrack, tracksOf } from "./probes.ts";
import type { Column, Encoded, MonoNs, PhaseKind, Payload } from "./types.ts";

export type Values = (number | null)[];

/** The values of an encoded column of so many rows. */
export function decode(encoded: Encoded, rows: number): Values {
  if ("constant" in encoded) return new Array<number | null>(rows).fill(encoded.constant);
  if ("plain" in encoded) return encoded.plain;
  let last = 0;
  return encoded.deltas.map((delta) => (delta === null ? null : (last += delta)));
}

/** Whether a column has a value that differs from the others. */
export function isMoving(column: Column): boolean {
  return !("constant" in column.values);
}

export interface Band {
  trial: number;
  phase: PhaseKind;
  /** Seconds since the run began. */
  begin: number;
  end: number;
  rate_hz: number | null;
}

/** A record with its time axis. */
export class Run {
  readonly payload: Payload;
  /** Instant from which seconds are counted. */
  readonly origin: MonoNs;
  /** Middle of each reading's window, in seconds. */
  readonly rowSeconds: number[];
  /** When the last reading of each row was over: a counter grows from one such second to the next. */
  readonly rowEnds: number[];
  /** The load, window by window. */
  readonly moments: Moment[];
  /** Latency over time; `null` where the record has none window by window. */
  readonly heat: Heat | null;
  /** What outsiders saw, target by target. */
  readonly tracks: ProbeTrack[];
  /** Seconds in which probes were lost. */
  readonly losses: [begin: number, end: number][];
  /** Phases of all trials, in order. */
  readonly bands: Band[];
  /** The seconds that the time axis covers. */
  readonly extent: [number, number];
  private readonly columns: Map<string, Column>;
  private readonly decoded = new Map<string, Values>();

  constructor(payload: Payload) {
    this.payload = payload;
    this.origin = payload.manifest.clock.mono_ns;
    const { series } = payload;
    const begins = decode(series.begin_mono_ns, series.rows);
    const ends = decode(series.end_mono_ns, series.rows);
    this.rowSeconds = begins.map((begin, row) => (this.seconds(begin ?? 0) + this.seconds(ends[row] ?? 0)) / 2);
    this.rowEnds = ends.map((end) => this.seconds(end ?? 0));
    this.moments = momentsOf(payload.intervals, (instant) => this.seconds(instant));
    this.heat = payload.heat ? heatOf(payload.heat, (instant) => this.seconds(instant)) : null;
    this.tracks = tracksOf(payload.probes ?? [], (instant) => this.seconds(instant));
    const windows = payload.analysis?.probes?.windows ?? [];
    this.losses = windows.map((window) => [this.seconds(window.begin_mono_ns), this.seconds(window.end_mono_ns)]);
    this.columns = new Map(series.columns.map((column) => [keyOf(column), column]));
    this.bands = bandsOf(this);
    const probed = this.tracks.map((track) => track.seconds.at(-1) ?? 0);
    const instants = [...this.rowSeconds, ...this.moments.map((moment) => moment.end), ...this.bands.map((band) => band.end), ...probed];
    this.extent = [0, instants.reduce((latest, at) => Math.max(latest, at), 1)];
  }

  /** Seconds since the run began. */
  seconds(instant: MonoNs): number {
    return (instant - this.origin) / 1e9;
  }

  /** The column `name@scope`, if there is one. */
  column(key: string): Column | undefined {
    return this.columns.get(key);
  }

  /** Columns of this name, in the order of the record. */
  columnsOf(name: string): Column[] {
    return this.payload.series.columns.filter((column) => column.name === name);
  }

  /** The raw readings of a column, one per row. */
  values(column: Column): Values {
    const key = keyOf(column);
    const known = this.decoded.get(key);
    if (known) return known;
    const values = decode(column.values, this.payload.series.rows);
    this.decoded.set(key, values);
    return values;
  }

  /** The extremes of a column in rows that stand for several samples, in the column's unit, of a counter per second. */
  bounds(column: Column): { low: Values; high: Values } | undefined {
    const { rows } = this.payload.series;
    return column.bounds && { low: decode(column.bounds.low, rows), high: decode(column.bounds.high, rows) };
  }

  /** The phase at a second, if one was under way. */
  bandAt(second: number): Band | undefined {
    return this.bands.find((band) => band.begin <= second && second < band.end);
  }

  /** Wall-clock time of a second, for labels. */
  wallClock(second: number): Date {
    return new Date(Number(this.payload.manifest.clock.unix_ns) / 1e6 + second * 1e3);
  }
}

export function keyOf(column: { name: string; scope: string }): string {
  return `${column.name}@${column.scope}`;
}

/** Phases from their marks; a phase whose end is missing lasts to the next mark, or to the last interval. */
function bandsOf(run: Run): Band[] {
  const bands: Band[] = [];
  let open: Band | undefined;
  for (const { mono_ns, event } of run.payload.events) {
    const at = run.seconds(mono_ns);
    if (event.kind === "phase_end" && open?.trial === event.trial && open.phase === event.phase) {
      open.end = at;
      open = undefined;
    } else if (event.kind === "phase_begin") {
      if (open) open.end = at;
      open = { trial: event.trial, phase: event.phase, begin: at, end: at, rate_hz: event.rate_hz };
      bands.push(open);
    }
  }
  if (open) open.end = run.moments.at(-1)?.end ?? open.begin;
  return bands;
}
