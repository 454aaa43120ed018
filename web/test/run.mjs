// Bundles the tests of one folder, or those of it that are named, and hands them to Node's own test runner.

import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const [kind = "unit", ...named] = process.argv.slice(2);
const folder = fileURLToPath(new URL(`${kind}/`, import.meta.url));
const out = fileURLToPath(new URL(`../dist/test-${kind}/`, import.meta.url));
const tests = (await readdir(folder)).filter((name) => /\.test\.tsx?$/.test(name) && (named.length === 0 || named.includes(name.split(".")[0] ?? "")));
await rm(out, { recursive: true, force: true });
await build({
  entryPoints: tests.map((name) => folder + name),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  sourcemap: "inline",
  logLevel: "warning",
});
// The longest first, so that none runs alone in the end.
const LONGEST = ["report", "comparison", "tryout", "profile", "serve"];
const rank = (name) => [...LONGEST, ""].findIndex((long) => name.startsWith(long));
const files = [...tests].sort((one, other) => rank(one) - rank(other)).map((name) => out + name.replace(/\.tsx?$/, ".mjs"));
const result = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-concurrency=2", ...files], { stdio: "inherit" });
process.exitCode = result.status ?? 1;
