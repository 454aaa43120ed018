// Looks at something of the server again and again, for as long as the page shows who looks.

import { useEffect } from "preact/hooks";

/** Calls `look` at once, and then every so many milliseconds. What it asks for is aborted in the end. */
export function useLooks(every_ms: number, look: (signal: AbortSignal) => void): void {
  useEffect(() => {
    const abort = new AbortController();
    look(abort.signal);
    const later = setInterval(() => look(abort.signal), every_ms);
    return () => {
      abort.abort();
      clearInterval(later);
    };
  }, []);
}
