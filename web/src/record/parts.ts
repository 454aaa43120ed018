// What the processes of a profile are parts of: a tier of the server, the load generator, or neither.

import type { Grouping } from "./profile.ts";
import type { Payload } from "./types.ts";

const GENERATOR = "load generator";
const OTHERS = "others";

/** Puts stacks under the tiers of the server; `null`: it has one alone, which its programs tell as well. */
export function byTier(events: Payload["events"]): Grouping | null {
  const parts = new Map<number, string>();
  const addresses = new Map<string, string>();
  for (const { event } of events) {
    if (event.kind !== "watched" || event.role === "foreign") continue;
    const address = event.tier ? addressOf(event.tier.address) : "";
    // Workers may have other names than the process that started them.
    const first = addresses.get(address) ?? event.command;
    if (event.role === "target") addresses.set(address, first);
    parts.set(event.pid, event.role === "generator" ? GENERATOR : address === "" ? first : `${first} at ${address}`);
  }
  return addresses.size < 2 ? null : ({ pid }) => parts.get(pid) ?? OTHERS;
}

function addressOf(endpoint: { tcp: string } | { unix: string }): string {
  return "tcp" in endpoint ? endpoint.tcp : endpoint.unix;
}

/** Names of the processes that serve the load. */
export function serverOf(events: Payload["events"]): ReadonlySet<string> {
  return new Set(events.flatMap(({ event }) => (event.kind === "watched" && event.role === "target" ? [event.command] : [])));
}
