// Settings that were held while a run lasted.

import type { Mark, SettingHeld } from "./types.ts";

/** All of them, in the order in which they were made. */
export function settingsOf(events: readonly { event: Mark }[]): SettingHeld[] {
  return events.flatMap(({ event }) => (event.kind === "setting" ? [event] : []));
}
