// The report of an autotune: what was gained by what, then the story step by step.

import { changesOf, ENDINGS, type AutotunePayload, type Candidate } from "../../record/autotune.ts";
import { effectText } from "../../record/effect.ts";
import { plural } from "../../record/notes.ts";
import { prose } from "../../record/text.ts";
import { rate, span } from "../../number.ts";
import { folded, Frame, type Part } from "../Frame.tsx";
import { Story } from "./Story.tsx";
import { Tried } from "./Tried.tsx";

function partsOf({ conclusion, steps }: AutotunePayload): Part[] {
  const { tried, not_allowed } = conclusion;
  const parts: (Part | false)[] = [
    { id: "tried", title: "Everything that was tried", short: "Tried", body: <Tried tried={tried} /> },
    { id: "story", title: "The way there, step by step", short: "Story", body: <Story steps={steps} /> },
    not_allowed.length > 0 && { id: "not-allowed", title: "Not tried, because it was not allowed", short: "Not allowed", body: <NotAllowed candidates={not_allowed} /> },
    folded("method", "Method", "how it was judged", <Method />),
  ];
  return parts.filter((part) => part !== false);
}

export function AutotuneReport({ payload }: { payload: AutotunePayload }) {
  const masthead = (
    <header class="masthead">
      <p class="wordmark">sysdyno</p>
      <p class="subject" title={payload.url}>
        {payload.url}
      </p>
      <p class="when">
        {plural(payload.conclusion.steps_count, "step")} · {span(payload.conclusion.elapsed_ns / 1e9)}
      </p>
    </header>
  );
  const colophon = (
    <>
      Made by sysdyno autotune from <code>{payload.folder}</code>. This page is self-contained: it needs no network and sends no data.
    </>
  );
  return <Frame masthead={masthead} answer={<Answer payload={payload} />} parts={partsOf(payload)} colophon={colophon} />;
}

function Answer({ payload: { conclusion } }: { payload: AutotunePayload }) {
  const { before, outcome, kept } = conclusion;
  return (
    <section id="result" class="answer" aria-labelledby="headline" tabIndex={-1}>
      <p class="verdict-line">
        <Badge isProven={conclusion.is_proven} isKept={kept.length > 0} />
      </p>
      <h1 id="headline">{prose(conclusion.headline)}</h1>
      {before !== null && outcome !== null && (
        <p class="sentence">
          {rate(before)} → {rate(before * outcome.point)}, {effectText(outcome)} by trials at the end.
        </p>
      )}
      <article class="card" aria-labelledby="kept-title">
        <h2 id="kept-title" class="eyebrow">
          Kept
        </h2>
        {kept.length === 0 ? <p>Nothing: the server is as it was found.</p> : <Changes candidates={kept} />}
        {conclusion.given_up.map((text) => (
          <p key={text}>
            <span class="warned">▲ given up:</span> {prose(text)}
          </p>
        ))}
        <p class="quiet">{stateOf(conclusion)}</p>
      </article>
      <Bottlenecks bottlenecks={conclusion.bottlenecks} />
    </section>
  );
}

function stateOf({ kept, is_in_force, ending }: AutotunePayload["conclusion"]): string {
  const end = `It ended because ${ENDINGS[ending]}.`;
  if (kept.length === 0) return `Each change was undone after its trial. ${end}`;
  if (is_in_force) return `These changes are in force. ${end}`;
  return `Everything is undone. The file keep.sh in the folder makes these changes last. ${end}`;
}

function Badge({ isProven, isKept }: { isProven: boolean; isKept: boolean }) {
  if (isProven) return <span class="badge badge-valid">▲ BETTER</span>;
  return <span class="badge badge-suspect">{isKept ? "? NOT PROVEN" : "= AS IT WAS"}</span>;
}

function Bottlenecks({ bottlenecks: [first, last] }: { bottlenecks: readonly [string | null, string | null] }) {
  if (first === null && last === null) return null;
  return (
    <>
      <p class="sentence">
        <strong>Bottleneck at first:</strong> {first === null ? "none was certain" : prose(first)}.
      </p>
      <p class="sentence">
        <strong>Bottleneck at last:</strong> {last === null ? "none was certain" : prose(last)}.
      </p>
    </>
  );
}

function Changes({ candidates }: { candidates: readonly Candidate[] }) {
  return (
    <ul>
      {candidates.map((candidate) => (
        <li key={candidate.title}>
          <strong>{prose(candidate.title)}</strong>
          {changesOf(candidate).map((text) => (
            <div key={text}>
              <code>{text}</code>
            </div>
          ))}
        </li>
      ))}
    </ul>
  );
}

function NotAllowed({ candidates }: { candidates: readonly Candidate[] }) {
  return (
    <ul>
      {candidates.map((candidate) => (
        <li key={candidate.title}>
          {prose(candidate.title)}: {prose(candidate.reason)}. It needs <code>--allow-change {candidate.needs.join(",")}</code>.
        </li>
      ))}
    </ul>
  );
}

function Method() {
  return (
    <ul class="measure">
      <li>In each round, the changes that fit what was seen are compared with the server as it is by then, in blocks in which each ran once.</li>
      <li>The best of several looks better than it is. So it is measured again, in trials of which nothing was chosen, and only these decide.</li>
      <li>In round r, a change is kept if the probability of such an effect by chance is at most 0.05 × 6 ÷ (π r)², which sums to 0.05 over all rounds.</li>
      <li>Afterwards, each kept change is left out once. One without which the server does as well is taken back.</li>
      <li>The last comparison is all that is kept against the server as it was found, in fresh trials.</li>
    </ul>
  );
}
