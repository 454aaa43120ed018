// What is in a part of the report, in a few words: what a reader sees of it before it is opened.

import { bytes, count, duration, rate } from "../number.ts";
import type { Run } from "./decode.ts";
import { connectionsText, loadOf } from "./plan.ts";
import type { LatencySummary, Payload } from "./types.ts";

export const plural = (many: number, one: string): string => `${count(many)} ${one}${many === 1 ? "" : "s"}`;

/** The felt time of a load: response time where it is open, else service time. */
export function feltTime({ analysis }: Payload): { kind: "response" | "service"; summary: LatencySummary } {
  if (analysis.response_time_ns.count > 0) return { kind: "response", summary: analysis.response_time_ns };
  return { kind: "service", summary: analysis.service_time_ns };
}

export function latencyNote({ payload }: Run): string {
  const { kind, summary } = feltTime(payload);
  const known = (["p50", "p99", "max"] as const).flatMap((name) => {
    const value = summary[name];
    return value === null ? [] : [`${name} ${duration(value)}`];
  });
  return known.length === 0 ? "no request was answered" : `${kind} time ${known.join(", ")}`;
}

export function requestsNote({ payload }: Run): string {
  const { sent, ok, failed, timed_out } = payload.analysis.counts;
  return `${count(sent)} sent, ${count(ok)} ok, ${count(failed)} failed, ${count(timed_out)} timed out`;
}

export function findingsNote({ payload }: Run): string {
  const { findings } = payload.analysis;
  const excluded = findings.filter((finding) => finding.confidence === "excluded").length;
  return [`${count(findings.length - excluded)} found`, excluded > 0 && `${count(excluded)} ruled out`].filter(Boolean).join(", ");
}

export function verdictNote({ payload }: Run): string {
  const { reasons } = payload.analysis.verdict;
  const doubts = reasons.filter((reason) => reason.status !== "VALID").length;
  const parts = [
    doubts > 0 && plural(doubts, "doubt"),
    reasons.length > doubts && plural(reasons.length - doubts, "remark"),
    payload.damage.length > 0 && plural(payload.damage.length, "gap"),
  ];
  return parts.filter(Boolean).join(", ");
}

export function planNote({ payload }: Run): string {
  const load = loadOf(payload.plan);
  if (load === null) return "not recorded";
  const offered = load.phases.find((phase) => phase.rate_hz !== null)?.rate_hz ?? null;
  return `${load.arrival} load, ${connectionsText(load.connections, load)} connections${offered === null ? "" : `, ${rate(offered)}`}`;
}

export function factsNote(facts: Payload["facts"]): string {
  const all = Object.values(facts?.facts ?? {});
  return plural(all.filter((fact) => !("unavailable" in fact)).length, "fact");
}

export function filesNote({ files }: Payload["manifest"]): string {
  const sizes = Object.values(files).map((file) => file.bytes);
  return `${plural(sizes.length, "file")}, ${bytes(sizes.reduce((total, size) => total + size, 0))}`;
}
