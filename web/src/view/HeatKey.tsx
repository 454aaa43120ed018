// What the shades of cells mean: from the faintest to the strongest, with their values.

import { shade, shaded } from "../chart/heat.ts";
import type { Palette } from "../chart/palette.ts";
import type { Panel } from "../chart/panels.ts";
import { count, inUnit } from "../number.ts";

const SHARES = [0, 0.25, 0.5, 0.75, 1];

export function HeatKey({ panel: { heat, strips, unit }, palette }: { panel: Panel; palette: Palette }) {
  if (!heat && !strips) return null;
  const [low, high] = heat ? ["1", `${count(heat.most)} requests (log)`] : ["0", inUnit(strips?.most ?? 0, unit)];
  return (
    <p class="heat-key quiet">
      {low}{" "}
      <svg width={60} height={10} aria-hidden="true">
        {SHARES.map((share, position) => (
          <rect key={share} x={12 * position} y={0} width={12} height={10} fill={shaded(palette.series.a, shade(share))} />
        ))}
      </svg>{" "}
      {high}
    </p>
  );
}
