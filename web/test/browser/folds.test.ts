// The first screen in its order, and the parts below it: closed until a reader asks for them, by any way there is to ask.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hasChromium } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { violations } from "./accessibility.ts";
import { DESK, PHONE, Session } from "./session.ts";

let session: Session;

describe("folded parts of report.html", { skip: skipWithout(hasChromium, "folded parts of report.html", "chromium") }, () => {
  before(async () => {
    session = await Session.begin(["run", "load", "full"]);
  });

  after(() => session?.end());

  const openParts = (page: Awaited<ReturnType<Session["openFolded"]>>["page"]) =>
    page.locator("details.fold[open]").evaluateAll((folds) => folds.map((fold) => fold.parentElement?.id));

  test("answers capacity, bottleneck, remedy, and trust, in this order, and little more", async () => {
    for (const viewport of [DESK, PHONE]) {
      const { page } = await session.openFolded("run", { viewport });
      const titles = await page.locator("#result .card > h2").allTextContents();
      assert.deepEqual(titles.map((title) => title.split(" ")[0]), ["Capacity", "Bottleneck", "Remedy", "Trust"]);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      assert.ok(height < (viewport === DESK ? 1_600 : 2_600), `${height} pixels at ${viewport.width}`);
      assert.deepEqual(await openParts(page), []);
      assert.deepEqual(await violations(page), []);
      await page.context().close();
    }
  });

  test("opens what a link or an address leads to", async () => {
    const { page } = await session.openFolded("run", { reducedMotion: "reduce" });
    await page.locator('#remedy-title ~ p a[href="#findings"]').click();
    assert.deepEqual(await openParts(page), ["findings"]);
    await page.locator("#findings summary").first().click();
    await page.locator('#remedy-title ~ p a[href="#findings"]').click();
    assert.deepEqual(await openParts(page), ["findings"], "the address did not change the second time");
    await page.locator("#result .seconds").first().click();
    await page.locator("#timeline .u-over").first().waitFor();
    assert.deepEqual(await openParts(page), ["findings", "timeline"]);
    await page.context().close();
    const { page: other } = await session.openFolded("run", {}, undefined, "#machine");
    assert.deepEqual(await openParts(other), ["machine"]);
    await other.context().close();
  });

  test("opens with the keyboard", async () => {
    const { page } = await session.openFolded("run");
    await page.locator("#latency summary").first().focus();
    await page.keyboard.press("Enter");
    assert.deepEqual(await openParts(page), ["latency"]);
    await page.locator(".fold-bar button").press("Enter");
    assert.equal((await openParts(page)).length, await page.locator("details.fold").count());
    await page.locator(".fold-bar button").press("Enter");
    assert.deepEqual(await openParts(page), []);
    await page.context().close();
  });

  test("prints on two sheets at most, and is as it was after that", async () => {
    for (const variant of ["run", "load", "full"] as const) {
      const { page } = await session.openFolded(variant, { viewport: { width: 1400, height: 900 } });
      const margin = { top: "10mm", bottom: "10mm", left: "10mm", right: "10mm" };
      const pdf = (await page.pdf({ format: "A4", margin })).toString("latin1");
      const sheets = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      assert.ok(sheets > 0 && sheets <= 2, `${variant}: ${sheets}`);
      assert.deepEqual(await openParts(page), []);
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      assert.ok((await openParts(page)).includes("latency"));
      await page.context().close();
    }
  });
});
