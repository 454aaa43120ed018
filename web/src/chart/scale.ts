// Scales and their marks, for the charts that are drawn as SVG.

export interface Scale {
  (value: number): number;
  readonly domain: readonly [number, number];
}

export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const width = domain[1] - domain[0] || 1;
  const scale = (value: number) => range[0] + ((value - domain[0]) / width) * (range[1] - range[0]);
  return Object.assign(scale, { domain });
}

/** Logarithmic; both ends of the domain must be positive. */
export function log(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const inner = linear([Math.log10(domain[0]), Math.log10(domain[1])], range);
  const scale = (value: number) => inner(Math.log10(Math.max(value, Number.MIN_VALUE)));
  return Object.assign(scale, { domain });
}

/** Round numbers, about so many, within the domain. */
export function linearTicks([low, high]: readonly [number, number], about: number): number[] {
  const rough = (high - low) / Math.max(about, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const distance = (each: number) => Math.abs(Math.log((each * power) / rough));
  const step = [1, 2, 2.5, 5, 10].reduce((best, each) => (distance(each) < distance(best) ? each : best)) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

/** Round numbers of the binary unit that fits the domain: 512 KiB, 2 MiB. */
export function binaryTicks([low, high]: readonly [number, number], about: number): number[] {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(high, 1)) / Math.log(1024)));
  return linearTicks([low / unit, high / unit], about).map((tick) => tick * unit);
}

/** 1, 2 and 5 times powers of ten within the domain; only powers of ten where there are many. */
export function logTicks([low, high]: readonly [number, number]): number[] {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const steps = to - from > 3 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = from; power <= to; power += 1) {
    for (const step of steps) {
      // From a decimal literal: 10 ** -7 has other last digits than 1e-7.
      const tick = Number(`${step}e${power}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** The domain of some values, widened by a factor on both sides; for logarithmic scales. */
export function logDomain(values: readonly number[], factor: number): [number, number] {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return [1, 10];
  const low = positive.reduce((least, value) => Math.min(least, value));
  const high = positive.reduce((greatest, value) => Math.max(greatest, value));
  return [low / factor, high * factor];
}
