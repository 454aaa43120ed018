// Reports to open: written by the Rust side from its sample records, into a folder that goes when the tests end.

import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const RUNS = ["run", "load", "generator-bound", "wrong-content", "full", "sweep", "streams", "cache", "lab", "probed", "hostile"] as const;
export const PROBES = ["probe-ordinary", "probe-hostile"] as const;
export const TRYOUTS = [
  "try-better",
  "try-worse",
  "try-same",
  "try-cannot-tell",
  "try-dropped",
  "try-steps",
  "try-commands",
  "try-full",
  "try-hostile",
] as const;
export const SQUEEZES = ["squeeze-found", "squeeze-void", "squeeze-hostile"] as const;
export type Variant = (typeof RUNS)[number] | (typeof PROBES)[number] | (typeof TRYOUTS)[number] | (typeof SQUEEZES)[number];

export interface Samples {
  url(variant: Variant): string;
  remove(): void;
}

/** Writes these variants. Cost: one build of the crate and its example. */
export function writeSamples(variants: readonly Variant[]): Samples {
  const folder = mkdtempSync(join(tmpdir(), "sysdyno-report-"));
  const options: ExecFileSyncOptions = { cwd: "..", stdio: ["ignore", "inherit", "inherit"] };
  execFileSync("cargo", ["build", "--quiet", "--example", "sample_report"], options);
  const program = resolve("..", process.env.CARGO_TARGET_DIR ?? "target", "debug/examples/sample_report");
  for (const variant of variants) execFileSync(program, [join(folder, `${variant}.html`), variant], options);
  return {
    url: (variant) => pathToFileURL(join(folder, `${variant}.html`)).href,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
