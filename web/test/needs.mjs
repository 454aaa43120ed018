// What tests of the report need that npm does not bring: skipped where it is lacking, failed where SYSDYNO_REQUIRE asks for it.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The repository's scripts/skip; the tests are bundled elsewhere below it. */
function script() {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const path = join(folder, "scripts/skip");
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) throw new Error(`no scripts/skip above ${process.cwd()}`);
  }
}

/** What `skip` of a test takes: false where `isThere`, else what is lacking. Throws where it is required. */
export function skipWithout(isThere, test, name) {
  if (isThere) return false;
  const said = spawnSync(script(), [test, name], { encoding: "utf8" });
  if (said.status !== 0) throw new Error(said.stderr.trim());
  return `needs ${name}`;
}
