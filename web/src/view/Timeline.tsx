// Small multiples of the same seconds: the load, the server, the host. One time axis, one cursor, phases as bands.

import { useMemo, useRef, useState } from "preact/hooks";
import { usePalette } from "../chart/palette.ts";
import { columnPanel, panelsOf, type Panel } from "../chart/panels.ts";
import { useWidth } from "../chart/size.ts";
import { rate } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { keyOf } from "../record/decode.ts";
import { useView, view, type Window } from "../state/view.ts";
import { PanelView } from "./Panel.tsx";
import { TrialStrip } from "./TrialStrip.tsx";

export function Timeline({ run }: { run: Run }) {
  const palette = usePalette();
  const { window: chosen, focus, added } = useView();
  const [element, width] = useWidth<HTMLDivElement>();
  const readout = useRef<HTMLParagraphElement>(null);
  const { panels: base, silent } = useMemo(() => panelsOf(run), [run]);
  const panels = useMemo(() => [...base, ...addedPanels(run, added)], [run, base, added]);
  const window: Window = chosen ?? run.extent;
  if (panels.length === 0) return <p class="quiet">The record holds no readings over time.</p>;
  const isNarrow = width > 0 && width < NARROW;
  const plotWidth = isNarrow ? width : width - LABELS;
  const say = (second: number | null) => {
    if (readout.current) readout.current.textContent = second === null ? HINT : describe(run, second);
  };
  return (
    <div class="timeline">
      <div class="timeline-bar">
        <p class="readout" ref={readout} aria-hidden="true">
          {HINT}
        </p>
        <button type="button" disabled={chosen === null && focus === null} onClick={() => view.set({ window: null, focus: null })}>
          whole run
        </button>
      </div>
      <div ref={element} class={`panels${isNarrow ? " narrow" : ""}`}>
        {width > 0 && (
          <>
            <TrialStrip run={run} window={window} focus={focus} left={isNarrow ? 0 : LABELS} width={plotWidth} />
            {panels.map((panel, position) => (
              <PanelView
                key={panel.id}
                run={run}
                panel={panel}
                palette={palette}
                width={plotWidth}
                window={window}
                focus={focus}
                isGroupStart={panel.group !== panels[position - 1]?.group}
                hasAxis={panel.group !== panels[position + 1]?.group}
                onSecond={say}
              />
            ))}
          </>
        )}
      </div>
      {silent.length > 0 && <p class="quiet">Zero in every second: {silent.map((panel) => panel.title).join(", ")}.</p>}
      <AddCounter run={run} added={added} />
      <Thinned run={run} />
      <Unavailable run={run} />
    </div>
  );
}

/** Width of the labels beside the plots. Unit: CSS pixels; also in the style. */
export const LABELS = 196;

/** Below this width labels stand above the plots. Unit: CSS pixels. */
export const NARROW = 640;

const HINT = "Drag over a plot to look closer; arrow keys move the cursor of the plot in focus.";

function describe(run: Run, second: number): string {
  const band = run.bandAt(second);
  const at = `${second.toFixed(1)} s · ${run.wallClock(second).toISOString().slice(11, 21)} UTC`;
  if (!band) return run.bands.length === 0 ? at : `${at} · between trials`;
  const offered = band.rate_hz === null ? "closed loop" : `offered ${rate(band.rate_hz)}`;
  return `${at} · trial ${band.trial}, ${band.phase === "warmup" ? "warm-up" : band.phase} · ${offered}`;
}

function addedPanels(run: Run, added: readonly string[]): Panel[] {
  return added.flatMap((key) => {
    const column = run.column(key);
    return column && !column.unavailable ? [columnPanel(run, column)] : [];
  });
}

/** Every column of the record, to be added as a panel of its own. */
function AddCounter({ run, added }: { run: Run; added: readonly string[] }) {
  const [wanted, setWanted] = useState("");
  const keys = useMemo(() => run.payload.series.columns.filter((column) => !column.unavailable).map(keyOf), [run]);
  if (keys.length === 0) return null;
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : keys.filter((key) => words.every((word) => key.toLowerCase().includes(word)));
  return (
    <div class="add-counter">
      <label for="counter-filter">Add any of the {keys.length} recorded counters</label>
      <input
        id="counter-filter"
        type="search"
        autocomplete="off"
        placeholder="retrans, softirq cpu:2 …"
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      {words.length > 0 && (
        <ul>
          {hits.slice(0, 12).map((key) => (
            <li key={key}>
              <button type="button" aria-pressed={added.includes(key)} onClick={() => toggle(key, added)}>
                {added.includes(key) ? "− " : "+ "}
                {key}
              </button>
            </li>
          ))}
          <li class="quiet" role="status">
            {hits.length === 0 ? "no counter has these words" : hits.length > 12 ? `and ${hits.length - 12} more` : ""}
          </li>
        </ul>
      )}
    </div>
  );
}

function toggle(key: string, added: readonly string[]): void {
  view.set({ added: added.includes(key) ? added.filter((each) => each !== key) : [...added, key] });
}

function Thinned({ run }: { run: Run }) {
  const { series, intervals } = run.payload;
  const isCondensed = series.every > 1 || (series.samples_max ?? 1) > 1 || intervals.every > 1 || intervals.extremes !== undefined;
  if (!isCondensed) return null;
  return (
    <p class="quiet">
      The run was long: where several readings share a point, a band reaches from the least to the greatest of them, and a dotted line is the
      greatest sum.
    </p>
  );
}

function Unavailable({ run }: { run: Run }) {
  const missing = run.payload.series.columns.filter((column) => column.unavailable);
  if (missing.length === 0) return null;
  return (
    <details>
      <summary>Not measured, and why ({missing.length})</summary>
      <ul>
        {missing.map((column) => (
          <li key={keyOf(column)}>
            <code>{keyOf(column)}</code>: {column.unavailable}
          </li>
        ))}
      </ul>
    </details>
  );
}
