// What `sysdyno serve` gives the page besides reports. The writers are crates/serve/src/{routes,live,answer,experiments,orders,labs,fleet}.rs and
// crates/index/src/row.rs.

import { MISSING } from "../number.ts";
import { momentsOf, type Moment } from "./moments.ts";
import type { Word } from "./effect.ts";
import type { MonoNs, PhaseKind, VerdictStatus } from "./types.ts";

export type Kind = "run" | "load" | "demo" | "try" | "probe" | "watch";

export interface RunRow {
  name: string;
  kind: Kind | null;
  status: "running" | "complete" | "interrupted" | "failed" | null;
  is_incomplete: boolean;
  /** Wall clock, a decimal string. */
  started_unix_ns: string;
  ended_unix_ns: string | null;
  command: string;
  url: string | null;
  answer: {
    verdict: VerdictStatus | null;
    word: Word | null;
    rate_hz: number | null;
    p99_ns: number | null;
    limit: string;
    reason: string | null;
  } | null;
  label: { tags: string[]; note: string };
}

/** A part of the list of runs. */
export interface RunsPage {
  schema: "sysdyno.runs/1";
  folder: string;
  total_count: number;
  unreadable_count: number;
  /** Folders that the index has not read yet. */
  left_count: number;
  offset: number;
  runs: RunRow[];
  /** The newest first, whatever is searched for. */
  experiments: ExperimentRow[];
  /** What an order carries; absent: this server starts nothing. */
  key?: string;
}

/** The command that this server started last. */
export interface Job {
  /** Its words after the name of the program. */
  words: string[];
  is_running: boolean;
  is_interrupted: boolean;
  /** Its exit code; `null` while it runs, or if a signal ended it. */
  code: number | null;
  said: string;
}

/** A lab of the host. */
export interface LabRow {
  name: string;
  state: string;
  hosts: string[];
  services: { name: string; host: string; recipe: string; cause: string | null }[];
}

/** An agent of a fleet. */
export interface AgentRow {
  name: string;
  state: string;
  labels: string;
  allows: string;
  cpus_count: number | null;
  busy_ratio: number | null;
}

/** An experiment, and how far it has come. */
export interface ExperimentRow {
  name: string;
  title: string;
  variants_count: number;
  trials_count: number;
  measured_count: number;
  changed_unix_ms: number;
}

/** A run that goes on. */
export interface LivePage {
  schema: "sysdyno.live/1";
  run: RunRow;
  /** As in the list. */
  key?: string;
}

/** Why there is no other page. */
export interface Notice {
  schema: "sysdyno.notice/1";
  text: string;
}

/** One interval of a run that goes on. */
export interface GrowthPoint {
  trial: number;
  phase: PhaseKind;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
  /** Requests that were due: arrivals of an open load; of a closed one, all that were sent. */
  scheduled: number;
  ok: number;
  failed: number;
  timed_out: number;
  in_flight: number;
  /** Failed requests by class. */
  failures: Record<string, number>;
  p50_ns: number | null;
  p99_ns: number | null;
}

/** The server's host at one moment of a run. */
export interface HostNow {
  mono_ns: MonoNs;
  /** CPUs in use; `null`: not known. */
  uses: {
    tiers: { name: string; cpus: number }[];
    other_cpus: number | null;
    generator_cpus: number | null;
    host_cpus_count: number | null;
  };
  /** Limits that its readings show, the strongest sign first. */
  seen: { id: string; name: string; title: string }[];
}

/** Who used CPUs, at each of these moments. */
export function cpusOf(nows: readonly HostNow[]): Map<string, (number | null)[]> {
  const named = (now: HostNow): [string, number | null][] => [
    ...now.uses.tiers.map(({ name, cpus }, position): [string, number] => {
      const isOnly = now.uses.tiers.findIndex((tier) => tier.name === name) === position;
      return [isOnly ? name : `${name} (tier ${position + 1})`, cpus];
    }),
    ["sysdyno", now.uses.generator_cpus],
    ["everything else", now.uses.other_cpus],
  ];
  const users = new Map<string, (number | null)[]>();
  nows.forEach((now, moment) => {
    for (const [name, cpus] of named(now)) {
      if (cpus === null) continue;
      const values = users.get(name) ?? nows.map(() => null);
      values[moment] = cpus;
      users.set(name, values);
    }
  });
  return users;
}

/** Failed requests by class, the most frequent first. */
export function failuresOf(points: readonly GrowthPoint[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const point of points) {
    const classes: [string, number][] = [...Object.entries(point.failures), ["timed out", point.timed_out]];
    for (const [name, number] of classes) if (number > 0) counts.set(name, (counts.get(name) ?? 0) + number);
  }
  return [...counts].sort(([, one], [, other]) => other - one);
}

/** The load second by second, from the first interval on. */
export function momentsOfGrowth(points: readonly GrowthPoint[]): Moment[] {
  const origin = points[0]?.begin_mono_ns ?? 0;
  const column = <K extends keyof GrowthPoint>(name: K) => points.map((point) => point[name]);
  const intervals = {
    every: 1,
    trial: column("trial"),
    phase: column("phase"),
    begin_mono_ns: { plain: column("begin_mono_ns") },
    end_mono_ns: { plain: column("end_mono_ns") },
    scheduled: column("scheduled"),
    ok: column("ok"),
    failed: column("failed"),
    timed_out: column("timed_out"),
    in_flight: column("in_flight"),
    received_bytes: points.map(() => 0),
    thread_cpu_ns: points.map(() => []),
    p50_ns: column("p50_ns"),
    p99_ns: column("p99_ns"),
  };
  return momentsOf(intervals, (instant) => (instant - origin) / 1e9);
}

/** Requests per second that were due in a moment; `null` if it has no length. */
export function dueOf({ begin, end, scheduled }: Moment): number | null {
  return end > begin ? scheduled / (end - begin) : null;
}

/** Good responses per second of a moment; `null` if it has no length. */
export function rateOf({ begin, end, completed, errors }: Moment): number | null {
  return end > begin ? (completed - errors) / (end - begin) : null;
}

/** The verdict, or how far a run came, as one word. */
export function stateOf(run: RunRow): string {
  if (run.status === "running") return run.is_incomplete ? "incomplete" : "running";
  if (run.answer?.verdict) return run.answer.verdict;
  if (run.status === "interrupted") return "stopped";
  return run.status === "failed" ? "failed" : "–";
}

/** What stopped the server; of a run that is not to be trusted, what is wrong with it. */
export function foundOf(run: RunRow): string {
  return run.answer?.reason || run.answer?.limit || run.command;
}

/** `2026-11-24 15:12 UTC`. */
export function wallClock(unix_ms: number): string {
  const at = new Date(unix_ms);
  return Number.isFinite(at.getTime()) ? `${at.toISOString().slice(0, 16).replace("T", " ")} UTC` : MISSING;
}
