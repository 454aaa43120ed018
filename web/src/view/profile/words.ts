// Kinds of frames and of differences in words, and the mark that says the same as their color; weights with their unit.

import type { Direction } from "../../record/difference.ts";
import { duration, scaled } from "../../number.ts";
import { countedEvent, type FrameKind, type Profile } from "../../record/profile.ts";

export const KINDS: readonly { kind: FrameKind; name: string; mark: string }[] = [
  { kind: "user", name: "program or library", mark: "" },
  { kind: "kernel", name: "kernel", mark: "K" },
  { kind: "softirq", name: "kernel, in a softirq", mark: "S" },
  { kind: "irq", name: "kernel, in an interrupt", mark: "I" },
];

export const CHANGES: readonly { direction: Direction; name: string; mark: string }[] = [
  { direction: "more", name: "more per response", mark: "+" },
  { direction: "less", name: "less per response", mark: "−" },
  { direction: "same", name: "within chance (3 standard errors)", mark: "" },
];

/** A weight of a profile with its unit. */
export function weight(profile: Profile, value: number): string {
  const event = countedEvent(profile);
  return event === null ? duration(value) : `${scaled(value)} ${event.replace("-", " ")}`;
}
