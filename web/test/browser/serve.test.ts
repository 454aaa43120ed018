// `sysdyno serve` in a real browser: the list, a live load that turns into its report, a comparison, and the end of the server.

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { hasChromium, launch } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { violations } from "./accessibility.ts";
import { brokenWords, outside, sideways } from "./layout.ts";
import { DESK, PHONE } from "./session.ts";

const PROGRAM = resolve(process.env.CARGO_TARGET_DIR ?? "../target", "debug/sysdyno");

/** No step takes that long, on a machine that is busy too. Unit: milliseconds. */
const LIMIT_MS = 120_000;

let browser: Browser;
let folder: string;
let runs: string;
let target: Started;
let server: Started;

interface Started {
  child: ChildProcess;
  /** The first line that it printed. */
  url: string;
}

async function start(words: readonly string[]): Promise<Started> {
  const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "ignore"], env: environment() });
  const lines = createInterface({ input: child.stdout });
  const [url] = (await once(lines, "line")) as [string];
  return { child, url };
}

async function end({ child }: Started, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  child.kill(signal);
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

const environment = () => ({ ...process.env, SYSDYNO_RUNS_DIR: runs, XDG_CACHE_HOME: join(folder, "cache") });

/** A load that lasts until it is interrupted. */
const load = () => spawn(PROGRAM, ["load", target.url, "-c", "2", "-d", "300s", "--warmup", "0s"], { stdio: "ignore", env: environment() });

/** A context that has the cookie, with a page of the list; the caller closes it. */
async function enter(options: BrowserContextOptions = {}): Promise<{ context: BrowserContext; page: Page; noise: string[] }> {
  const context = await browser.newContext({ viewport: DESK, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  const noise: string[] = [];
  page.on("console", (message) => noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(server.url).origin) noise.push(`request: ${request.url().slice(0, 200)}`);
  });
  await page.goto(server.url);
  await page.waitForSelector("#headline");
  return { context, page, noise };
}

describe("serve", { skip: skipWithout(hasChromium, "serve", "chromium") }, () => {
  before(async () => {
    // What the tests of the program run: alone it would be built again, with what it needs without tests.
    execFileSync("cargo", ["test", "--quiet", "--workspace", "--no-run", "--test", "cli"], { cwd: "..", stdio: ["ignore", "inherit", "inherit"] });
    folder = mkdtempSync(join(tmpdir(), "sysdyno-serve-"));
    runs = join(folder, "runs");
    target = await start(["target", "--delays-us", "1000"]);
    for (let run = 0; run < 2; run += 1) {
      const words = ["load", target.url, "-c", "2", "-d", "1s", "--warmup", "0s"];
      const [code] = (await once(spawn(PROGRAM, words, { stdio: "ignore", env: environment() }), "exit")) as [number];
      // A busy machine makes such a short run INVALID, which is as good here.
      assert.ok(code === 0 || code === 3, `${code}`);
    }
    server = await start(["serve"]);
    browser = await launch();
  });

  after(async () => {
    await browser?.close();
    if (server) await end(server, "SIGTERM");
    if (target) await end(target, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });

  test("lets nobody in without the token, which does not stay in the URL", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const refused = await page.goto(new URL("/", server.url).href);
    assert.equal(refused?.status(), 403);
    await page.goto(server.url);
    assert.equal(page.url(), new URL("/", server.url).href);
    assert.equal(await page.locator("h1").innerText(), "Runs");
    assert.equal(await page.evaluate(() => document.cookie), "");
    await context.close();
  });

  for (const viewport of [DESK, PHONE]) {
    test(`lists the runs so that they can be read at ${viewport.width} px, in the light and in the dark`, async () => {
      const { context, page, noise } = await enter({ viewport, colorScheme: "light" });
      assert.equal(await page.locator(".runs tbody tr").count(), 2);
      assert.match(await page.locator(".runs tbody tr").first().innerText(), /VALID|SUSPECT|INVALID/);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= viewport.width);
      assert.deepEqual(await brokenWords(page), []);
      assert.deepEqual(await outside(page), []);
      if (viewport === PHONE) assert.deepEqual(await sideways(page), []);
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(noise, []);
      await context.close();
    });
  }

  test("finds runs by what is typed, keeps that in the URL, and says that there are none", async () => {
    const { context, page } = await enter();
    await page.getByRole("searchbox").fill("nothing has this text");
    await page.getByText("No runs.").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("text"), "nothing has this text");
    await page.reload();
    await page.getByText("No runs.").waitFor();
    await page.getByRole("searchbox").fill("LOAD-");
    await page.getByText("2 runs.").waitFor();
    await context.close();
  });

  test("shows tags and notes as soon as they are written, and only the runs with a tag", async () => {
    const { context, page, noise } = await enter({ viewport: PHONE });
    const name = await page.locator(".runs tbody th a").last().innerText();
    const say = (...words: string[]) => execFileSync(PROGRAM, ["runs", ...words], { env: environment(), stdio: "ignore" });
    say("tag", name, "baseline", "kernel-6.18");
    say("note", name, "Before the new kernel <b>of</b> November");
    await page.getByText("Before the new kernel <b>of</b> November").waitFor();
    await page.getByRole("button", { name: "baseline" }).click();
    await page.getByText("1 run.").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("tag"), "baseline");
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width);
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Show runs without the tag, too" }).click();
    await page.getByText("2 runs.").waitFor();
    assert.deepEqual(noise, []);
    await context.close();
  });

  test("lists experiments, and leads to what they compare", async () => {
    const file = join(folder, "connections.toml");
    const levels = [1, 2].flatMap((clients) => ["[[factor.level]]", `name = "${clients}"`, `load.connections = ${clients}`]);
    const text = [`name = "connections"`, `url = "${target.url}"`, "blocks = 1", "noisy = true", "[load]", "requests = 50", `warmup = "0s"`, "[[factor]]", `name = "clients"`, ...levels];
    writeFileSync(file, text.join("\n"));
    const [code] = (await once(spawn(PROGRAM, ["experiment", "run", file, "--quiet"], { stdio: "ignore", env: environment() }), "exit")) as [number];
    assert.ok(code === 0 || code === 3, `${code}`);
    const { context, page, noise } = await enter({ viewport: PHONE });
    assert.match(await page.locator("section", { has: page.locator("#experiments") }).innerText(), /connections[^]*2/);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(await outside(page), []);
    await page.getByRole("link", { name: "connections", exact: true }).click();
    await page.waitForSelector("#numbers");
    await page.getByRole("link", { name: "All runs" }).click();
    await page.waitForSelector(".runs");
    assert.deepEqual(noise, []);
    await context.close();
  });

  test("compares two runs that were selected, and leads back", async () => {
    const { context, page, noise } = await enter();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("link", { name: "Compare 2 runs" }).click();
    await page.waitForURL(/\/compare\?run=/);
    await page.waitForSelector("#numbers");
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "All runs" }).click();
    await page.waitForSelector(".runs");
    await page.getByRole("link", { name: "Trend of these runs" }).click();
    await page.waitForSelector("#sides");
    assert.deepEqual(noise, []);
    await context.close();
  });

  test("starts a load, shows it, stops it, and says why another is refused; only where that is allowed", async () => {
    const { context: other, page: plain } = await enter();
    assert.equal(await plain.getByRole("button", { name: "Start" }).count(), 0);
    await other.close();
    const allowing = await start(["serve", "--allow-runs"]);
    const context = await browser.newContext({ viewport: PHONE });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(LIMIT_MS);
      await page.goto(allowing.url);
      const form = page.locator(".control");
      assert.deepEqual(await violations(page), []);
      assert.deepEqual(await outside(page), []);
      await form.getByLabel("URL").fill("http://nowhere.invalid/");
      await form.getByRole("button", { name: "Start" }).click();
      await form.getByText("has ended with exit code 2").waitFor();
      assert.match(await form.locator(".said").innerText(), /cannot/);
      for (const [label, value] of [["URL", target.url], ["Connections", "2"], ["Duration", "300s"]] as const) await form.getByLabel(label).fill(value);
      await form.getByRole("button", { name: "Start" }).click();
      await form.getByText("is running.").waitFor();
      await page.locator("tr", { has: page.locator(".badge-running") }).getByRole("link").click();
      await page.waitForSelector(".live-line");
      assert.deepEqual(await violations(page), []);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width);
      await page.getByRole("button", { name: "Stop" }).click();
      await page.waitForSelector("#timeline");
    } finally {
      await context.close();
      assert.equal(await end(allowing, "SIGTERM"), 0);
    }
  });

  test("shows a load while it goes on, to several browsers, and then its report", async () => {
    const child = load();
    try {
      const { context, page, noise } = await enter();
      await page.locator("tr", { has: page.locator(".badge-running") }).getByRole("link").click();
      await page.getByText("Each second is added").waitFor();
      await page.waitForFunction(() => (document.querySelector(".live-line")?.getAttribute("d") ?? "").split("L").length > 3);
      await page.locator("figure", { hasText: "CPUs in use, of" }).getByText("sysdyno", { exact: true }).first().waitFor();
      await page.locator("figure", { hasText: "requests per second" }).getByText("due", { exact: true }).waitFor();
      assert.deepEqual(await violations(page), []);
      const other = await enter({ viewport: PHONE });
      await other.page.goto(page.url());
      await other.page.waitForSelector(".live-line");
      assert.ok((await other.page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width);
      assert.deepEqual(await brokenWords(other.page), []);
      child.kill("SIGINT");
      for (const each of [page, other.page]) {
        await each.waitForSelector("#timeline");
        assert.equal(await each.locator(".live").count(), 0);
      }
      assert.deepEqual(noise, []);
      await context.close();
      await other.context.close();
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("tells that a run is gone, and that the server has ended", async () => {
    const child = load();
    try {
      const { context, page } = await enter();
      await page.locator("tr", { has: page.locator(".badge-running") }).getByRole("link").click();
      await page.getByText("Each second is added").waitFor();
      const name = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1) ?? "");
      child.kill("SIGKILL");
      await once(child, "exit");
      rmSync(join(runs, name), { recursive: true });
      await page.getByText("The folder of this run cannot be read any more").waitFor();
      await page.getByRole("link", { name: "All runs" }).click();
      await page.waitForSelector(".runs");
      assert.equal(await end(server, "SIGINT"), 0);
      await page.getByText("The server does not answer.").waitFor();
      await context.close();
    } finally {
      child.kill("SIGKILL");
    }
  });
});
