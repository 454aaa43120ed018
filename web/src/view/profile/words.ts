// Kinds of frames in words, and the mark that says the same as their color.

import type { FrameKind } from "../../record/profile.ts";

export const KINDS: readonly { kind: FrameKind; name: string; mark: string }[] = [
  { kind: "user", name: "program or library", mark: "" },
  { kind: "kernel", name: "kernel", mark: "K" },
  { kind: "softirq", name: "kernel, in a softirq", mark: "S" },
  { kind: "irq", name: "kernel, in an interrupt", mark: "I" },
];
