// What outsiders waited, a panel for each target: their times as points on a logarithmic axis, and a tick for each that was lost.

import { count } from "../number.ts";
import type { Run } from "../record/decode.ts";
import type { ProbeTrack } from "../record/probes.ts";
import type { Panel } from "./panels.ts";

/** Most targets with a panel. */
const MOST = 16;

export function probePanels(run: Run): Panel[] {
  return run.tracks.slice(0, MOST).map(panelOf);
}

function panelOf(track: ProbeTrack, place: number): Panel {
  const lost = track.lost.flatMap((many, row) => (many ? [track.seconds[row] ?? 0] : []));
  const total = track.lost.reduce<number>((sum, many) => sum + (many ?? 0), 0);
  const isCondensed = track.every > 1;
  return {
    id: `panel-probe-${place}`,
    group: "Probes",
    title: track.name,
    unit: "ns",
    unitText: `${track.kind}, log scale`,
    isLog: true,
    seconds: track.seconds,
    lines: [
      {
        label: isCondensed ? `median of ${track.every}` : "response time",
        values: track.p50,
        hue: "a",
        ...(isCondensed && { bounds: { low: track.low, high: track.high } }),
      },
    ],
    lost,
    ...(total > 0 && { note: `${count(total)} lost: ticks at the top` }),
    columns: [],
  };
}
