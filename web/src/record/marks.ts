// What happened at an instant and is shown on the time axis.

import { count } from "../number.ts";
import type { Run } from "./decode.ts";
import type { Mark } from "./types.ts";

/** An event with its second since the run began. */
export interface Happened {
  at: number;
  text: string;
}

/** What happened, in order of time, without what is shown in another way. */
export function marksOf(run: Run): Happened[] {
  return run.payload.events.flatMap(({ mono_ns, event }) => {
    const text = textOf(event);
    return text === null ? [] : [{ at: run.seconds(mono_ns), text }];
  });
}

/** What a mark says; `null` for those that are shown in another way. */
function textOf(event: Mark): string | null {
  switch (event.kind) {
    case "warning":
      return `warning: ${event.text}`;
    case "hard_stop":
      return `hard stop: ${event.text}`;
    case "note":
      return event.text;
    case "host_lost":
      return `lost ${event.host}: ${event.reason}`;
    case "log_lines":
      return `${event.log} (${count(event.new_count)}): ${event.example}`;
    case "setting":
      return event.before === event.after ? null : `${event.key} is ${event.after} on ${event.host}`;
    case "setting_changed":
      return `${event.key} changed from ${event.before} to ${event.after}`;
    case "setting_undone":
      return `${event.key} is ${event.after} again`;
    case "setting_kept":
      return `${event.key} stays ${event.after}`;
    case "setting_left":
      return `${event.key} was not undone: something else has changed it`;
    case "signal":
      return `signal ${event.name}`;
    default:
      return null;
  }
}
