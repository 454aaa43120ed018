// The report of a squeeze: what limits the server, what the loss of a little of each resource costs, and what the sum says.

import { loadOfTryout } from "../../record/tryout.ts";
import { factsNote, filesNote, plural } from "../../record/notes.ts";
import { isOfServerRate, type SqueezePayload } from "../../record/squeeze.ts";
import { prose } from "../../record/text.ts";
import { folded, RunFrame, type Part } from "../Frame.tsx";
import { Machine } from "../Machine.tsx";
import { Again, Files } from "../Provenance.tsx";
import { Resources } from "./Resources.tsx";
import { SqueezePairs } from "./SqueezePairs.tsx";
import { SqueezeMethod } from "./SqueezeMethod.tsx";
import { Thresholds } from "./Thresholds.tsx";

function partsOf(payload: SqueezePayload): Part[] {
  const { conclusion, damage, facts, found, plan } = payload;
  const warnings = conclusion.diagnostics.filter(({ is_warning }) => is_warning).length + damage.length;
  const thresholds = found?.thresholds ?? [];
  const reached = thresholds.filter(({ is_reached }) => is_reached).length;
  const note = warnings === 0 ? "nothing speaks against it" : plural(warnings, "warning");
  const parts: (Part | false)[] = [
    folded("depths", "Every depth, and the proof that it bit", plural(conclusion.rows.length, "resource"), <Resources conclusion={conclusion} isWhole />, true),
    thresholds.length > 0 && folded("thresholds", "Resources that are no rates", reached === 0 ? "all have room" : `${reached} used up`, <Thresholds thresholds={thresholds} />, true),
    folded("trust", "Checks of the method", note, <Checks payload={payload} />),
    folded("pairs", "Pairs", plural(conclusion.pairs.length, "pair"), <SqueezePairs payload={payload} />),
    folded("machine", "Machine", factsNote(facts), <Machine facts={facts} />),
    found !== null && folded("method", "Method", "how it was judged", <SqueezeMethod payload={payload} />),
    folded("again", "Run it again", "the command", <Again {...payload} seed={plan?.tryout.seed ?? null} what="The same loads in the same order" />),
    folded("files", "Files", filesNote(payload.manifest), <Files {...payload} />),
  ];
  return parts.filter((part) => part !== false);
}

function Checks({ payload: { conclusion, damage, found } }: { payload: SqueezePayload }) {
  const ordered = [...conclusion.diagnostics].sort((one, other) => Number(other.is_warning) - Number(one.is_warning));
  return (
    <>
      <ul class="reasons-short">
        {ordered.map(({ is_warning, sentence }, position) => (
          <li key={position}>
            <span class={is_warning ? "warned" : undefined}>{is_warning ? "▲ warning:" : "✔"}</span> {prose(sentence)}
          </li>
        ))}
        {damage.map((text) => (
          <li key={text}>
            <span class="warned">▲ missing from the record:</span> {text}
          </li>
        ))}
      </ul>
      {(found?.left_out.length ?? 0) > 0 && (
        <>
          <h3>Left out</h3>
          <ul>
            {found?.left_out.map(({ name, reason }, position) => (
              <li key={position}>
                {name}: {prose(reason)}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Answer({ payload: { conclusion } }: { payload: SqueezePayload }) {
  const first = conclusion.rows.find(({ kind }) => isOfServerRate(kind));
  const gain = conclusion.void.length === 0 ? (first?.gain_at_most_ratio ?? null) : null;
  return (
    <section id="result" class="answer" aria-labelledby="headline" tabIndex={-1}>
      <p class="verdict-line">
        <span class={`badge ${conclusion.void.length > 0 ? "badge-invalid" : "badge-valid"}`}>{conclusion.void.length > 0 ? "✘ VOID" : "SQUEEZE"}</span>
      </p>
      <h1 id="headline">{prose(conclusion.headline)}</h1>
      {conclusion.sum && <p class="sentence">{prose(sentenceCase(conclusion.sum.sentence))}.</p>}
      <article class="card effects" aria-labelledby="resources-title">
        <h2 id="resources-title" class="eyebrow">
          Less of each resource
        </h2>
        <Resources conclusion={conclusion} />
        {first && gain !== null && (
          <p class="quiet">
            10% more {first.kind === "cpu" ? "" : "of "}
            {first.name} helps by at most {(gain * 100).toFixed(1)}%: an upper bound, not a forecast.
          </p>
        )}
      </article>
    </section>
  );
}

const sentenceCase = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export function SqueezeReport({ payload }: { payload: SqueezePayload }) {
  const subject = loadOfTryout(payload.plan?.tryout ?? null)?.target.url ?? "";
  return <RunFrame manifest={payload.manifest} subject={subject} answer={<Answer payload={payload} />} parts={partsOf(payload)} />;
}
