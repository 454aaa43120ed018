// What was measured, when, and how far the record goes.

import { span } from "../number.ts";

interface MastheadProps {
  subject: string;
  started_unix_ns: string;
  /** Left out, or null: the record does not say. */
  ended_unix_ns?: string | null;
}

export function Masthead({ subject, started_unix_ns, ended_unix_ns = null }: MastheadProps) {
  const started = new Date(Number(started_unix_ns) / 1e6);
  const took = ended_unix_ns === null ? null : (Number(ended_unix_ns) - Number(started_unix_ns)) / 1e9;
  const iso = Number.isFinite(started.getTime()) ? started.toISOString() : "";
  return (
    <header class="masthead">
      <p class="wordmark">sysdyno</p>
      <p class="subject" title={subject}>
        {subject}
      </p>
      <p class="when">
        <time dateTime={iso}>{iso.replace("T", " ").replace(/\.\d+Z/, " UTC")}</time>
        {took !== null && <> · {span(took)}</>}
      </p>
    </header>
  );
}
