// One small multiple: its title and legend with the values under the cursor, the plot, and the readings as a table.

import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Palette } from "../chart/palette.ts";
import type { Line, Panel } from "../chart/panels.ts";
import { createTimeline, isLimitDrawn } from "../chart/timeline.ts";
import { chosenDuration, inUnit } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { view, type Window } from "../state/view.ts";
import { HeatKey } from "./HeatKey.tsx";
import { numbers, Table } from "./Table.tsx";

interface PanelProps {
  run: Run;
  panel: Panel;
  palette: Palette;
  width: number;
  window: Window;
  focus: Window | null;
  isGroupStart: boolean;
  hasAxis: boolean;
  onSecond(second: number | null): void;
}

export function PanelView({ run, panel, palette, width, window, focus, isGroupStart, hasAxis, onSecond }: PanelProps) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const legend = useRef<HTMLUListElement>(null);
  const [isOpen, setOpen] = useState(false);

  const showCursor = (at: { row: number; second: number } | null) => {
    onSecond(at?.second ?? null);
    legendLines(panel).forEach((line, position) => {
      const cell = legend.current?.children[position]?.lastElementChild;
      const value = at === null ? null : line.values[at.row];
      if (cell) cell.textContent = value === null || value === undefined ? "" : inUnit(value, panel.unit) + range(panel, line, at?.row ?? 0);
    });
    const plot = element.current;
    if (!plot || at === null) return;
    plot.setAttribute("aria-valuenow", at.second.toFixed(2));
    plot.setAttribute("aria-valuetext", spoken(panel, at.second, at.row));
  };

  useEffect(() => {
    if (!element.current) return;
    const input = { run, panel, palette, width, hasAxis, window, focus };
    const created = createTimeline(element.current, input, { onWindow: (chosen) => view.set({ window: chosen }), onCursor: showCursor });
    chart.current = created;
    return () => {
      chart.current = null;
      created.destroy();
    };
  }, [run, panel, palette, width, hasAxis, focus]);

  useEffect(() => chart.current?.setScale("x", { min: window[0], max: window[1] }), [window[0], window[1]]);

  const move = (event: KeyboardEvent) => {
    const plot = chart.current;
    if (!plot) return;
    if (event.key === "Escape") view.set({ window: null, focus: null });
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    moveCursor(plot, panel, window, step * (event.shiftKey ? 10 : 1));
  };

  const unit = panel.unitText ?? UNIT_WORDS[panel.unit] ?? panel.unit;
  return (
    <figure id={panel.id} class={`panel${isGroupStart ? " group-start" : ""}`} data-columns={panel.columns.join(" ")} tabIndex={-1}>
      <figcaption>
        {isGroupStart && <p class="group">{panel.group}</p>}
        <p class="panel-title">
          {panel.title} <span class="quiet">{unit}</span>
        </p>
        <ul ref={legend} class="legend">
          {legendLines(panel).map((line) => (
            <li key={line.label} title={line.label}>
              <Swatch line={line} palette={palette} isArea={panel.isStacked ?? false} />
              <span class="legend-label">{line.label}</span>
              <span class="legend-value" />
            </li>
          ))}
        </ul>
        {panel.limit && (
          <p class="legend-limit quiet">
            {isLimitDrawn(panel) && (
              <svg class="swatch" width={18} height={10} aria-hidden="true">
                <line x1={0} x2={18} y1={5} y2={5} stroke={palette.ink} stroke-dasharray="2 3" />
              </svg>
            )}{" "}
            {panel.limit.label} {panel.unit === "ns" ? chosenDuration(panel.limit.value) : inUnit(panel.limit.value, panel.unit)}
          </p>
        )}
        {panel.note && <p class="quiet">{panel.note}</p>}
        <HeatKey panel={panel} palette={palette} />
      </figcaption>
      <div
        ref={element}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${panel.title} over time, ${unit}`}
        aria-valuemin={Number(window[0].toFixed(2))}
        aria-valuemax={Number(window[1].toFixed(2))}
        aria-valuenow={Number(window[0].toFixed(2))}
        aria-valuetext="no second selected"
        onKeyDown={move}
        onPointerLeave={() => onSecond(null)}
      />
      <details class="panel-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary aria-label={`Table of ${panel.title}`}>table</summary>
        {isOpen && <ReadingTable panel={panel} window={window} />}
      </details>
    </figure>
  );
}

/** Lines in the order in which the eye meets them: of a stack, the top first. */
function legendLines(panel: Panel): Line[] {
  return panel.isStacked ? [...panel.lines].reverse() : panel.lines;
}

const UNIT_WORDS: Record<string, string> = {
  "%": "% of the time",
  "/s": "per second",
  ns: "time",
  bytes: "bytes",
  "bytes/s": "bytes per second",
  count: "count",
};

/** Moves the shared cursor so many readings within the window. */
function moveCursor(plot: uPlot, panel: Panel, window: Window, step: number): void {
  const last = plot.cursor.idx ?? panel.seconds.findIndex((second) => second >= window[0]);
  const row = Math.min(Math.max(last + step, 0), panel.seconds.length - 1);
  const second = panel.seconds[row];
  if (second === undefined || second < window[0] || second > window[1]) return;
  plot.setCursor({ left: plot.valToPos(second, "x"), top: plot.over.clientHeight / 2 }, true);
}

/** The extremes of a value that stands for several. */
function range(panel: Panel, line: Line, row: number): string {
  const [low, high] = [line.bounds?.low[row] ?? null, line.bounds?.high[row] ?? null];
  return low === null || high === null || low === high ? "" : ` (${inUnit(low, panel.unit)} – ${inUnit(high, panel.unit)})`;
}

function spoken(panel: Panel, second: number, row: number): string {
  const values = panel.lines.map((line) => {
    const value = line.values[row];
    return `${line.label} ${value === null || value === undefined ? "not measured" : inUnit(value, panel.unit) + range(panel, line, row)}`;
  });
  return `${second.toFixed(1)} seconds: ${values.join(", ")}`;
}

function Swatch({ line, palette, isArea }: { line: Line; palette: Palette; isArea: boolean }) {
  const color = palette.series[line.hue];
  return (
    <svg class="swatch" width={18} height={10} aria-hidden="true">
      {isArea && <rect x={0} y={1} width={18} height={8} fill={color} opacity={0.45} />}
      <line x1={0} x2={18} y1={isArea ? 1 : 5} y2={isArea ? 1 : 5} stroke={color} stroke-width={2} stroke-dasharray={line.dash?.join(" ")} />
    </svg>
  );
}

/** Most rows of the table; of more readings it takes every second, third … one. */
const ROWS_MAX = 120;

function ReadingTable({ panel, window }: { panel: Panel; window: Window }) {
  const rows = panel.seconds.flatMap((second, row) => (second >= window[0] && second <= window[1] ? [row] : []));
  const every = Math.max(1, Math.ceil(rows.length / ROWS_MAX));
  const shown = rows.filter((_, position) => position % every === 0);
  return (
    <>
      <Table label={`Readings of ${panel.title}`} heads={numbers(["second", ...panel.lines.map(({ label }) => label)])}>
        {shown.map((row) => (
          <tr key={row}>
            <th scope="row" class="number">
              {panel.seconds[row]?.toFixed(2)}
            </th>
            {panel.lines.map((line) => {
              const value = line.values[row];
              return (
                <td class="number" key={line.label}>
                  {value === null || value === undefined ? "–" : inUnit(value, panel.unit)}
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
      <p class="quiet">
        {every > 1 && `One in ${every} readings. `}Counters that are read less often repeat their last reading.
      </p>
    </>
  );
}
