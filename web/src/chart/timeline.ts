// uPlot, wrapped once: one small multiple on the shared time axis.
//
// All panels share the cursor (by uPlot's own synchronisation) and the window (by the view atom). Phases are bands
// behind the lines, seconds that a finding points at are marked across all panels.

import uPlot from "uplot";
import { onAxis } from "../number.ts";
import { binaryTicks, linearTicks, logTicks } from "./scale.ts";
import { marksOf } from "../record/marks.ts";
import type { Run, Values } from "../record/decode.ts";
import { drawHeat, drawStrips } from "./heat.ts";
import type { Window } from "../state/view.ts";
import type { Palette } from "./palette.ts";
import type { Line, Panel } from "./panels.ts";

/** Height of the plot without the time axis, and of the axis. Unit: CSS pixels. */
const HEIGHT = { plot: 84, heat: 190, axis: 34 };

/** Height of a row of a heat strip, from the many to the few. Unit: CSS pixels. */
const ROW = { least: 5, most: 16, all: 160 };

/** Width of the axis on the left, the same in all panels so that seconds stand below each other. */
const LEFT_AXIS = 62;

/** Room on the right, for half of the last second's label. */
const RIGHT_MARGIN = 18;

/** A limit farther above the data than this is written, not drawn: it would press the data flat. */
const LIMIT_REACH = 2.5;

export interface TimelineHandlers {
  onWindow(window: Window): void;
  /** The reading nearest to the cursor, and its second; `null` when it left. */
  onCursor(at: { row: number; second: number } | null): void;
}

export interface TimelineInput {
  run: Run;
  panel: Panel;
  palette: Palette;
  width: number;
  hasAxis: boolean;
  window: Window;
  focus: Window | null;
}

/** Whether the limit of a panel is near enough to its data to be drawn. */
export function isLimitDrawn(panel: Panel): boolean {
  return panel.limit !== undefined && panel.limit.value <= LIMIT_REACH * Math.max(greatest(panel), Number.MIN_VALUE);
}

function greatest(panel: Panel): number {
  const lines = panel.isStacked ? stack(panel).slice(-1) : panel.lines.map((line) => line.bounds?.high ?? line.values);
  return lines.flat().reduce<number>((high, value) => Math.max(high, value ?? 0), 0);
}

/** The lines of a stacked panel, each on top of the ones before it. */
function stack(panel: Panel): Values[] {
  const stacked: Values[] = [];
  for (const line of panel.lines) {
    const below = stacked.at(-1);
    stacked.push(line.values.map((value, row) => (value === null ? null : value + (below?.[row] ?? 0))));
  }
  return stacked;
}

export function createTimeline(element: HTMLElement, input: TimelineInput, handlers: TimelineHandlers): uPlot {
  const { panel } = input;
  const lines = panel.isStacked ? stack(panel) : panel.lines.map((line) => line.values);
  const data = [panel.seconds, ...lines, ...bounded(panel).flatMap(({ low, high }) => [low, high]), ...(panel.peak ? [panel.peak.values] : [])];
  const chart = new uPlot(options(input, handlers), data as uPlot.AlignedData, element);
  chart.setScale("x", { min: input.window[0], max: input.window[1] });
  return chart;
}

/** The lines with a band between their extremes, which are two columns of the chart behind those of the lines. */
function bounded(panel: Panel): { low: Values; high: Values; line: Line; place: number }[] {
  const lines = panel.isStacked ? [] : panel.lines.flatMap((line) => (line.bounds ? [{ ...line.bounds, line }] : []));
  return lines.map((each, position) => ({ ...each, place: 1 + panel.lines.length + 2 * position }));
}

function options(input: TimelineInput, handlers: TimelineHandlers): uPlot.Options {
  const { panel, palette, width, hasAxis } = input;
  return {
    width,
    height: plotHeight(panel) + (hasAxis ? HEIGHT.axis : 0),
    padding: [6, RIGHT_MARGIN, hasAxis ? 0 : 4, 0],
    legend: { show: false },
    scales: { x: { time: false, auto: false }, y: yScale(panel) },
    axes: axes(panel, palette, hasAxis),
    series: series(panel, palette),
    bands: panel.isStacked ? stackBands(panel, palette) : extremeBands(panel, palette),
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      sync: { key: "timeline", setSeries: false },
      points: panel.strips ? { show: false } : { size: 6 },
    },
    hooks: {
      drawClear: [(chart) => drawBands(chart, input)],
      draw: [(chart) => drawLimit(chart, input), (chart) => drawLost(chart, input)],
      setCursor: [(chart) => handlers.onCursor(cursorOf(chart))],
      setSelect: [(chart) => select(chart, handlers)],
    },
  };
}

