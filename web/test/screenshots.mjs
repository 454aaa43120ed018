// Pictures of a report: `node test/screenshots.mjs REPORT.html OUT [SELECTOR | FIRST LAST]`.
// OUT.png becomes the first screen at a document's width, or the first element that a CSS selector means, or what lies from the element
// with the id FIRST to LAST; in a folder, to look at, are first screens and whole pages at a desk's
// and a phone's width, light and dark.

import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const [report, out, first, last] = process.argv.slice(2);
if (!report || !out) {
  console.error("usage: node test/screenshots.mjs REPORT.html OUT_FOLDER_OR_PNG [SELECTOR | FIRST_ID LAST_ID]");
  process.exit(2);
}
const browser = await launch();

/** The report as it looks in a window. */
async function opened(width, height, colorScheme) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForSelector(".u-over, .forest svg, .curves svg, .answer .card", { state: "attached" });
  return page;
}

/** Opens everything that is folded. */
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("details.fold").forEach((fold) => (fold.open = true)));
}

/** The part of the page from one element to another, unfolded. */
async function between(page, from, to) {
  await unfold(page);
  await page.waitForSelector(`#${to} .u-over`, { state: "attached" });
  const [top, bottom] = await Promise.all([from, to].map((id) => page.locator(`#${id}`).boundingBox()));
  const height = bottom.y + bottom.height - top.y;
  return { x: top.x, y: top.y, width: top.width, height };
}

if (out.endsWith(".png")) {
  const page = await opened(1100, 900, "light");
  if (first && last) await page.screenshot({ path: out, fullPage: true, clip: await between(page, first, last) });
  else if (first) {
    await unfold(page);
    await page.locator(first).first().screenshot({ path: out });
  } else await page.screenshot({ path: out });
} else {
  await mkdir(out, { recursive: true });
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await opened(width, height, colorScheme);
      await page.screenshot({ path: `${out}/${width}-${colorScheme}-first.png` });
      await page.screenshot({ path: `${out}/${width}-${colorScheme}-whole.png`, fullPage: true });
      await page.close();
    }
  }
}
await browser.close();
