// The page of a probe in a real browser: a row and a panel for each target on one time axis, and windows that lead to their seconds.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { hasChromium } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { behavesEverywhere } from "./everywhere.ts";
import { PROBES, type Variant } from "./samples.ts";
import { Session } from "./session.ts";

let session: Session;
const open = (variant: Variant, options?: BrowserContextOptions, before?: () => void) => session.open(variant, options, before);

describe("probe", { skip: skipWithout(hasChromium, "probe", "chromium") }, () => {
  before(async () => {
    session = await Session.begin([...PROBES, "probed"]);
  });

  after(async () => {
    await session?.end();
  });

  behavesEverywhere(PROBES, open);

  test("shows each target in the table and on the one time axis", async () => {
    const { page } = await open("probe-ordinary");
    const names = await page.locator(".percentiles tbody th").allTextContents();
    assert.deepEqual(names.map((name) => name.split(" ")[0]), ["a", "b", "web"]);
    assert.equal(await page.locator("figure.panel .u-over").count(), 3);
    assert.match((await page.locator("#panel-probe-1").textContent()) ?? "", /30 lost/);
    await page.context().close();
  });

  test("a window leads to its seconds", async () => {
    const { page } = await open("probe-ordinary");
    await page.locator("#windows button.seconds").click();
    const at = await page.locator("#panel-probe-0 .plot").getAttribute("aria-valuemin");
    assert.ok(Number(at) > 2, `${at}`);
    await page.context().close();
  });

  test("nothing that a target is called becomes markup", async () => {
    const { page } = await open("probe-hostile");
    assert.equal(await page.evaluate(() => (window as unknown as { owned?: number }).owned), undefined);
    await page.context().close();
  });

  test("beside a load, probes and links have parts of the report, and probes are on its time axis", async () => {
    const { page } = await open("probed");
    await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
    assert.equal(await page.locator("#probes .percentiles tbody tr").count(), 3);
    assert.match((await page.locator("#links").textContent()) ?? "", /as predicted/);
    await page.waitForSelector("#panel-probe-2 .u-over", { state: "attached" });
    await page.context().close();
  });
});
