// Which processors and interrupts are shown as heat strips, one row each: how busy each CPU was, how much of it receive work
// and other softirqs took, and how often each interrupt fired.

import { keyOf, type Run, type Values } from "../record/decode.ts";
import { drawn, growth, sum } from "../record/rates.ts";
import type { Column } from "../record/types.ts";
import type { StripRow } from "./heat.ts";
import type { Panel } from "./panels.ts";

/** Most rows of a strip: those with the most to show. */
const ROWS_MAX = { cpus: 64, interrupts: 12 };

const BUSY = ["cpu.user_us", "cpu.nice_us", "cpu.system_us", "cpu.irq_us", "cpu.softirq_us", "cpu.steal_us"];

interface Row extends StripRow {
  columns: Column[];
}

export function stripPanels(run: Run): Panel[] {
  return [
    stripPanel(run, { id: "panel-strip-busy", title: "Busy, by CPU", rows: cpuRows(run, BUSY), unit: "%", unitText: "% of the CPU", top: 100 }),
    stripPanel(run, { id: "panel-strip-softirq", title: "Softirq, by CPU", rows: cpuRows(run, ["cpu.softirq_us"]), unit: "%", unitText: "% of the CPU", top: 100 }),
    stripPanel(run, { id: "panel-strip-irq", title: "Interrupts", rows: interruptRows(run), unit: "/s" }),
  ].filter((panel) => panel !== null);
}

function cpuRows(run: Run, names: readonly string[]): Row[] {
  const scopes = run.columnsOf("cpu.user_us").map((column) => column.scope);
  const rows = scopes.map((scope) => rowOf(run, scope.replace("cpu:", "CPU "), names.flatMap((name) => run.column(`${name}@${scope}`) ?? [])));
  return greatest(run, rows, ROWS_MAX.cpus);
}

function interruptRows(run: Run): Row[] {
  const rows = run.columnsOf("irq.count").map((column) => rowOf(run, interruptName(column.scope), [column]));
  return greatest(run, rows, ROWS_MAX.interrupts);
}

/** `IRQ 27` for a line, and the kernel's own name for others, such as `LOC`. */
function interruptName(scope: string): string {
  return scope.replace(/^irq:(?=\d)/, "IRQ ").replace("irq:", "").replace("/cpu:", " on CPU ");
}

function rowOf(run: Run, label: string, all: Column[]): Row {
  const columns = all.filter((column) => !column.unavailable);
  return { label, columns, values: sum(columns.map((column) => drawn(column, run.values(column), run.rowSeconds, run.rowEnds))) };
}

/** The rows that grew most, in their order; those that never grew are left out. */
function greatest(run: Run, rows: Row[], most: number): Row[] {
  const sizes = new Map(rows.map((row) => [row, row.columns.reduce((total, column) => total + growth(run.values(column)), 0)]));
  const size = (row: Row) => sizes.get(row) ?? 0;
  const kept = new Set(rows.filter((row) => size(row) > 0).sort((one, other) => size(other) - size(one)).slice(0, most));
  return rows.filter((row) => kept.has(row));
}

interface Wanted extends Pick<Panel, "id" | "title" | "unit"> {
  rows: Row[];
  unitText?: string;
  top?: number;
}

/** A panel whose one line, which is not drawn, is what the row with the most has: it is what the cursor says. */
function stripPanel(run: Run, { rows, top, ...about }: Wanted): Panel | null {
  if (rows.length === 0) return null;
  const peak: Values = run.rowSeconds.map((_, at) => greatestOf(rows.map(({ values }) => values[at] ?? null)));
  const most = top ?? Math.max(greatestOf(peak) ?? 1, 1);
  const columns = rows.flatMap((row) => row.columns.map(keyOf));
  return { ...about, group: "Processors", seconds: run.rowSeconds, lines: [{ label: "greatest", values: peak, hue: "a" }], strips: { rows, most }, columns };
}

function greatestOf(values: Values): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
}
