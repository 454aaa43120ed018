// The report of a tryout in a real browser: the answer on the first screen, every pair within reach of eye, pointer
// and keyboard, and as inert as any report.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { hasChromium } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { behavesEverywhere } from "./everywhere.ts";
import { TRYOUTS, type Variant } from "./samples.ts";
import { DESK, intruders, PHONE, Session } from "./session.ts";

let session: Session;
const open = (variant: Variant, options?: BrowserContextOptions) => session.open(variant, options);

describe("report of an experiment", { skip: skipWithout(hasChromium, "report of an experiment", "chromium") }, () => {
  before(async () => {
    session = await Session.begin(TRYOUTS);
  });

  after(() => session?.end());

  behavesEverywhere(TRYOUTS, open);

  const WORDS = [
    ["try-better", "▲ BETTER", "B is better", "−9.2% [−10.1, −8.4]"],
    ["try-worse", "▼ WORSE", "B is worse", "+8.9% [+7.8, +9.8]"],
    ["try-same", "= THE SAME", "B is the same", "within ±3%"],
    ["try-cannot-tell", "? CAN’T TELL", "Can't tell", "about 61 pairs"],
  ] as const;
  for (const viewport of [DESK, PHONE]) {
    for (const [variant, badge, claim, numbers] of WORDS) {
      test(`answers on the first screen at ${viewport.width} px: ${variant}`, async () => {
        const { page } = await open(variant, { viewport });
        for (const part of [".badge", "h1", ".outcome-rest", ".forest-row"]) {
          const box = await page.locator(part).first().boundingBox();
          assert.ok(box && box.y + box.height <= viewport.height, `${part} ends at ${box && box.y + box.height}`);
        }
        const first = (await page.locator("#result").innerText()).replaceAll("\u00a0", " ");
        for (const text of [badge, claim, numbers, "net.core.somaxconn=4096", "128", "4096"]) {
          assert.ok(first.includes(text), `${text} is not in ${first}`);
        }
        assert.ok(!first.includes("echo 128 >"), "it is undone, so nothing is left to undo by hand");
        await page.context().close();
      });
    }
  }

  test("draws every trial of every pair within its chart, dropped ones hollow", async () => {
    for (const [variant, dots, hollow] of [
      ["try-better", 20, 2],
      ["try-dropped", 28, 10],
      ["try-steps", 76, 0],
    ] as const) {
      for (const viewport of [DESK, PHONE]) {
        const { page } = await open(variant, { viewport });
        const drawn = await page.evaluate(() => {
          const svg = document.querySelector(".pair-chart svg");
          const axis = svg?.querySelector(".axes > .axis-line")?.getBoundingClientRect();
          const boxes = [...(svg?.querySelectorAll(".dot") ?? [])].map((dot) => dot.getBoundingClientRect());
          const top = svg?.getBoundingClientRect().top ?? 0;
          const outside = boxes.filter((box) => !axis || box.left < axis.left - 1 || box.right > axis.right + 1 || box.top < top || box.bottom > axis.bottom + 1);
          return { dots: boxes.length, hollow: svg?.querySelectorAll(".dot-hollow").length, outside: outside.length };
        });
        assert.deepEqual(drawn, { dots, hollow, outside: 0 }, variant);
        await page.context().close();
      }
    }
  });

  test("its pairs can be read with the keyboard and the pointer", async () => {
    const { page } = await open("try-better");
    for (let presses = 0; presses < 60; presses += 1) {
      if (await page.evaluate(() => document.activeElement?.matches(".pairs") ?? false)) break;
      await page.keyboard.press("Tab");
    }
    const readout = page.locator(".pairs + .readout");
    await page.keyboard.press("ArrowRight");
    assert.match(await readout.innerText(), /^Pair 1: A 39\.8 µs, B 36\.\d µs, −8\.\d+%; A ran first, trials 1 and 2\.$/);
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowRight");
    assert.match(await readout.innerText(), /^Pair 4: .*Discarded: the hypervisor stole 3\.1%/);
    assert.equal(await page.locator(".pair-chart .halo").count(), 2);
    await page.locator(".pair-chart .reach").last().hover();
    assert.match(await readout.innerText(), /^Pair 10: /);
    await page.context().close();
  });

  test("says what speaks against a result before its numbers are read", async () => {
    const { page } = await open("try-dropped");
    const first = await page.locator("#result").innerText();
    for (const text of ["▲ INTERRUPTED", "5 of 14 discarded", "– not measured"]) assert.ok(first.includes(text), `${text} is not in ${first}`);
    await page.context().close();
    const { page: full } = await open("try-full");
    assert.match(await full.locator("#trust").innerText(), /Why there is no verdict/);
    assert.match(await full.locator(".dropped-list").innerText(), /1 of 38 not counted \(pair 1\): one of its trials has no value/);
    assert.match(await full.locator("#result").innerText(), /hardly any effect/);
    await full.context().close();
  });

  test("shows each comparison of several changes", async () => {
    const { page } = await open("try-steps");
    const steps = await page.locator("#steps .forest-row:not(.forest-axis)").allInnerTexts();
    assert.equal(steps.length, 6);
    assert.match(steps[3] ?? "", /B against A[\s\S]*proof[\s\S]*better/);
    assert.match(steps[0] ?? "", /alone[\s\S]*too few pairs/);
    await page.context().close();
  });

  test("draws as many intervals as there were looks", async () => {
    const { page } = await open("try-cannot-tell");
    assert.equal(await page.locator(".closing-chart .look").count(), 5);
    assert.equal(await page.locator(".closing-chart .pair-effect").count(), 14);
    await page.context().close();
  });

  test("stays inert whatever the record says", async () => {
    const { page, noise } = await open("try-hostile");
    // All but the one that would close the parts again.
    for (const button of await page.locator("button:visible:enabled:not(.fold-bar *)").all()) await button.click();
    await page.locator("details:not([open]) > summary").evaluateAll((all) => all.forEach((each) => (each as HTMLElement).click()));
    await page.locator(".pair-chart .reach").first().hover({ force: true });
    // Handlers of injected elements would run in later tasks.
    await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
    assert.deepEqual(await intruders(page), { owned: undefined, polluted: undefined, scripts: 2, injected: 0, handlers: 0, hrefs: [] });
    const text = await page.evaluate(() => document.body.innerText);
    for (const payload of ["<img src=x onerror=window.owned=5>", "</script><script>window.owned=2</script>"]) {
      assert.ok(text.includes(payload), `${payload} is not shown as text`);
    }
    assert.deepEqual(noise.filter((each) => !each.startsWith("console: ")), []);
    await page.context().close();
  });

  test("is readable without scripts", async () => {
    const { page, noise } = await open("try-better", { javaScriptEnabled: false });
    const text = await page.locator("#page pre").innerText();
    assert.ok(text.includes("▲ BETTER") && text.includes("−9.2% [−10.1, −8.4]"), text);
    assert.deepEqual(noise, []);
    await page.context().close();
  });

  test("keeps its charts and its undo line on paper", async () => {
    const { page } = await open("try-better", { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(255, 255, 255)");
    for (const part of [".pair-chart svg", ".forest svg", ".setting .copyable pre"]) assert.ok(await page.locator(part).first().isVisible(), part);
    assert.equal(await page.locator(".fold-bar").isVisible(), false);
    await page.context().close();
  });
});
