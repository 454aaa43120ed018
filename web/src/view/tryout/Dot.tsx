// A trial as a mark: of A a disc, of B a square.

interface DotProps {
  arm: "a" | "b";
  x: number;
  y: number;
  size: number;
  isHollow: boolean;
}

export function Dot({ arm, x, y, size, isHollow }: DotProps) {
  const style = `dot dot-${arm}${isHollow ? " dot-hollow" : ""}`;
  if (arm === "a") return <circle class={style} cx={x} cy={y} r={size} />;
  const half = size * 0.92;
  return <rect class={style} x={x - half} y={y - half} width={2 * half} height={2 * half} />;
}
