// The page of a profile in a real browser: the flame graph is walked by mouse, finger, and keyboard, searched, and inert whatever
// functions are called.

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
import { canBeRead, isAll } from "./everywhere.ts";

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const VARIANTS = ["ordinary", "waits", "counted", "hostile"] as const;
type Variant = (typeof VARIANTS)[number] | "searched";

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
  if (variant === "searched") await page.evaluate(() => location.assign("#profile"));
  await page.waitForSelector(".flame-box");
  return { page, noise };
}

describe("profile", { skip: skipWithout(hasChromium, "profile", "chromium") }, () => {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "sysdyno-profile-"));
    const run = ["run", "--quiet", "--example", "sample_profile", "--", folder];
    execFileSync("cargo", run, { cwd: "..", stdio: ["ignore", "inherit", "inherit"] });
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const variant of VARIANTS) {
    for (const colorScheme of isAll || variant === "ordinary" ? (["light", "dark"] as const) : (["light"] as const)) {
      test(`has no accessibility violation: ${variant}, ${colorScheme}`, async () => {
        const { page, noise } = await open(variant, { colorScheme });
        assert.deepEqual(await violations(page), []);
        assert.deepEqual(noise, []);
        await page.context().close();
      });
    }

    test(`never scrolls sideways as a whole: ${variant}`, async () => {
      const { page } = await open(variant, { viewport: PHONE });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= PHONE.width, `${width}`);
      await page.context().close();
    });
  }

  test("names functions in whole words on a phone", async () => {
    const { page } = await open("hostile", { viewport: PHONE });
    const widths = await page.locator(".functions tbody th").evaluateAll((names) => names.map((name) => name.clientWidth));
    assert.ok(widths.length > 0 && widths.every((width) => width > PHONE.width / 2), `${widths}`);
    await page.context().close();
  });

  canBeRead(VARIANTS.filter((variant) => variant !== "hostile"), open);

  test("zooms into what is clicked and back", async () => {
    const { page } = await open("ordinary");
    const box = (name: string) => page.locator(".flame-box", { hasText: name }).first();
    const width = async (name: string) => (await box(name).boundingBox())?.width ?? 0;
    const all = await width("all");
    const before = await width("php-fpm");
    assert.ok(before < all / 2, `${before} of ${all}`);
    await box("php-fpm").click();
    assert.ok((await width("php-fpm")) > all * 0.99, `${await width("php-fpm")} of ${all}`);
    assert.equal(await page.locator(".flame-box", { hasText: "tcp_sendmsg" }).count(), 0);
    await page.getByRole("button", { name: "Reset zoom" }).click();
    assert.ok(Math.abs((await width("php-fpm")) - before) < 1);
    await page.context().close();
  });

  test("is walked by arrows, zoomed by Enter, and reset by Escape", async () => {
    const { page } = await open("ordinary");
    await page.locator(".flame-box").first().focus();
    for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    assert.match((await focused()) ?? "", /^php-fpm, 32/);
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".flame-box", { hasText: "nginx" }).count(), 0);
    await page.keyboard.press("Escape");
    assert.ok((await page.locator(".flame-box", { hasText: "nginx" }).count()) > 0);
    await page.context().close();
  });

  test("says how much of the time a search finds", async () => {
    const { page } = await open("ordinary");
    await page.keyboard.press("/");
    await page.keyboard.type("TCP_send");
    await page.waitForSelector(".flame-box.found");
    assert.match(await page.locator(".flame-found").innerText(), /^51\.5% of the stacks contain “TCP_send”$/);
    await page.context().close();
  });

  test("counts events where the CPU was sampled by them, and says what this user could not see", async () => {
    const { page } = await open("counted");
    const text = async (place: string) => (await page.locator(place).innerText()).replaceAll("\u00a0", " ");
    assert.equal(await text("#headline"), "12.2 M cache misses in user code: 990 samples in 10.0 s");
    assert.match(await text("#result"), /The kernel’s part is not seen: .*kernel\.perf_event_paranoid is 2/);
    await page.locator(".flame-box", { hasText: "php-fpm" }).first().focus();
    assert.match(await text(".flame-details"), /total 32\.3% \(3\.95 M cache misses\)/);
    await page.context().close();
  });

  test("shows what a response takes more at capacity than at a low load", async () => {
    for (const viewport of [DESK, PHONE]) {
      const { page, noise } = await open("searched", { viewport });
      await page.getByLabel("Difference per response").check();
      const label = (name: string) => page.locator(".flame-box", { hasText: name }).first().getAttribute("aria-label");
      assert.match((await label("tcp_sendmsg")) ?? "", /^\+ tcp_sendmsg/);
      assert.match((await label("net_rx_action")) ?? "", /^net_rx_action/);
      assert.deepEqual(await page.locator(".functions tbody th").allInnerTexts(), ["tcp_sendmsg"]);
      await page.getByLabel("At a fifth of it").check();
      assert.match(await page.locator("#profile p").first().innerText(), /8,000 responses/);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= viewport.width, `${width}`);
      assert.deepEqual([await violations(page), noise], [[], []]);
      await page.context().close();
    }
  });

  test("puts stacks under the tiers of a server, or under programs", async () => {
    for (const viewport of [DESK, PHONE]) {
      const { page } = await open("searched", { viewport });
      const [by, group] = [page.locator(".flame-tools select").first(), page.locator(".flame-tools select").nth(1)];
      const groups = () => group.locator("option").allInnerTexts();
      assert.deepEqual(await groups(), ["all", "nginx (67.7%)", "php-fpm at /run/php/php-fpm.sock (32.3%)"]);
      await group.selectOption({ index: 2 });
      assert.equal(await page.locator(".flame-box", { hasText: "tcp_sendmsg" }).count(), 0);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= viewport.width, `${width}`);
      await by.selectOption("program");
      assert.deepEqual(await groups(), ["all", "nginx (67.7%)", "php-fpm (32.3%)"]);
      await page.context().close();
    }
  });

  test("shows one program alone", async () => {
    const { page } = await open("ordinary", { viewport: PHONE });
    await page.locator(".flame-tools select").selectOption("php-fpm");
    assert.equal(await page.locator(".flame-box", { hasText: "nginx" }).count(), 0);
    await page.context().close();
  });

  test("stays inert whatever functions are called", async () => {
    const { page } = await open("hostile");
    const state = await page.evaluate(() => ({
      owned: (window as unknown as { owned?: unknown }).owned,
      scripts: document.scripts.length,
      injected: document.querySelectorAll("iframe, object, embed, base, link, img, form").length,
    }));
    assert.deepEqual(state, { owned: undefined, scripts: 2, injected: 0 });
    await page.context().close();
  });
});
