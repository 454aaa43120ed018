// How numbers are written in the page: the same rules as in crates/report/src/number/mod.rs, with the same test vectors.

export const MISSING = "–";

/** A whole number with thousands separators. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A decimal number with so many significant digits, thousands separated. */
export function significant(value: number, digits: number): string {
  if (!Number.isFinite(value)) return MISSING;
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  const step = 10 ** (exponent - digits + 1);
  // Rounding 9.996 up makes 10.0, which has a digit more before the point and so one less after it.
  const hasCarried = Math.round(Math.abs(value) / step) >= 10 ** digits;
  return stepped(value, hasCarried ? step * 10 : step);
}

/** Rounded to a multiple of `step`, a power of ten, without digits below it. */
export function stepped(value: number, step: number): string {
  const decimals = Math.min(15, Math.max(0, -Math.round(Math.log10(step))));
  const rounded = (Math.round(value / step) * step).toFixed(decimals);
  const [whole = "", fraction] = rounded.replace("-", "").split(".");
  const sign = rounded.startsWith("-") ? "-" : "";
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction ? `.${fraction}` : "");
}

const SCALES: [number, string][] = [
  [1e3, "k"],
  [1e6, "M"],
  [1e9, "G"],
  [1e12, "T"],
];

/** A count too large to be read digit by digit: `31.2 G`. */
export function scaled(value: number): string {
  if (value < 9_999.5) return count(value);
  const [scale, unit] = SCALES.find(([each]) => value < 999.5 * each) ?? [1e12, "T"];
  return `${significant(value / scale, 3)} ${unit}`;
}

const DURATIONS: [number, string][] = [
  [1e3, "µs"],
  [1e6, "ms"],
  [1e9, "s"],
];

/** A duration with three significant digits and the unit that fits. */
export function duration(ns: number): string {
  if (ns < 999.5) return `${Math.round(ns)} ns`;
  const [scale, unit] = DURATIONS.find(([each]) => ns < 999.5 * each) ?? [1e9, "s"];
  return `${significant(ns / scale, 3)} ${unit}`;
}

/** A duration that somebody chose, without digits that say nothing: `50 ms`, not `50.0 ms`. */
export function chosenDuration(ns: number): string {
  return trimmed(duration(ns));
}

export function rate(hz: number): string {
  return `${significant(hz, 4)} req/s`;
}

/** A rate with its interval, the last digit worth at least a tenth of the interval's half width. */
export function rateInterval(hz: number, low: number, high: number): { rate: string; low: string; high: string } {
  const half = Math.abs(high - low) / 2;
  const size = Math.max(Math.abs(hz), 1e-9);
  const finest = 10 ** Math.ceil(Math.log10(size / 1e4));
  const wanted = half > 0 ? 10 ** Math.round(Math.log10(half / 10)) : finest;
  const step = Math.min(Math.max(wanted, finest), 10 ** Math.floor(Math.log10(size)));
  return { rate: stepped(hz, step), low: stepped(low, step), high: stepped(high, step) };
}

/** A share as a percentage; only exactly 1 is 100% and only exactly 0 is 0%. */
export function percent(ratio: number): string {
  const value = ratio * 100;
  if (!Number.isFinite(value)) return MISSING;
  if (value === 0) return "0%";
  if (value > 99.9 && value < 100) return "> 99.9%";
  if (value > 0 && value < 0.001) return "< 0.001%";
  return `${significant(value, value >= 10 ? 3 : 2)}%`;
}

const BINARY = ["KiB", "MiB", "GiB", "TiB"];

/** An amount of data in binary units. */
export function bytes(value: number): string {
  if (value < 1024) return `${Number.isInteger(value) ? value : significant(value, 4)} B`;
  let scaled = value / 1024;
  let unit = 0;
  while (scaled >= 1023.5 && unit + 1 < BINARY.length) {
    scaled /= 1024;
    unit += 1;
  }
  return `${significant(scaled, scaled >= 999.5 ? 4 : 3)} ${BINARY[unit]}`;
}

/** A length of time as people say it. */
export function span(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole === 0) return `${significant(seconds, 1)} s`;
  if (whole < 60) return `${whole} s`;
  const two = (part: number) => String(part).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** An objective in the user's notation, spaced for reading. */
export function objective(notation: string): string {
  const [percentile, limit] = notation.split("<", 2);
  if (percentile === undefined || limit === undefined) return notation;
  const parts = /^\s*([^a-zA-Z]*)(.*?)\s*$/s.exec(limit);
  return `${percentile.trim()} < ${parts?.[1]?.trim()} ${parts?.[2]}`.trimEnd();
}

/** A value of a tryout's metric, in one of its units. */
export function metricValue(value: number | null, unit: "ns" | "hz" | "s" | "ratio" | "bytes"): string {
  if (value === null || !Number.isFinite(value)) return MISSING;
  switch (unit) {
    case "ns":
      return duration(value);
    case "s":
      return duration(value * 1e9);
    case "hz":
      return rate(value);
    case "bytes":
      return bytes(value);
    case "ratio":
      return percent(value);
  }
}

/** A value of a chart in its unit: `%`, `ns`, `bytes`, `bytes/s`, `/s`, `count` or whatever a column says. */
export function inUnit(value: number, unit: string): string {
  switch (unit) {
    case "ns":
      return duration(value);
    case "bytes":
      return bytes(value);
    case "bytes/s":
      return `${bytes(value)}/s`;
    case "count":
      return Number.isInteger(value) ? count(value) : significant(value, 4);
    case "/s":
      return `${significant(value, 3)}/s`;
    case "%":
      return `${significant(value, value >= 100 ? 4 : 3)}%`;
    default:
      return `${significant(value, 4)} ${unit}`;
  }
}

/** The same, shorter, for the marks of an axis. */
export function onAxis(value: number, unit: string): string {
  if (value === 0) return unit === "%" ? "0%" : "0";
  switch (unit) {
    case "ns":
      return chosenDuration(value);
    case "bytes":
    case "bytes/s":
      return trimmed(bytes(value));
    case "%":
      return `${trimmed(significant(value, 3))}%`;
    default:
      return compact(value);
  }
}

/** Without zeros behind the decimal point. */
export function trimmed(text: string): string {
  return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

/** Thousands as k, millions as M. */
function compact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${trimmed(significant(value / 1e9, 3))} G`;
  if (size >= 1e6) return `${trimmed(significant(value / 1e6, 3))} M`;
  if (size >= 1e4) return `${trimmed(significant(value / 1e3, 3))} k`;
  return trimmed(significant(value, 4));
}
