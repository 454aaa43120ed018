// Debian's Chromium, driven by playwright-core, with everything off that would talk to a network.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

/** Where the browser is: `$CHROMIUM`, or Debian's place. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const hasChromium = existsSync(CHROMIUM);

/** A browser without profile or network services; the caller closes it. */
export function launch() {
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      // Chromium refuses to run as root with its sandbox; what it opens here is our own file.
      ...(isRoot ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
