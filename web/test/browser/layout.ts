// Whether a page can be read where it is shown: no column of syllables, nothing beyond its card, no chart cut off on paper.

import type { Page } from "playwright-core";

/** Texts that are broken within words since their element is too narrow; empty: none. */
export function brokenWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent ?? "";
      // Paths and keys may be longer than a line; words of a language are not.
      for (const word of text.matchAll(/(?<![\w./:=_-])[A-Za-z]{2,12}(?![\w./:=_-])/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
        if (lines.size > 1) found.push(`${word[0]} in “${text.slice(0, 60)}”`);
      }
    }
    return found;
  });
}

/** Texts and drawings that reach beyond the card or the page that they are in; empty: none. */
export function outside(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const right = (element: Element) => element.getBoundingClientRect().right;
    const left = (element: Element) => element.getBoundingClientRect().left;
    for (const card of document.querySelectorAll(".card")) {
      for (const element of card.querySelectorAll("text, p, svg, h2, h3")) {
        if (element.closest(".scroll")) continue;
        const box = element.getBoundingClientRect();
        if (box.width > 0 && (right(element) > right(card) + 0.5 || left(element) < left(card) - 0.5)) {
          found.push(`${element.tagName} “${element.textContent?.slice(0, 40)}” in its card`);
        }
      }
    }
    for (const cell of document.querySelectorAll(".stacks td, .stacks th")) {
      // At a desk a table of many columns may be moved sideways.
      if (cell.closest(".wide") && innerWidth > 832) continue;
      const box = cell.getBoundingClientRect();
      if (box.width > 0 && box.right > document.documentElement.clientWidth + 0.5) found.push(`cell “${cell.textContent?.slice(0, 40)}”`);
    }
    return found;
  });
}

/** Tables that are wider than the page, so that their last columns are seen only by who thinks of moving them; empty: none. */
export function sideways(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>(".scroll")]
      .filter((region) => !region.matches(".wide") || innerWidth <= 832)
      .filter((region) => region.clientWidth > 0 && !region.closest("details") && region.scrollWidth > region.clientWidth + 1)
      .map((region) => `${region.getAttribute("aria-label")} by ${region.scrollWidth - region.clientWidth}`),
  );
}

/** Words of drawings that reach beyond their edge by more than half a letter; empty: none. */
export function cutWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const text of document.querySelectorAll("svg text")) {
      const [box, edge] = [text.getBoundingClientRect(), text.closest("svg")?.getBoundingClientRect()];
      if (edge && box.width > 0 && (box.left < edge.left - 4 || box.right > edge.right + 4)) found.push(text.textContent ?? "");
    }
    return found;
  });
}

/** Drawings that were made for a wide screen and are cut off or squeezed on a sheet of this width; empty: none. */
export async function cutOnPaper(page: Page, width: number): Promise<string[]> {
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width, height: 1000 });
  return page.evaluate((width) => {
    const found: string[] = [];
    for (const drawing of document.querySelectorAll("svg[viewBox], canvas")) {
      const box = drawing.getBoundingClientRect();
      if (box.width === 0) continue;
      const name = drawing.closest("figure, section, article")?.textContent?.slice(0, 40);
      if (box.right > width + 0.5) found.push(`${drawing.tagName} of “${name}” ends at ${box.right}`);
      const [w, h] =
        drawing instanceof HTMLCanvasElement
          ? [drawing.width, drawing.height]
          : (drawing.getAttribute("viewBox") ?? "").split(" ").slice(2).map(Number);
      const shape = (w ?? 0) / (h ?? 1) / (box.width / box.height);
      if (Math.abs(shape - 1) > 0.03) found.push(`${drawing.tagName} of “${name}” is squeezed by ${shape}`);
      for (let above = drawing.parentElement; above; above = above.parentElement) {
        if (getComputedStyle(above).overflowX === "hidden" && above.getBoundingClientRect().right + 0.5 < box.right) found.push(`${drawing.tagName} of “${name}” is cropped`);
      }
    }
    for (const cell of document.querySelectorAll("td, th")) {
      if (cell.getBoundingClientRect().right > width + 0.5) found.push(`cell “${cell.textContent?.slice(0, 40)}”`);
    }
    return found;
  }, width);
}

/** A sheet of A4 within its margins, at 96 pixels an inch. */
export const SHEET = 718;

/** Charts do not hear of paper: a browser that prints does not let the page measure itself again. */
export const deaf = () => {
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
};
