// Builds the page of the report: script and style in one file, allowed by their hashes and by nothing else.
//
// The result is committed at crates/report/assets/report.html, so that the Rust build needs no Node. `--check` builds
// it in memory and fails if the committed file is another one or exceeds the size budget.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PAGE = fileURLToPath(new URL("../crates/report/assets/report.html", import.meta.url));

/** Budget of the page without a record. Unit: bytes, as it is and compressed. */
const BUDGET = { plain: 500_000, gzip: 150_000 };

async function bundle(entry) {
  const result = await build({
    absWorkingDir: HERE,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022", "chrome109", "firefox115", "safari16"],
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  // A closing tag inside a string would end the element; in both languages the escaped form means the same.
  return result.outputFiles[0].text.trim().replaceAll("</s", "<\\/s").replaceAll("<!--", "<\\!--");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

async function page() {
  const [template, script, style] = await Promise.all([
    readFile(new URL("src/page.html", import.meta.url), "utf8"),
    bundle("src/main.tsx"),
    bundle("src/style/page.css"),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // Functions as replacements: in strings `$` would have a meaning, and bundles contain it.
  return template
    .replace("%POLICY%", () => policy)
    .replace("%STYLE%", () => style)
    .replace("%SCRIPT%", () => script);
}

const built = await page();
const sizes = { plain: Buffer.byteLength(built), gzip: gzipSync(built, { level: 9 }).length };
console.log(`report.html: ${sizes.plain} bytes, ${sizes.gzip} compressed`);
for (const kind of ["plain", "gzip"]) {
  if (sizes[kind] > BUDGET[kind]) {
    console.error(`error: the page exceeds its budget (${kind}): ${sizes[kind]} > ${BUDGET[kind]} bytes`);
    process.exitCode = 1;
  }
}
if (!process.argv.includes("--check")) {
  await writeFile(PAGE, built);
} else if ((await readFile(PAGE, "utf8")) !== built) {
  console.error("error: crates/report/assets/report.html is not what web/ builds\nhint: run `npm run build` and commit it");
  process.exitCode = 1;
}
