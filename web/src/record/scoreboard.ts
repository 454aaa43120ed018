// Simulated users of the variants of an experiment: which variants differ in the number of users only.

import type { ExperimentShown, Scoreboard } from "./comparison.ts";

type Variant = ExperimentShown["variants"][number];

/** Variants that differ in the number of users only, from few to many. */
export interface Series {
  /** The levels of the other factors. */
  name: string;
  variants: { side: number; scoreboard: Scoreboard }[];
}

/** The greatest share of its limit that the percentile of an operation is; null: no operation has both. */
export function tightest({ operations }: Scoreboard): number | null {
  const shares = operations.flatMap(({ percentile_ns, limit }) => (percentile_ns !== null && limit !== null && limit.limit > 0 ? [percentile_ns / limit.limit] : []));
  return shares.length > 0 ? Math.max(...shares) : null;
}

/** Whether the levels of a factor, and nothing else, say how many users there are. */
function isOfUsers(factor: string, variants: readonly Variant[]): boolean {
  const users = new Map<string, number>();
  for (const { levels, scoreboard } of variants) {
    const level = levels.find(([name]) => name === factor)?.[1];
    if (level === undefined || !scoreboard || (users.get(level) ?? scoreboard.users) !== scoreboard.users) return false;
    users.set(level, scoreboard.users);
  }
  return new Set(users.values()).size > 1;
}

/** The variants with users, in series. */
export function seriesOf({ variants }: ExperimentShown): Series[] {
  const withUsers = variants.filter(({ scoreboard }) => scoreboard !== undefined);
  const found = new Map<string, Series>();
  for (const { side, levels, scoreboard } of withUsers) {
    const others = levels.filter(([factor]) => !isOfUsers(factor, withUsers)).map(([, level]) => level);
    const name = others.join(", ");
    const series = found.get(name) ?? { name, variants: [] };
    found.set(name, series);
    if (scoreboard) series.variants.push({ side, scoreboard });
  }
  for (const { variants: one } of found.values()) one.sort((a, b) => a.scoreboard.users - b.scoreboard.users);
  return [...found.values()];
}
