// What holds for every report, whatever it shows.

import assert from "node:assert/strict";
import { test } from "node:test";
import axe from "axe-core";
import type { BrowserContextOptions } from "playwright-core";
import type { Variant } from "./samples.ts";
import { DESK, type Opened, PHONE } from "./session.ts";

type Open = (variant: Variant, options?: BrowserContextOptions) => Promise<Opened>;

/** Declares the tests for each of these reports. */
export function behavesEverywhere(variants: readonly Variant[], open: Open): void {
  for (const variant of variants) {
    test(`opens from disk without a network and without a complaint: ${variant}`, async () => {
      const { page, noise } = await open(variant);
      assert.deepEqual(noise, []);
      assert.equal(await page.locator("h1").count(), 1);
      await page.context().close();
    });

    test(`never scrolls sideways, on a desk or a phone: ${variant}`, async () => {
      for (const viewport of [DESK, PHONE, { width: 320, height: 700 }]) {
        const { page } = await open(variant, { viewport });
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= viewport.width, `${width} > ${viewport.width}`);
        await page.context().close();
      }
    });

    for (const colorScheme of ["light", "dark"] as const) {
      test(`has no accessibility violation: ${variant}, ${colorScheme}`, async () => {
        const { page } = await open(variant, { colorScheme });
        await page.evaluate(axe.source);
        const result = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
        const found = result.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
        assert.deepEqual(found, []);
        await page.context().close();
      });
    }
  }
}
