// Pictures of a report, to look at: `node test/screenshots.mjs REPORT.html OUT_FOLDER`.
// First screens and whole pages at a desk's and a phone's width, light and dark.

import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const [report, folder] = process.argv.slice(2);
if (!report || !folder) {
  console.error("usage: node test/screenshots.mjs REPORT.html OUT_FOLDER");
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const browser = await launch();
for (const [width, height] of [
  [1440, 900],
  [390, 844],
]) {
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
    await page.goto(pathToFileURL(resolve(report)).href);
    await page.waitForSelector(".u-over, .forest svg");
    await page.screenshot({ path: `${folder}/${width}-${colorScheme}-first.png` });
    await page.screenshot({ path: `${folder}/${width}-${colorScheme}-whole.png`, fullPage: true });
    await page.close();
  }
}
await browser.close();
