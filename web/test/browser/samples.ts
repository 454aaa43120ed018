// Reports to open: written by the Rust side from its sample records, into a folder that goes when the tests end.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const VARIANTS = ["run", "load", "generator-bound", "wrong-content", "full", "sweep", "hostile"] as const;
export type Variant = (typeof VARIANTS)[number];

export interface Samples {
  url(variant: Variant): string;
  remove(): void;
}

/** Writes all variants. Cost: one build of the crate and its example. */
export function writeSamples(): Samples {
  const folder = mkdtempSync(join(tmpdir(), "sysdyno-report-"));
  for (const variant of VARIANTS) {
    const run = ["run", "--quiet", "-p", "sysdyno-report", "--example", "sample_report", "--", join(folder, `${variant}.html`), variant];
    execFileSync("cargo", run, { cwd: "..", stdio: ["ignore", "inherit", "inherit"] });
  }
  return {
    url: (variant) => pathToFileURL(join(folder, `${variant}.html`)).href,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
