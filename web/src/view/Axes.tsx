// Frame, grid and marks of a chart that is drawn as SVG.

import type { Scale } from "../chart/scale.ts";

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface AxesProps {
  frame: Frame;
  x: Scale;
  y: Scale;
  xTicks: readonly (readonly [value: number, label: string])[];
  yTicks: readonly (readonly [value: number, label: string])[];
  xTitle: string;
  yTitle: string;
  /** Room between the plot and the title of the vertical axis, where something stands above the plot. Unit: CSS pixels. */
  yTitleGap?: number;
}

export function Axes({ frame, x, y, xTicks, yTicks, xTitle, yTitle, yTitleGap = 12 }: AxesProps) {
  return (
    <g class="axes">
      {yTicks.map(([value, label]) => (
        <g key={value}>
          <line class="grid" x1={frame.left} x2={frame.right} y1={y(value)} y2={y(value)} />
          <text x={frame.left - 8} y={y(value)} dy="0.35em" text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      <line class="axis-line" x1={frame.left} x2={frame.right} y1={frame.bottom} y2={frame.bottom} />
      {xTicks.map(([value, label]) => (
        <g key={value}>
          <line class="axis-line" x1={x(value)} x2={x(value)} y1={frame.bottom} y2={frame.bottom + 4} />
          <text x={x(value)} y={frame.bottom + 17} text-anchor="middle">
            {label}
          </text>
        </g>
      ))}
      <text class="axis-title" x={frame.right} y={frame.bottom + 35} text-anchor="end">
        {xTitle}
      </text>
      <text class="axis-title" x={0} y={frame.top - yTitleGap} text-anchor="start">
        {yTitle}
      </text>
    </g>
  );
}
