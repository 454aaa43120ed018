// Text that somebody else chose: control characters and those that turn or hide their neighbours are made visible.
// That nothing of it becomes markup is Preact's doing, which makes text nodes and nothing else.

/** Sources: ECMA-48 (control functions), Unicode UAX #9 (directional formatting), UTR #36 (invisible text). */
const TREACHEROUS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Longest text that is shown; longer ones are cut. */
const LENGTH_MAX = 20_000;

export function visible(text: string): string {
  const cut = text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)}…` : text;
  return cut.replace(TREACHEROUS, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

const UNITS = "%|ns|µs|ms|s|min|h|req/s|MiB|KiB|GiB|MB|kB|Mbit/s|CPUs?";
const BEFORE_UNIT = new RegExp(`(\\d) (?=(?:${UNITS})(?![\\w]))`, "g");

/** A sentence for reading: numbers stay in the line of their unit. */
export function prose(text: string): string {
  return text.replace(BEFORE_UNIT, "$1\u00a0");
}

/** Parses the embedded document, all strings and names made visible. */
export function parseRecord(json: string): unknown {
  return JSON.parse(json, (_key, value: unknown) => {
    if (typeof value === "string") return visible(value);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    const names = Object.keys(value);
    if (names.every((name) => visible(name) === name)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [visible(name), each]));
  });
}
