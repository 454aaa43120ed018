// The report in a real browser: that it opens from disk without a network, stays inert whatever the record says, and can
// be read by people who see, point and type in different ways.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { hasChromium } from "../chromium.mjs";
import { skipWithout } from "../needs.mjs";
import { behavesEverywhere } from "./everywhere.ts";
import { RUNS, type Variant } from "./samples.ts";
import { DESK, intruders, PHONE, Session } from "./session.ts";

let session: Session;
const open = (variant: Variant, options?: BrowserContextOptions) => session.open(variant, options);

describe("report.html", { skip: skipWithout(hasChromium, "report.html", "chromium") }, () => {
  before(async () => {
    session = await Session.begin(RUNS);
  });

  after(() => session?.end());

  test("the checks that were asked for stand on the first screen, failed ones first", async () => {
    const { page } = await open("load");
    const items = page.locator("#result .checks li");
    // Numbers and units are held together by spaces that do not break.
    const texts = (await items.allTextContents()).map((text) => text.replace(/\s/g, " "));
    assert.deepEqual(texts, ["✘ FAILED p99 > 20 ms: 43.6 ms, 118% over", "✔ passed p99 > 50 ms: 43.6 ms, 13% under"]);
    await page.context().close();
  });

  test("the probe has a row among the latencies, with what it lost", async () => {
    const { page } = await open("load");
    const row = page.locator("table.percentiles tr", { hasText: "probe (http)" });
    const text = (await row.textContent()) ?? "";
    for (const part of ["every 100 ms", "lost 1 of 40", "7.12 ms", "≥ 5.00 s"]) assert.ok(text.includes(part), `${part}: ${text}`);
    await page.context().close();
  });

  test("what only some protocols count stands among the requests", async () => {
    const parts = {
      streams: ["64 with 32 streams", "48 full, 16 resumed", "1.31 ms", "not verified"],
      cache: ["95.1%: 37,812 of 39,780", "4,420"],
      load: ["64"],
    };
    for (const [variant, texts] of Object.entries(parts)) {
      const { page } = await open(variant as Variant);
      const facts = ((await page.locator("#requests .facts-row").first().textContent()) ?? "").replace(/\s/g, " ");
      for (const text of texts) assert.ok(facts.includes(text), `${variant}: ${text}: ${facts}`);
      assert.equal(facts.includes("TLS"), variant === "streams", facts);
      await page.context().close();
    }
    const { page } = await open("streams");
    const row = page.locator("table.percentiles tr", { hasText: "handshake" });
    assert.ok((await row.textContent())?.includes("from connect to TLS established"));
    await page.context().close();
  });

  test("a load in a lab has the settings that were held, and what its services told", async () => {
    const { page } = await open("lab");
    const rows = async (part: string) => (await page.locator(`#${part} tbody tr`).allTextContents()).map((text) => text.replace(/\s+/g, " ").trim());
    assert.deepEqual(await rows("settings"), ["ssh://root@10.0.0.7net.core.somaxconn409664", "ssh://root@10.0.0.7sysctl.same11 (the same)"]);
    const services = await rows("services");
    assert.ok(services.some((row) => row.includes("requests") && row.endsWith("12044,32044,200")), services.join("; "));
    assert.ok(services.some((row) => row.includes("connections open") && row.endsWith("265–")), services.join("; "));
    assert.ok(services.some((row) => row.includes("its connection was refused")), services.join("; "));
    await page.context().close();
  });

  behavesEverywhere(RUNS, open);

  for (const viewport of [DESK, PHONE]) {
    test(`answers on the first screen at ${viewport.width} px`, async () => {
      const { page } = await open("run", { viewport });
      for (const part of [".badge", "h1", ".big", ".sentence"]) {
        const box = await page.locator(part).first().boundingBox();
        assert.ok(box && box.y + box.height <= viewport.height, `${part} ends at ${box && box.y + box.height}`);
      }
      const first = (await page.locator("#result").innerText()).replaceAll("\u00a0", " ");
      for (const text of ["VALID", "4,120", "4,050–4,190", "p99 < 50 ms", "CPUs 2 and 3 are full", "mechanism"]) {
        assert.ok(first.includes(text), text);
      }
      await page.context().close();
    });
  }

  test("draws every trial within its chart", async () => {
    for (const variant of ["run", "full", "sweep"] as const) {
      const { page } = await open(variant);
      const outside = await page.evaluate(() =>
        [...document.querySelectorAll(".curve svg")].flatMap((svg) => {
          const axis = svg.querySelector(".axes > .axis-line")?.getBoundingClientRect();
          const top = svg.getBoundingClientRect().top;
          const boxes = [...svg.querySelectorAll(".mark")].map((mark) => mark.getBoundingClientRect());
          return boxes.filter((box) => !axis || box.left < axis.left - 6 || box.right > axis.right + 6 || box.top < top || box.top > axis.bottom);
        }).length,
      );
      assert.equal(outside, 0, variant);
      await page.context().close();
    }
  });

  test("what was tried has its outcome and a link to its report, and the remedy says that it was tried", async () => {
    const { page } = await open("sweep");
    const remedy = await page.locator("article", { hasText: "Tried and undone" }).innerText();
    assert.ok(remedy.includes("worker_processes=4") && remedy.includes("what was tried"), remedy);
    const rows = await page.locator("#proofs tbody tr").allTextContents();
    assert.equal(rows.length, 3);
    for (const [row, word] of ["refuted", "not tried", "confirmed"].entries()) assert.ok(rows[row]?.includes(word), JSON.stringify(rows));
    const links = await page.locator("#proofs tbody a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    assert.deepEqual(links, ["../20261120-130401-try-t01/report.html", "../20261120-130401-try-c01/report.html"]);
    await page.context().close();
  });

  test("shows no capacity of a run that is INVALID", async () => {
    const { page } = await open("wrong-content");
    const text = await page.locator("main").innerText();
    assert.ok(text.includes("not known"), text.slice(0, 400));
    assert.ok(!text.includes("4,120") && !text.includes("4,121"), "the estimate is in the page");
    assert.equal(await page.evaluate(() => document.getElementById("record")?.textContent?.includes("4121.7")), false);
    await page.context().close();
  });

  test("says at least of a run whose generator was the limit", async () => {
    const { page } = await open("generator-bound");
    assert.match(await page.locator(".big").innerText(), /at least\s+820\.4\s+req\/s/);
    await page.context().close();
  });

  test("stays inert whatever the record says", async () => {
    const { page, noise } = await open("hostile");
    // All but the one that would close the parts again.
    for (const button of await page.locator("button:visible:enabled:not(.fold-bar *)").all()) await button.click();
    await page.locator("details:not([open]) > summary").evaluateAll((all) => all.forEach((each) => (each as HTMLElement).click()));
    await page.mouse.move(700, 500);
    await page.locator("#fact-filter").fill("<script>");
    await page.locator("#counter-filter").fill("svg");
    // Handlers of injected elements would run in later tasks.
    await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
    const state = await intruders(page);
    const text = await page.evaluate(() => document.body.innerText);
    assert.equal(state.owned, undefined);
    assert.equal(state.polluted, undefined);
    assert.deepEqual([state.scripts, state.injected, state.handlers, state.hrefs], [2, 0, 0, []]);
    for (const payload of ["<img src=x onerror=window.owned=5>", "</script><script>window.owned=2</script>", "\\u{2028}window.owned=35//"]) {
      assert.ok(text.includes(payload), `${payload} is not shown as text`);
    }
    assert.deepEqual(noise.filter((each) => !each.startsWith("console: ")), []);
    await page.context().close();
  });

  test("its policy blocks what would get past the escaping", async () => {
    const { page } = await open("run");
    const ran = await page.evaluate(async () => {
      const owned = () => (window as unknown as { owned?: number }).owned;
      const script = document.createElement("script");
      script.textContent = "window.owned = 1";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.owned = 2'><p style='position:fixed'>x</p>");
      await new Promise((done) => setTimeout(done, 50));
      return [owned(), getComputedStyle(document.body.lastElementChild as Element).position];
    });
    assert.deepEqual(ran, [undefined, "static"]);
    await page.context().close();
  });

  test("is readable without scripts, and as inert", async () => {
    for (const variant of ["run", "hostile"] as const) {
      const { page, noise } = await open(variant, { javaScriptEnabled: false });
      const text = await page.locator("#page pre").innerText();
      assert.ok(text.includes(variant === "run" ? "4,120 req/s (95% interval 4,050–4,190)" : "<script>window.owned=1</script>"), text);
      assert.equal(await page.locator("#page *").count(), 2);
      assert.deepEqual(noise, []);
      await page.context().close();
    }
  });

  test("can be used with the keyboard alone", async () => {
    const { page } = await session.openFolded("run");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to the result");
    const reach = async (selector: string) => {
      for (let presses = 0; presses < 120; presses += 1) {
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
        await page.keyboard.press("Tab");
      }
      assert.fail(`${selector} is not reached`);
    };
    await reach(".fold-bar button");
    await page.keyboard.press("Enter");
    await reach(".curve");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator(".curve + .readout").innerText(), /^Trial 2, bracket: offered 2,200 req\/s/);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    assert.equal(outline, "solid");
    await reach("#panel-rate .plot");
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowRight");
    const plot = page.locator("#panel-rate .plot");
    assert.match((await plot.getAttribute("aria-valuetext")) ?? "", /seconds: offered .*achieved/);
    assert.match(await page.locator(".timeline .readout").innerText(), /trial 1/);
    await page.context().close();
  });

  test("goes to the seconds and the counter of a finding", async () => {
    const { page } = await open("run", { reducedMotion: "reduce" });
    await page.locator("#result .seconds").nth(1).click();
    const panel = page.locator("#panel-run-delay");
    await page.waitForFunction(() => document.activeElement?.id === "panel-run-delay");
    const [low, high] = await Promise.all(["aria-valuemin", "aria-valuemax"].map(async (name) => Number(await panel.locator(".plot").getAttribute(name))));
    assert.ok(low !== undefined && high !== undefined && low > 30 && low < 35.8 && high > 39.8 && high < 46, `${low}–${high}`);
    const box = await panel.boundingBox();
    assert.ok(box && box.y >= 0 && box.y < DESK.height, `${box?.y}`);
    await page.locator(".timeline-bar button").click();
    assert.equal(await panel.locator(".plot").getAttribute("aria-valuemin"), "0");
    await page.context().close();
  });

  test("shows a counter that has no panel of its own", async () => {
    const { page } = await open("run");
    await page.locator("#counter-filter").fill("no such counter");
    assert.match(await page.locator(".add-counter").innerText(), /no counter has these words/);
    await page.locator("#counter-filter").fill("context_switches host");
    await page.locator(".add-counter button").first().click();
    const panel = page.locator('[id="panel-kernel.context_switches_count@host"]');
    await panel.locator("summary").click();
    await panel.locator("tbody tr").first().waitFor();
    assert.ok((await panel.locator("tbody tr").count()) > 50);
    await page.context().close();
  });

  test("shares one cursor and one window among all panels", async () => {
    const { page } = await open("run");
    await page.locator("#panel-rate").scrollIntoViewIfNeeded();
    const seen = await page.locator("#panel-rate .u-over").boundingBox();
    assert.ok(seen);
    // Within a trial: between two of them there is no rate.
    await page.mouse.move(seen.x + seen.width * 0.53, seen.y + 20);
    for (const id of ["panel-rate", "panel-process-cpu", "panel-tcp"]) {
      await page.waitForFunction((wanted) => document.querySelector(`#${wanted} .legend-value`)?.textContent !== "", id);
    }
    await page.mouse.down();
    await page.mouse.move(seen.x + seen.width * 0.75, seen.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => Number(document.querySelector("#panel-tcp .plot")?.getAttribute("aria-valuemin")) > 20);
    await page.context().close();
  });

  test("filters the facts of the machine", async () => {
    const { page } = await open("run");
    await page.locator("#fact-filter").fill("sysctl net");
    const rows = await page.locator(".facts tbody tr").allInnerTexts();
    assert.ok(rows.length > 2 && rows.every((row) => row.includes("sysctl.net")), rows.join("\n"));
    await page.context().close();
  });

  test("is light on paper, whatever the screen is", async () => {
    const { page } = await open("run", { colorScheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.notEqual(await paper(), "rgb(255, 255, 255)");
    await page.emulateMedia({ media: "print" });
    assert.equal(await paper(), "rgb(255, 255, 255)");
    assert.equal(await page.locator(".contents").isVisible(), false);
    await page.context().close();
  });
});
