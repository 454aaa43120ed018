// The report of a squeeze in a real browser: what limits the server on the first screen, every depth with its proof, and as inert as any
// report.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { hasChromium } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { behavesEverywhere } from "./everywhere.ts";
import { SQUEEZES, type Variant } from "./samples.ts";
import { DESK, intruders, PHONE, Session } from "./session.ts";

let session: Session;
const open = (variant: Variant, options?: BrowserContextOptions) => session.open(variant, options);

describe("report of a squeeze", { skip: skipWithout(hasChromium, "report of a squeeze", "chromium") }, () => {
  before(async () => {
    session = await Session.begin(SQUEEZES);
  });

  after(() => session?.end());

  behavesEverywhere(SQUEEZES, open);

  for (const viewport of [DESK, PHONE]) {
    test(`says on the first screen what limits the server at ${viewport.width} px`, async () => {
      const { page } = await open("squeeze-found", { viewport });
      const row = page.locator("#result tbody tr").first();
      const box = await row.boundingBox();
      assert.ok(box && box.y + box.height <= viewport.height, `the first row ends at ${box && box.y + box.height}`);
      const text = (await row.innerText()).replaceAll("\u00a0", " ");
      for (const part of ["php-fpm CPU", "−10%", "0.94", "limits the rate"]) assert.ok(text.includes(part), `${part} is not in ${text}`);
      await page.context().close();
    });
  }

  test("has every depth with the proof that it bit, and every pair", async () => {
    const { page } = await open("squeeze-found");
    assert.equal(await page.locator("#depths tbody tr").count(), 11);
    assert.match(await page.locator("#depths tbody tr").first().innerText(), /throttled in 611 of 640 periods/);
    assert.equal(await page.locator("#pairs tbody tr").count(), 88);
    await page.context().close();
  });

  test("one in which the generator mattered says nothing of the server", async () => {
    const { page } = await open("squeeze-void");
    assert.equal(await page.locator(".badge").first().innerText(), "✘ VOID");
    const rows = await page.locator("#result tbody").innerText();
    assert.ok(!rows.includes("limits the rate"), rows);
    await page.context().close();
  });

  test("nothing that a stranger has chosen becomes markup", async () => {
    const { page } = await open("squeeze-hostile");
    assert.deepEqual(await intruders(page), { owned: undefined, polluted: undefined, scripts: 2, injected: 0, handlers: 0, hrefs: [] });
    await page.context().close();
  });
});
