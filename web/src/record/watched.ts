// A host that was watched without a load: how much of each resource was used, as the page writes it.

import { bytes, percent } from "../number.ts";
import type { MonoNs } from "./types.ts";

export type Resource =
  | "cpus_busy_ratio"
  | "cpu_busy_ratio"
  | "cpu_interrupts_ratio"
  | "cpu_pressure_ratio"
  | "memory_available_bytes"
  | "memory_pressure_ratio"
  | "disk_busy_ratio"
  | "io_pressure_ratio"
  | "received_bytes_hz"
  | "sent_bytes_hz";

export interface ResourceLevel {
  resource: Resource;
  object: string | null;
  mean: number;
  worst: number;
  begin_mono_ns: MonoNs;
  end_mono_ns: MonoNs;
}

export interface WatchedCpu {
  pid: number;
  command: string;
  role: "target" | "generator" | "foreign";
  mean_cpus: number;
  worst_cpus: number;
}

/** What `watch --record` came to. */
export interface HostSummary {
  host: string | null;
  samples_count: number;
  seconds: number;
  levels: ResourceLevel[];
  processes: WatchedCpu[];
}

const NAMES: Record<Resource, string> = {
  cpus_busy_ratio: "CPUs busy",
  cpu_busy_ratio: "busiest CPU",
  cpu_interrupts_ratio: "interrupts on one CPU",
  cpu_pressure_ratio: "tasks waited for a CPU",
  memory_available_bytes: "memory available",
  memory_pressure_ratio: "tasks waited for memory",
  disk_busy_ratio: "busiest disk",
  io_pressure_ratio: "tasks waited for disks",
  received_bytes_hz: "received",
  sent_bytes_hz: "sent",
};

/** What a level is of. */
export function nameOf({ resource, object }: ResourceLevel): string {
  const name = NAMES[resource] ?? resource;
  return object === null ? name : `${name} (${object})`;
}

/** A value of a level with its unit. */
export function amountOf({ resource }: ResourceLevel, value: number): string {
  if (resource.endsWith("_ratio")) return percent(value);
  return resource.endsWith("_hz") ? `${bytes(value)}/s` : bytes(value);
}
