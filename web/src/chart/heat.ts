// Cells behind the lines of a plot: the darker on light paper, or the lighter on dark, the more. One hue, so that it reads
// with any colour vision; on a logarithmic scale of counts, so that the few slow requests are seen beside the many fast ones.

import type uPlot from "uplot";
import type { Heat } from "../record/heat.ts";
import type { Palette } from "./palette.ts";

/** The faintest cell that there is, and the strongest. */
const OPACITY = { least: 0.14, most: 0.9 };

/** A row of a heat strip: one processor or interrupt. */
export interface StripRow {
  label: string;
  values: readonly (number | null)[];
}

/** Rows one below the other, each second shaded by its value. */
export interface Strips {
  rows: StripRow[];
  /** The value of the strongest shade. */
  most: number;
}

/** How strongly a cell is shaded that holds so many of at most `most`. */
export function shadeOfCount(count: number, most: number): number {
  return shade(Math.log1p(count) / Math.log1p(Math.max(most, 1)));
}

/** How strongly a cell is shaded that is this share of the most. */
export function shade(share: number): number {
  return OPACITY.least + (OPACITY.most - OPACITY.least) * Math.min(Math.max(share, 0), 1);
}

/** A colour of the palette, `#rrggbb`, so strong. */
export function shaded(color: string, opacity: number): string {
  return color + Math.round(opacity * 255).toString(16).padStart(2, "0");
}

export function drawHeat(chart: uPlot, heat: Heat, palette: Palette): void {
  const { ctx } = chart;
  within(chart, () => {
    for (const { begin, end, low, high, count } of heat.cells) {
      const [left, right] = [chart.valToPos(begin, "x", true), chart.valToPos(end, "x", true)];
      const [top, bottom] = [chart.valToPos(high, "y", true), chart.valToPos(low, "y", true)];
      ctx.fillStyle = shaded(palette.series.a, shadeOfCount(count, heat.most));
      ctx.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
    }
  });
}

/** Row `n` lies between `n` and `n + 1` of the scale, from the top. */
export function drawStrips(chart: uPlot, seconds: readonly number[], { rows, most }: Strips, palette: Palette): void {
  const { ctx } = chart;
  within(chart, () => {
    rows.forEach(({ values }, row) => {
      const top = chart.valToPos(rows.length - row, "y", true);
      const height = chart.valToPos(rows.length - row - 1, "y", true) - top - 1;
      values.forEach((value, at) => {
        const [begin = 0, end = 0] = [seconds[at - 1] ?? seconds[at], seconds[at]];
        if (value === null || value <= 0 || end <= begin) return;
        const [left, right] = [chart.valToPos(begin, "x", true), chart.valToPos(end, "x", true)];
        ctx.fillStyle = shaded(palette.series.a, shade(value / most));
        ctx.fillRect(left, top, right - left, Math.max(height, 1));
      });
    });
  });
}

/** Draws within the plot, and leaves the canvas as it was. */
function within(chart: uPlot, draw: () => void): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}
