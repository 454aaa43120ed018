// What every report has around its parts: a link past the head, what was measured and when, the list of parts, the end.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { prose } from "../record/text.ts";
import type { Manifest } from "../record/types.ts";
import { foldAll } from "../state/folds.ts";
import { Masthead } from "./Masthead.tsx";
import { Bar } from "./serve/Bar.tsx";

export interface Part {
  id: string;
  /** Its name in the list of parts. */
  short: string;
  title: string;
  body: ComponentChildren;
  /** Whether it is closed until it is asked for; of what is, whether paper shows it all the same. */
  fold?: { onPaper: boolean; /** What is in it, in a few words. */ note: string };
}

/** A part that is closed until it is asked for. */
export function folded(id: string, title: string, note: string, body: ComponentChildren, onPaper = false): Part {
  return { id, short: title, title, body, fold: { onPaper, note } };
}

interface FrameProps {
  masthead: ComponentChildren;
  /** The first screen; its element has the id `result`. */
  answer: ComponentChildren;
  parts: readonly Part[];
  /** Who made the page, and from what. */
  colophon: ComponentChildren;
}

export function Frame({ masthead, answer, parts, colophon }: FrameProps) {
  return (
    <>
      <a class="skip" href="#result">
        Skip to the result
      </a>
      <Bar />
      {masthead}
      <main>
        {answer}
        {parts.some((part) => part.fold) ? <FoldBar /> : <Contents parts={parts} />}
        {parts.map((part) => (
          <section key={part.id} id={part.id} class={partClass(part)} aria-labelledby={`${part.id}-title`} tabIndex={-1}>
            <PartBody part={part} />
          </section>
        ))}
      </main>
      <footer class="colophon">
        <p>{colophon}</p>
      </footer>
    </>
  );
}

function partClass({ fold }: Part): string {
  if (!fold) return "part";
  return fold.onPaper ? "part folded" : "part folded off-paper";
}

function PartBody({ part: { id, title, body, fold } }: { part: Part }) {
  const heading = <h2 id={`${id}-title`}>{prose(title)}</h2>;
  if (!fold) {
    return (
      <>
        {heading}
        {body}
      </>
    );
  }
  return (
    <details class={fold.onPaper ? "fold on-paper" : "fold"}>
      <summary>
        {heading} <span class="quiet">{prose(fold.note)}</span>
      </summary>
      <div class="fold-body">{body}</div>
    </details>
  );
}

/** The list of parts, where they are all open. */
function Contents({ parts }: { parts: readonly Part[] }) {
  return (
    <nav class="contents" aria-label="Parts of the report">
      <ul>
        {parts.map(({ id, short }) => (
          <li key={id}>
            <a href={`#${id}`}>{short}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Above folded parts, whose headings are the list of parts. */
function FoldBar() {
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    foldAll(!isOpen);
    setOpen(!isOpen);
  };
  return (
    <p class="fold-bar">
      <span class="quiet">Details</span>
      <button type="button" onClick={toggle}>
        {isOpen ? "close all" : "open all"}
      </button>
    </p>
  );
}

interface RunFrameProps {
  manifest: Manifest;
  /** What was measured. */
  subject: string;
  answer: ComponentChildren;
  parts: readonly Part[];
}

/** The frame of a page that shows one run. */
export function RunFrame({ manifest, subject, answer, parts }: RunFrameProps) {
  const colophon = (
    <>
      Made by sysdyno {manifest.tool.version} ({manifest.tool.target}) from the run <code>{manifest.id}</code>. This
      page contains its record, needs no network, and sends no data.
    </>
  );
  const { started_unix_ns, ended_unix_ns } = manifest;
  const masthead = <Masthead subject={subject} started_unix_ns={started_unix_ns} ended_unix_ns={ended_unix_ns} />;
  return <Frame masthead={masthead} answer={answer} parts={parts} colophon={colophon} />;
}
