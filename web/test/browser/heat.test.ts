// Heat maps and strips of the report: that cells are drawn, in the light and in the dark, and that they are read like other plots.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { hasChromium } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { PHONE, Session } from "./session.ts";

let session: Session;

/** How many colors the canvas of a panel has in the column of pixels where most are. */
function shades(page: Page, id: string): Promise<number> {
  return page.locator(`[id="${id}"] canvas`).evaluate((canvas) => {
    const { width, height } = canvas as HTMLCanvasElement;
    const pixels = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    const found = new Set<number>();
    for (let at = 0; at < pixels.length; at += 4) {
      const [red = 0, green = 0, blue = 0, opacity = 0] = pixels.slice(at, at + 4);
      if (opacity > 0 && blue > red + 20) found.add((red << 16) | (green << 8) | blue);
    }
    return found.size;
  });
}

describe("heat maps of report.html", { skip: skipWithout(hasChromium, "heat maps of report.html", "chromium") }, () => {
  before(async () => {
    session = await Session.begin(["run", "wrong-content"]);
  });

  after(() => session?.end());

  test("latency over time has cells, a key, and the percentiles over them", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await session.open("run", { colorScheme });
      for (const id of ["latency-over-time", "panel-latency"]) {
        assert.ok((await shades(page, id)) > 3, `${id}, ${colorScheme}`);
        const caption = await page.locator(`[id="${id}"] figcaption`).innerText();
        for (const part of ["p99", "p50", "log scale", "requests (log)"]) assert.ok(caption.includes(part), `${part}: ${caption}`);
      }
      await page.context().close();
    }
  });

  test("is read with the keyboard, and with a finger", async () => {
    const { page } = await session.open("run", { viewport: PHONE, hasTouch: true });
    const plot = page.locator("#latency-over-time .plot");
    await plot.focus();
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowRight");
    assert.match((await plot.getAttribute("aria-valuetext")) ?? "", /seconds: p99 .* p50 /);
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    assert.ok(box);
    const before = await plot.getAttribute("aria-valuetext");
    await page.touchscreen.tap(box.x + box.width * 0.8, box.y + 40);
    await page.waitForFunction((old) => document.querySelector("#latency-over-time .plot")?.getAttribute("aria-valuetext") !== old, before);
    await page.context().close();
  });

  test("processors have strips on the axis of the timeline", async () => {
    const { page } = await session.open("run");
    for (const id of ["panel-strip-busy", "panel-strip-softirq"]) {
      assert.ok((await shades(page, id)) > 1, id);
      const [strip, rate] = await Promise.all([page.locator(`#${id} .u-over`).boundingBox(), page.locator("#panel-rate .u-over").boundingBox()]);
      assert.ok(strip && rate && Math.abs(strip.x - rate.x) < 1 && Math.abs(strip.width - rate.width) < 1, id);
    }
    await page.context().close();
  });

  test("failures are shown by class", async () => {
    const { page } = await session.open("wrong-content");
    const labels = await page.locator("#panel-errors .legend-label").allInnerTexts();
    const { failures } = await page.evaluate(() => JSON.parse(document.getElementById("record")?.textContent ?? "{}").intervals as { failures: object });
    assert.ok(labels.length > 0 && labels.includes(Object.keys(failures)[0] ?? ""), labels.join(", "));
    await page.context().close();
  });
});
