// What holds for every report, whatever it shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { violations } from "./accessibility.ts";
import type { Variant } from "./samples.ts";
import { brokenWords, cutOnPaper, cutWords, deaf, outside, SHEET, sideways } from "./layout.ts";
import { DESK, type Opened, PHONE } from "./session.ts";

type Open = (variant: Variant, options?: BrowserContextOptions, before?: () => void) => Promise<Opened>;
type OpenAny<Name> = (variant: Name, options?: BrowserContextOptions, before?: () => void) => Promise<Pick<Opened, "page">>;

/**
 * Each part of a page is on one of these. Only they are looked at for everything, the others on a phone, where most goes wrong; unless all
 * are wanted (`make web-test`).
 */
const SAMPLE: readonly Variant[] = ["run", "full", "sweep", "hostile", "probe-ordinary", "try-better", "try-steps", "try-full", "try-hostile", "squeeze-found"];
/** Whether everything is looked at: `make web-test`. */
export const isAll = process.env.SYSDYNO_WEB_TESTS === "all";
const TINY = { width: 320, height: 700 };

/** Declares the tests for each of these reports. */
export function behavesEverywhere(variants: readonly Variant[], open: Open): void {
  for (const variant of variants) {
    // What a stranger has chosen may be too long for any place.
    const isOrdinary = !variant.endsWith("hostile");
    const isWhole = isAll || SAMPLE.includes(variant);
    for (const viewport of isWhole ? [DESK, PHONE, TINY] : [PHONE]) {
      test(`opens without a network, a complaint or scrolling sideways at ${viewport.width} px: ${variant}`, async () => {
        const { page, noise } = await open(variant, { viewport, colorScheme: "light" });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= viewport.width, `${width} > ${viewport.width}`);
        assert.equal(await page.locator("h1").count(), 1);
        assert.deepEqual(noise, []);
        if (isOrdinary && viewport !== TINY) await checkReadable(page);
        // What can be read at a desk can be read elsewhere: the same elements stand below each other.
        if (isWhole && viewport === DESK) assert.deepEqual(await violations(page), []);
        await page.context().close();
      });
    }
    if (isOrdinary && isWhole) isWholeOnPaper(variant, open);
  }
}

/** Declares the tests for what is read: nothing is cut off, on a phone, at a desk, or on paper; the first one stands for all on paper. */
export function canBeRead<Name extends string>(variants: readonly Name[], open: OpenAny<Name>): void {
  for (const variant of variants) {
    for (const width of isAll ? [390, 1400] : [390]) {
      test(`can be read at ${width} px: ${variant}`, async () => {
        const { page } = await open(variant, { viewport: { width, height: 900 } });
        await checkReadable(page);
        await page.context().close();
      });
    }
    if (isAll || variant === variants[0]) isWholeOnPaper(variant, open);
  }
}

async function checkReadable(page: Page): Promise<void> {
  assert.deepEqual(await brokenWords(page), []);
  assert.deepEqual(await outside(page), []);
  assert.deepEqual(await sideways(page), []);
  assert.deepEqual(await cutWords(page), []);
}

function isWholeOnPaper<Name extends string>(variant: Name, open: OpenAny<Name>): void {
  test(`is whole on paper: ${variant}`, async () => {
    const { page } = await open(variant, { viewport: { width: 1400, height: 900 } }, deaf);
    assert.deepEqual(await cutOnPaper(page, SHEET), []);
    await page.context().close();
  });
}