function plotHeight({ heat, strips }: Panel): number {
  if (strips) return 10 + strips.rows.length * rowHeight(strips.rows.length);
  return heat ? HEIGHT.heat : HEIGHT.plot;
}

function rowHeight(rows: number): number {
  return Math.min(Math.max(Math.floor(ROW.all / rows), ROW.least), ROW.most);
}

function yScale(panel: Panel): uPlot.Scale {
  if (panel.strips) return { auto: false, range: [0, panel.strips.rows.length] };
  if (panel.isLog) return { distr: 3, log: 10, range: (_, low, high) => logRange(Math.min(low ?? Infinity, panel.heat?.low ?? Infinity), Math.max(high ?? 0, panel.heat?.high ?? 0), panel.limit?.value) };
  const limit = isLimitDrawn(panel) ? (panel.limit?.value ?? 0) : 0;
  const top = panel.top ?? 0;
  return { range: (_, _low, high) => [0, Math.max(high ?? 0, top, limit) * 1.06 || 1] };
}

function logRange(low: number, high: number, limit: number | undefined): [number, number] {
  const least = Math.min(low > 0 && Number.isFinite(low) ? low : 1e6, limit ?? Infinity);
  const most = Math.max(high || 1e7, limit ?? 0);
  return [least / 1.6, most * 1.6];
}

function axes(panel: Panel, palette: Palette, hasAxis: boolean): uPlot.Axis[] {
  const font = `11px ${palette.font}`;
  const shared = { stroke: palette.muted, font, ticks: { show: false } };
  return [
    {
      ...shared,
      show: hasAxis,
      size: HEIGHT.axis,
      gap: 4,
      space: 64,
      grid: { show: false },
      values: (_, seconds) => seconds.map((second) => `${second} s`),
    },
    {
      ...shared,
      size: LEFT_AXIS,
      gap: 6,
      filter: (_, values) => values,
      splits: (_, _axis, low, high) => ticks(panel, [low, high]),
      grid: { show: !panel.strips, stroke: palette.rule, width: 1 },
      values: (_, values) => panel.strips ? values.map((value) => rowLabel(panel, value)) : values.map((value) => (value === null ? "" : onAxis(value, panel.unit))),
    },
  ];
}

/** The name of a row of a heat strip, at the middle of the row. */
function rowLabel({ strips }: Panel, at: number): string {
  const label = strips?.rows[strips.rows.length - Math.ceil(at)]?.label ?? "";
  return label.replace(/ on CPU /, "→");
}

/** The middles of rows, as many as have room for a name. */
function rowTicks(rows: number): number[] {
  const every = Math.ceil(12 / rowHeight(rows));
  return Array.from({ length: Math.ceil(rows / every) }, (_, position) => rows - position * every - 0.5);
}

/** Two or three round values; of a logarithmic scale, powers of ten. */
function ticks(panel: Panel, domain: [number, number]): number[] {
  if (panel.strips) return rowTicks(panel.strips.rows.length);
  if (panel.isLog) {
    const all = logTicks(domain);
    const powers = all.filter((tick) => Number.isInteger(Number(Math.log10(tick).toFixed(6))));
    return powers.length > 1 ? powers : all;
  }
  if (panel.top === 100) return [0, 50, 100];
  return panel.unit.startsWith("bytes") ? binaryTicks(domain, 3) : linearTicks(domain, 3);
}

function series(panel: Panel, palette: Palette): uPlot.Series[] {
  const lines = panel.lines.map((line, position): uPlot.Series => {
    const stroke = palette.series[line.hue];
    return {
      label: line.label,
      stroke,
      width: panel.strips ? 0 : panel.isStacked ? 1 : panel.heat ? 2 : 1.5,
      ...(line.dash && { dash: line.dash }),
      ...(panel.isStacked && position === 0 && { fill: translucent(stroke) }),
      spanGaps: false,
      points: panel.strips ? { show: false } : { size: 3, fill: stroke, filter: isolated },
    };
  });
  // Drawn by the band between them alone.
  const bounds = bounded(panel).flatMap(({ line }) =>
    ["least", "greatest"].map((end): uPlot.Series => ({ label: `${line.label}, ${end}`, width: 0, points: { show: false } })),
  );
  const peak = panel.peak && { label: panel.peak.label, stroke: palette.ink, width: 1, dash: [1, 2], points: { show: false } };
  return [{}, ...lines, ...bounds, ...(peak ? [peak] : [])];
}

