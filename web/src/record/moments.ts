// The load second by second: intervals of several phases that cover the same seconds, taken together.
//
// Requests are counted in the phase of their intended send, so that while one phase goes on, the one before it still
// completes. Such intervals share their window; what a chart shows of that window is their sum.

import { decode } from "./decode.ts";
import type { Bounds, Intervals, MonoNs } from "./types.ts";

/** The least and the greatest of several seconds. */
export interface Extremes {
  low: number;
  high: number;
}

/** One window of the load, all phases together. */
export interface Moment {
  /** Seconds since the run began. */
  begin: number;
  end: number;
  scheduled: number;
  /** Completed, valid or not, and timed out. */
  completed: number;
  errors: number;
  timedOut: number;
  /** Failed requests by class. */
  failures: Record<string, number>;
  inFlight: number;
  /** Users in a session; `null` where the load has none. */
  users: number | null;
  /** CPU time of all generator threads; `null` where the record has none. */
  cpu_ns: number | null;
  /** Of the phase that completed most in the window. */
  p50_ns: number | null;
  p99_ns: number | null;
  /** Where it stands for several seconds: what they were like, rates per second. */
  extremes: Record<string, Extremes>;
}

export function momentsOf(intervals: Intervals, seconds: (instant: MonoNs) => number): Moment[] {
  const length = intervals.trial.length;
  const begins = decode(intervals.begin_mono_ns, length);
  const ends = decode(intervals.end_mono_ns, length);
  const bounds = Object.entries(intervals.extremes ?? {}).map(([name, each]) => ({ name, ...decoded(each, length) }));
  const extremes = (interval: number) =>
    Object.fromEntries(
      bounds.flatMap(({ name, low, high }): [string, Extremes][] => {
        const [least, most] = [low[interval], high[interval]];
        return typeof least === "number" && typeof most === "number" ? [[name, { low: least, high: most }]] : [];
      }),
    );
  const failures = Object.entries(intervals.failures ?? {}).map(([name, each]): [string, (number | null)[]] => [name, decode(each, length)]);
  const failed = (members: number[]) =>
    Object.fromEntries(failures.map(([name, counts]) => [name, members.reduce((sum, interval) => sum + (counts[interval] ?? 0), 0)]));
  const windows = new Map<number, { end: number; members: number[] }>();
  begins.forEach((begin, interval) => {
    const end = ends[interval];
    if (begin === null || end === null || end === undefined) return;
    const window = windows.get(begin);
    if (!window) windows.set(begin, { end, members: [interval] });
    else {
      window.members.push(interval);
      window.end = Math.max(window.end, end);
    }
  });
  return [...windows]
    .sort(([one], [other]) => one - other)
    .map(([begin, { end, members }]) => ({
      begin: seconds(begin),
      end: seconds(end),
      failures: failed(members),
      ...together(intervals, members, extremes),
    }));
}

function decoded({ low, high }: Bounds, length: number) {
  return { low: decode(low, length), high: decode(high, length) };
}

function together(
  intervals: Intervals,
  members: number[],
  extremes: (interval: number) => Moment["extremes"],
): Omit<Moment, "begin" | "end" | "failures"> {
  const total = (values: number[]) => members.reduce((sum, interval) => sum + (values[interval] ?? 0), 0);
  const completed = (interval: number) => (intervals.ok[interval] ?? 0) + (intervals.failed[interval] ?? 0) + (intervals.timed_out[interval] ?? 0);
  const main = members.reduce((most, interval) => (completed(interval) > completed(most) ? interval : most));
  const cpu = members.flatMap((interval) => intervals.thread_cpu_ns[interval] ?? []);
  return {
    scheduled: total(intervals.scheduled),
    completed: members.reduce((sum, interval) => sum + completed(interval), 0),
    errors: total(intervals.failed) + total(intervals.timed_out),
    timedOut: total(intervals.timed_out),
    inFlight: total(intervals.in_flight),
    users: members.reduce<number | null>((known, interval) => intervals.users?.[interval] ?? known, null),
    cpu_ns: cpu.length > 0 ? cpu.reduce((sum, each) => sum + each, 0) : null,
    p50_ns: intervals.p50_ns[main] ?? null,
    p99_ns: intervals.p99_ns[main] ?? null,
    extremes: extremes(main),
  };
}
