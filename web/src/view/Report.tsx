// The report from top to bottom: the answer on the first screen, then what it rests on, then how it was made.

import type { ComponentChildren } from "preact";
import type { Run } from "../record/decode.ts";
import { Answer } from "./Answer.tsx";
import { Capacity } from "./Capacity.tsx";
import { Findings } from "./Findings.tsx";
import { Latency } from "./Latency.tsx";
import { Machine } from "./Machine.tsx";
import { Masthead } from "./Masthead.tsx";
import { PlanView } from "./Plan.tsx";
import { Again, Files } from "./Provenance.tsx";
import { Requests } from "./Requests.tsx";
import { Timeline } from "./Timeline.tsx";
import { Verdict } from "./Verdict.tsx";

interface Part {
  id: string;
  title: string;
  body: ComponentChildren;
}

function partsOf(run: Run): Part[] {
  const { analysis } = run.payload;
  const hasReasons = analysis.verdict.reasons.length > 0 || run.payload.damage.length > 0;
  const parts: (Part | false)[] = [
    hasReasons && { id: "verdict", title: "Validity", body: <Verdict run={run} /> },
    analysis.curve.length > 1 && { id: "capacity", title: "Rate and latency against load", body: <Capacity run={run} /> },
    { id: "latency", title: "Latency distribution", body: <Latency run={run} /> },
    analysis.findings.length > 0 && { id: "findings", title: "Findings", body: <Findings run={run} /> },
    { id: "timeline", title: "Timeline: the same seconds of every counter", body: <Timeline run={run} /> },
    { id: "requests", title: "Requests", body: <Requests run={run} /> },
    { id: "machine", title: "Machine", body: <Machine run={run} /> },
    { id: "plan", title: "Plan", body: <PlanView run={run} /> },
    { id: "again", title: "Run it again", body: <Again run={run} /> },
    { id: "files", title: "Files", body: <Files run={run} /> },
  ];
  return parts.filter((part) => part !== false);
}

const SHORT: Record<string, string> = {
  verdict: "Validity",
  capacity: "Load",
  latency: "Latency",
  findings: "Findings",
  timeline: "Timeline",
  requests: "Requests",
  machine: "Machine",
  plan: "Plan",
  again: "Run again",
  files: "Files",
};

export function Report({ run }: { run: Run }) {
  const parts = partsOf(run);
  return (
    <>
      <a class="skip" href="#result">
        Skip to the result
      </a>
      <Masthead run={run} />
      <main>
        <Answer run={run} />
        <nav class="contents" aria-label="Parts of the report">
          <ul>
            {parts.map(({ id }) => (
              <li key={id}>
                <a href={`#${id}`}>{SHORT[id]}</a>
              </li>
            ))}
          </ul>
        </nav>
        {parts.map(({ id, title, body }) => (
          <section key={id} id={id} class="part" aria-labelledby={`${id}-title`} tabIndex={-1}>
            <h2 id={`${id}-title`}>{title}</h2>
            {body}
          </section>
        ))}
      </main>
      <Footer run={run} />
    </>
  );
}

function Footer({ run }: { run: Run }) {
  const { tool, id } = run.payload.manifest;
  return (
    <footer class="colophon">
      <p>
        Made by sysdyno {tool.version} ({tool.target}) from the run <code>{id}</code>. The page holds the record that it
        shows, needs no network and sends nothing.
      </p>
    </footer>
  );
}
