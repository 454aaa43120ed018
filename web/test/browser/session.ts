// A browser with the sample reports, for the tests of one file.

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launch } from "../chromium.mjs";
import { type Samples, type Variant, writeSamples } from "./samples.ts";

export const DESK = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface Opened {
  page: Page;
  /** Console messages, page errors, dialogs, and requests for anything but the report itself. */
  noise: string[];
}

export class Session {
  private constructor(
    private readonly browser: Browser,
    private readonly samples: Samples,
  ) {}

  static async begin(variants: readonly Variant[]): Promise<Session> {
    return new Session(await launch(), writeSamples(variants));
  }

  async end(): Promise<void> {
    await this.browser.close();
    this.samples.remove();
  }

  /** Opens a report in a context of its own with all its parts, and waits until it is drawn; the caller closes the context. */
  async open(variant: Variant, options: BrowserContextOptions = {}, before?: () => void): Promise<Opened> {
    const opened = await this.openFolded(variant, options, before);
    if (options.javaScriptEnabled !== false) await openAll(opened.page);
    return opened;
  }

  /** The same with its parts folded, as a reader gets it; `fragment` is the end of the address: `#latency`. */
  async openFolded(variant: Variant, options: BrowserContextOptions = {}, before?: () => void, fragment = ""): Promise<Opened> {
    const context = await this.browser.newContext({ viewport: DESK, ...options });
    if (before) await context.addInitScript(before);
    const page = await context.newPage();
    const noise: string[] = [];
    const url = this.samples.url(variant);
    page.on("console", (message) => noise.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
      noise.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (request.url().split("#")[0] !== url) noise.push(`request: ${request.url().slice(0, 200)}`);
    });
    await page.goto(url + fragment);
    if (options.javaScriptEnabled !== false) await page.waitForSelector(".u-over, .forest svg, #resources-title", { state: "attached" });
    return { page, noise };
  }
}

async function openAll(page: Page): Promise<void> {
  const button = page.locator(".fold-bar button");
  if ((await button.count()) > 0) await button.click();
}

/** What of a page is markup or script although it came from a record; all of it zero or undefined where it is inert. */
export function intruders(page: Page) {
  return page.evaluate(() => ({
    owned: (window as unknown as { owned?: unknown }).owned,
    polluted: ({} as { owned?: unknown }).owned,
    scripts: document.scripts.length,
    injected: document.querySelectorAll("iframe, object, embed, base, link, img, video, form, template, meta[http-equiv=refresh], main style, marquee").length,
    handlers: [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes].filter(({ name }) => name.startsWith("on"))).length,
    hrefs: [...document.querySelectorAll("[href]")].map((element) => element.getAttribute("href")).filter((href) => !href?.startsWith("#")),
  }));
}
