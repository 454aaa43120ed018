// The heat map of latency on its own: the panel of the timeline, where it is read together with the distribution.

import { useMemo, useRef } from "preact/hooks";
import { usePalette } from "../chart/palette.ts";
import { latencyPanel } from "../chart/panels.ts";
import { useWidth } from "../chart/size.ts";
import type { Run } from "../record/decode.ts";
import { useView } from "../state/view.ts";
import { PanelView } from "./Panel.tsx";
import { LABELS, NARROW } from "./Timeline.tsx";

export function LatencyOverTime({ run }: { run: Run }) {
  const palette = usePalette();
  const { window, focus } = useView();
  const [element, width] = useWidth<HTMLDivElement>();
  const readout = useRef<HTMLParagraphElement>(null);
  const panel = useMemo(() => latencyPanel(run, "latency-over-time"), [run]);
  const isNarrow = width < NARROW;
  const say = (second: number | null) => {
    if (readout.current) readout.current.textContent = second === null ? "" : `${second.toFixed(1)} s`;
  };
  return (
    <div ref={element} class={`panels${isNarrow ? " narrow" : ""}`}>
      {width > 0 && (
        <PanelView
          run={run}
          panel={panel}
          palette={palette}
          width={isNarrow ? width : width - LABELS}
          window={window ?? run.extent}
          focus={focus}
          isGroupStart={false}
          hasAxis
          onSecond={say}
        />
      )}
      <p class="readout" ref={readout} aria-hidden="true" />
    </div>
  );
}
