// What the server's own pages may ask it to start and stop, where `sysdyno serve --allow-runs` runs.

import { parseRecord } from "../record/text.ts";
import type { AgentRow, Job, LabRow } from "../record/served.ts";

/** An order; empty values are the command's own defaults. */
export interface Order {
  command: "load" | "run" | "undo";
  url?: string;
  connections?: string;
  rate?: string;
  duration?: string;
  objective?: string;
}

/** The command that was started last; `null`: none was. */
export async function fetchJob(signal: AbortSignal): Promise<Job | null> {
  return parseRecord(await said(await fetch("/job", { signal }))) as Job | null;
}

/** Starts a command. An error says why it was not. */
export async function startJob(key: string, order: Order): Promise<Job | null> {
  return changed("/job", key, JSON.stringify(order));
}

/** Interrupts the command that runs. */
export async function stopJob(key: string): Promise<Job | null> {
  return changed("/job/stop", key, "");
}

export async function fetchLabs(signal: AbortSignal): Promise<LabRow[]> {
  return parseRecord(await said(await fetch("/labs", { signal }))) as LabRow[];
}

export async function fetchFleet(signal: AbortSignal): Promise<AgentRow[]> {
  return parseRecord(await said(await fetch("/fleet", { signal }))) as AgentRow[];
}

async function changed(path: string, key: string, body: string): Promise<Job | null> {
  const headers = { "x-sysdyno-key": key, "content-type": "application/json" };
  return parseRecord(await said(await fetch(path, { method: "POST", headers, body }))) as Job | null;
}

async function said(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim() || `the server answered ${response.status}`);
  return text;
}