function extremeBands(panel: Panel, palette: Palette): uPlot.Band[] {
  return bounded(panel).map(({ line, place }) => ({
    series: [place + 1, place] as [number, number],
    fill: translucent(palette.series[line.hue]),
  }));
}

/** Rows whose value stands between two missing ones: a line alone would not show them. */
function isolated(chart: uPlot, series: number): number[] {
  const values = chart.data[series] ?? [];
  const has = (row: number) => values[row] !== null && values[row] !== undefined;
  return Array.from(values, (_, row) => row).filter((row) => has(row) && !has(row - 1) && !has(row + 1));
}

function stackBands(panel: Panel, palette: Palette): uPlot.Band[] {
  return panel.lines.slice(1).map((line, position) => ({
    series: [position + 2, position + 1] as [number, number],
    fill: translucent(palette.series[line.hue]),
  }));
}

/** A colour of the palette, which is written `#rrggbb`, seen through. */
function translucent(color: string): string {
  return `${color}73`;
}

function drawBands(chart: uPlot, { run, panel, palette, focus }: TimelineInput): void {
  const { ctx, bbox } = chart;
  const fill = (begin: number, end: number, color: string) => {
    const left = Math.max(chart.valToPos(begin, "x", true), bbox.left);
    const right = Math.min(chart.valToPos(end, "x", true), bbox.left + bbox.width);
    if (right <= left) return;
    ctx.fillStyle = color;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  };
  ctx.save();
  for (const band of run.bands) {
    if (band.phase === "drain") continue;
    fill(band.begin, band.end, band.phase === "warmup" ? palette.warmup : palette.steady);
  }
  for (const [begin, end] of run.losses) fill(begin, end, `${palette.series.b}2e`);
  if (focus) fill(focus[0], focus[1], palette.focus);
  ctx.restore();
  if (panel.heat) drawHeat(chart, panel.heat, palette);
  if (panel.strips) drawStrips(chart, run.rowEnds, panel.strips, palette);
  drawMarks(chart, run, palette);
}

/** What happened, as a thin line at its second; the strip above the plots says what it was. */
function drawMarks(chart: uPlot, run: Run, palette: Palette): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = palette.series.b;
  for (const { at } of marksOf(run)) {
    const x = chart.valToPos(at, "x", true);
    if (x >= bbox.left && x <= bbox.left + bbox.width) ctx.fillRect(x, bbox.top, devicePixelRatio, bbox.height);
  }
  ctx.restore();
}

/** A tick at the top for each lost operation. */
function drawLost(chart: uPlot, { panel, palette }: TimelineInput): void {
  const { ctx, bbox } = chart;
  const [width, height] = [2 * devicePixelRatio, 9 * devicePixelRatio];
  ctx.save();
  ctx.fillStyle = palette.series.b;
  for (const second of panel.lost ?? []) {
    const x = chart.valToPos(second, "x", true);
    if (x >= bbox.left && x <= bbox.left + bbox.width) ctx.fillRect(x - width / 2, bbox.top, width, height);
  }
  ctx.restore();
}

function drawLimit(chart: uPlot, { panel, palette }: TimelineInput): void {
  if (!panel.limit || !isLimitDrawn(panel)) return;
  const { ctx, bbox } = chart;
  const y = chart.valToPos(panel.limit.value, "y", true);
  ctx.save();
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

function cursorOf(chart: uPlot): { row: number; second: number } | null {
  const { idx, left = -1 } = chart.cursor;
  return idx === null || idx === undefined || left < 0 ? null : { row: idx, second: chart.posToVal(left, "x") };
}

/** Turns a dragged selection into a window of at least a fifth of a second. */
function select(chart: uPlot, handlers: TimelineHandlers): void {
  if (chart.select.width < 4) return;
  const begin = chart.posToVal(chart.select.left, "x");
  const end = chart.posToVal(chart.select.left + chart.select.width, "x");
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (end - begin >= 0.2) handlers.onWindow([begin, end]);
}
