// What axe finds wrong with a page, in the light and in the dark.

import axe from "axe-core";
import type { Page } from "playwright-core";

/** Rules that colours decide. The schemes differ in nothing else, so that the others find the same in both. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** Violations of all rules as the page is, and of those of colours when it gets dark. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const light = await run(page, {});
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await run(page, { runOnly: OF_COLOURS });
  return [...light, ...dark.map((each) => `dark: ${each}`)];
}

async function run(page: Page, options: axe.RunOptions): Promise<string[]> {
  // Of what is well one node is looked at to the end, and not all.
  const chosen: axe.RunOptions = { ...options, resultTypes: ["violations"] };
  const result = await page.evaluate((chosen) => (globalThis as unknown as { axe: typeof axe }).axe.run(chosen), chosen);
  return result.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
}
