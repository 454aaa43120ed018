// What was measured, when, and how far the record goes.

import { span } from "../number.ts";
import type { Manifest } from "../record/types.ts";

export function Masthead({ manifest, subject }: { manifest: Manifest; subject: string }) {
  const started = new Date(Number(manifest.started_unix_ns) / 1e6);
  const took = manifest.ended_unix_ns === null ? null : (Number(manifest.ended_unix_ns) - Number(manifest.started_unix_ns)) / 1e9;
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
