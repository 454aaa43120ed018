// Starts a command from the browser, says what becomes of it, and stops it; only where the server gave the page a key.

import { useState } from "preact/hooks";
import type { Job } from "../../record/served.ts";
import { shellLine } from "../../record/shell.ts";
import { prose } from "../../record/text.ts";
import { useLooks } from "../../state/looks.ts";
import { fetchJob, startJob, stopJob, type Order } from "../../state/orders.ts";

/** Between two looks at the command. Unit: milliseconds. */
const LOOK_MS = 1_000;

interface Field {
  name: "url" | "connections" | "rate" | "duration" | "objective";
  label: string;
  example: string;
  /** The command that has it; absent: both. */
  only?: "load" | "run";
}

const FIELDS: readonly Field[] = [
  { name: "url", label: "URL", example: "http://127.0.0.1/" },
  { name: "objective", label: "Objective", example: "p99<50ms", only: "run" },
  { name: "connections", label: "Connections", example: "64", only: "load" },
  { name: "rate", label: "Rate", example: "maximum", only: "load" },
  { name: "duration", label: "Duration", example: "10s", only: "load" },
];

/** The command that was started last, looked at every second; and how to send an order. */
function useJob(): [Job | null, string, (order: Promise<Job | null>) => void] {
  const [job, setJob] = useState<Job | null>(null);
  const [refused, setRefused] = useState("");
  // That the server does not answer is said by the list.
  useLooks(LOOK_MS, (signal) => void fetchJob(signal).then(setJob, () => undefined));
  const send = (order: Promise<Job | null>) =>
    void order.then(
      (now) => {
        setJob(now);
        setRefused("");
      },
      (error: Error) => setRefused(error.message),
    );
  return [job, refused, send];
}

/** What can be started, and what runs. */
export function Control({ access }: { access: string }) {
  const [job, refused, send] = useJob();
  const [order, setOrder] = useState<Order>({ command: "load" });
  const shown = FIELDS.filter(({ only }) => only === undefined || only === order.command);
  const start = (event: Event) => {
    event.preventDefault();
    send(startJob(access, order));
  };
  return (
    <section class="answer home control" aria-labelledby="control">
      <h2 id="control">Start a run</h2>
      <form class="filters" onSubmit={start}>
        <label class="command">
          <span>What</span>
          <select value={order.command} onChange={(event) => setOrder({ ...order, command: event.currentTarget.value as Order["command"] })}>
            <option value="load">load: send a load</option>
            <option value="run">run: find the capacity</option>
          </select>
        </label>
        {shown.map(({ name, label, example }) => (
          <label key={name} class={name}>
            <span>{label}</span>
            <input type="text" value={order[name] ?? ""} placeholder={example} required={name === "url"} autocomplete="off" spellcheck={false} onInput={(event) => setOrder({ ...order, [name]: event.currentTarget.value })} />
          </label>
        ))}
        <button type="submit" disabled={job?.is_running ?? false}>
          Start
        </button>
        <button type="button" disabled={job?.is_running ?? false} onClick={() => send(startJob(access, { command: "undo" }))}>
          Undo a trial of settings
        </button>
      </form>
      <p class="refused" role="alert">
        {prose(refused)}
      </p>
      {job && <Started job={job} stop={() => send(stopJob(access))} />}
    </section>
  );
}

/** What runs, with the way to stop it; nothing if nothing does. */
export function Stopper({ access }: { access: string }) {
  const [job, , send] = useJob();
  return job?.is_running ? <Started job={job} stop={() => send(stopJob(access))} /> : null;
}

function Started({ job, stop }: { job: Job; stop: () => void }) {
  return (
    <div class="job">
      <p role="status">
        <code>{shellLine(["sysdyno", ...job.words], null)}</code> {stateOf(job)}
      </p>
      {job.is_running && !job.is_interrupted && (
        <button type="button" onClick={stop}>
          Stop
        </button>
      )}
      {!job.is_running && job.said !== "" && <pre class="said">{job.said}</pre>}
    </div>
  );
}

function stateOf({ is_running, is_interrupted, code }: Job): string {
  if (is_running) return is_interrupted ? "is stopping." : "is running.";
  if (code === null) return "was ended by a signal.";
  return code === 0 ? "has ended." : `has ended with exit code ${code}.`;
}
