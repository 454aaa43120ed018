// What every report has around its parts: a link past the head, what was measured and when, the list of parts, the end.

import type { ComponentChildren } from "preact";
import { prose } from "../record/text.ts";
import type { Manifest } from "../record/types.ts";
import { Masthead } from "./Masthead.tsx";
import { Bar } from "./serve/Bar.tsx";

export interface Part {
  id: string;
  /** Its name in the list of parts. */
  short: string;
  title: string;
  body: ComponentChildren;
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
        <nav class="contents" aria-label="Parts of the report">
          <ul>
            {parts.map(({ id, short }) => (
              <li key={id}>
                <a href={`#${id}`}>{short}</a>
              </li>
            ))}
          </ul>
        </nav>
        {parts.map(({ id, title, body }) => (
          <section key={id} id={id} class="part" aria-labelledby={`${id}-title`} tabIndex={-1}>
            <h2 id={`${id}-title`}>{prose(title)}</h2>
            {body}
          </section>
        ))}
      </main>
      <footer class="colophon">
        <p>{colophon}</p>
      </footer>
    </>
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
  const masthead = <Masthead manifest={manifest} subject={subject} />;
  return <Frame masthead={masthead} answer={answer} parts={parts} colophon={colophon} />;
}
