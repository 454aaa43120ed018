// The page of a comparison in a real browser: the word and the intervals on the first screen, no difference of what was
// refused, readable at any width and scheme, inert whatever the runs say.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { hasChromium, launch } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { violations } from "./accessibility.ts";
import { canBeRead } from "./everywhere.ts";

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const VARIANTS = ["two", "bounded", "refused", "many", "experiment", "users", "machines", "trend", "hostile"] as const;
type Variant = (typeof VARIANTS)[number];

let browser: Browser;
let folder: string;

async function open(variant: Variant, options: BrowserContextOptions = {}, before?: () => void) {
  const context = await browser.newContext({ viewport: DESK, ...options });
  if (before) await context.addInitScript(before);
  const page = await context.newPage();
  const noise: string[] = [];
  const url = pathToFileURL(join(folder, `${variant}.html`)).href;
  page.on("console", (message) => noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== url) noise.push(`request: ${request.url().slice(0, 200)}`);
  });
  await page.goto(url);
  await page.waitForSelector("#headline");
  return { page, noise };
}

describe("comparison", { skip: skipWithout(hasChromium, "comparison", "chromium") }, () => {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "sysdyno-comparison-"));
    const run = ["run", "--quiet", "--example", "sample_comparison", "--", folder];
    execFileSync("cargo", run, { cwd: "..", stdio: ["ignore", "inherit", "inherit"] });
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const variant of VARIANTS) {
    test(`has no accessibility violation: ${variant}`, async () => {
      const { page, noise } = await open(variant, { colorScheme: "light" });
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(noise, []);
      await page.context().close();
    });

    test(`never scrolls sideways as a whole: ${variant}`, async () => {
      const { page } = await open(variant, { viewport: PHONE });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= PHONE.width, `${width}`);
      await page.context().close();
    });
  }

  canBeRead(VARIANTS.filter((variant) => variant !== "hostile"), open);

  for (const viewport of [DESK, PHONE]) {
    test(`says the word and its interval on the first screen at ${viewport.width} px`, async () => {
      const { page } = await open("two", { viewport });
      for (const part of [".badge", "h1", ".forest-row >> nth=0"]) {
        const box = await page.locator(part).first().boundingBox();
        assert.ok(box && box.y + box.height <= viewport.height, `${part} ends at ${box && box.y + box.height}`);
      }
      const text = (await page.locator("#result").innerText()).replaceAll("\u00a0", " ");
      for (const part of ["WORSE", "goodput", "−10.0% [−12.0, −8.0]", "the same", "can’t tell"]) assert.ok(text.includes(part), `${part} is not in ${text}`);
      await page.context().close();
    });
  }

  test("draws what is worse left of what is better, whichever way the metric goes", async () => {
    const { page } = await open("two");
    const at = (row: number) => page.locator(".forest-row").nth(row).locator(".forest-point").getAttribute("cx").then(Number);
    const zero = Number(await page.locator(".forest-row").first().locator(".axis-line").getAttribute("x1"));
    const [goodput, p50, cpu] = [await at(0), await at(3), await at(4)];
    assert.ok(goodput < zero && p50 < zero && cpu > zero, `${goodput} ${p50} ${cpu} around ${zero}`);
    await page.context().close();
  });

  test("draws what is only known at one end as an arrow from there", async () => {
    const { page } = await open("bounded");
    const text = (await page.locator("main").innerText()).replaceAll("\u00a0", " ");
    for (const part of ["5.0% of the requests of B timed out", "at least × 60", "at most −21%", "≥ 877 ms", "requests timed out: only latencies are known"]) {
      assert.ok(text.includes(part), `${part} is not in ${text}`);
    }
    const worst = page.locator(".forest-row", { hasText: "p99 latency" });
    assert.equal(await worst.locator(".forest-point").count(), 0);
    assert.equal(await worst.locator(".forest-arrow").count(), 1);
    const [bar, zero] = [worst.locator(".forest-wide").first(), worst.locator(".axis-line")];
    assert.ok(Number(await bar.getAttribute("x2")) < Number(await zero.getAttribute("x1")), "worse is to the left");
    await page.context().close();
  });

  test("says of each variant whether its users met the rules, and which operation did not", async () => {
    const { page } = await open("users");
    const rows = async (label: string) =>
      (await page.locator(`[aria-label="${label}"] tbody tr`).allInnerTexts()).map((text) => text.replaceAll(/[\s\u00a0]+/g, " "));
    const steps = await rows("Users of each variant");
    assert.equal(steps.length, 5);
    assert.match(steps[0] ?? "", /^A as it is ✔ passed 25 5\.00 4\.90 98\.0%/);
    assert.match(steps[3] ?? "", /^D 1024, cached ✘ failed 200 .* over the limit of 1\.00 s/);
    const [home, buy] = await rows("Operations of D");
    assert.match(home ?? "", /^Home ✘ not met 1,204 26\.0% 26\.4% 41\.0 ms 1\.31 s p90 1 s 3/);
    assert.match(buy ?? "", /^Buy ✔ met .* < 2\.40 s p90 1 s 3/);
    await page.context().close();
  });

  test("shows both numbers and no difference of what was refused", async () => {
    const { page } = await open("refused");
    const text = (await page.locator("main").innerText()).replaceAll("\u00a0", " ");
    for (const part of ["NOT COMPARED", "A has a body of 612 bytes, B has 900", "4,012 req/s", "3,611 req/s", "no difference shown"]) {
      assert.ok(text.includes(part), `${part} is not in ${text.slice(0, 600)}`);
    }
    assert.equal(await page.locator(".forest").count(), 0);
    assert.ok(!text.includes("[−"), "an interval is shown");
    await page.context().close();
  });

  test("names the machines with what their rates are divided by", async () => {
    const { page } = await open("machines");
    const text = (await page.locator("main").innerText()).replaceAll("\u00a0", " ");
    for (const part of ["The machines", "server/pages", "emulated: aarch64 on x86_64", "RAPL: packages and memory", "0.500", "2.45", "81.25/J", "803.5/J"]) {
      assert.ok(text.includes(part), `${part} is not in ${text}`);
    }
    await page.context().close();
  });

  test("gives letters to many sides and marks the change in a trend", async () => {
    const many = await open("many");
    assert.deepEqual(await many.page.locator("#numbers tbody tr").first().locator("sup").allInnerTexts(), ["a", "b", "b", "b", "b"]);
    await many.page.context().close();
    const trend = await open("trend");
    assert.equal(await trend.page.locator(".trend .change").count(), 1);
    assert.equal(await trend.page.locator(".trend .mark").count(), 15);
    assert.match(await trend.page.locator(".changes").innerText(), /worse −10\.0% \[−12\.0, −8\.0\] with run 10, run-9/);
    await trend.page.context().close();
  });

  test("says of each variant what limits it and marks every trial with its letter", async () => {
    const { page } = await open("experiment");
    const rows = await page.locator("#variants tbody tr").allInnerTexts();
    assert.equal(rows.length, 5);
    assert.match(rows[1] ?? "", /1024[\s\S]*listener\.80\.backlog=1024[\s\S]*accept queue/);
    assert.equal(await page.locator("#curves .letter").count(), 25);
    assert.match((await page.locator("#variants a").first().getAttribute("href")) ?? "", /^runs\/[A-Za-z0-9-]+\/report\.html$/);
    await page.context().close();
  });

  test("stays inert whatever the runs say", async () => {
    const { page } = await open("hostile");
    const state = await page.evaluate(() => ({
      owned: (window as unknown as { owned?: unknown }).owned,
      scripts: document.scripts.length,
      injected: document.querySelectorAll("iframe, object, embed, base, link, img, form, meta[http-equiv=refresh]").length,
      hrefs: [...document.querySelectorAll("[href]")].map((element) => element.getAttribute("href")).filter((href) => !href?.startsWith("#")),
    }));
    assert.deepEqual(state, { owned: undefined, scripts: 2, injected: 0, hrefs: [] });
    await page.context().close();
  });
});
