// The first screen: the verdict sentence; then how much the server takes, what stops it, what to do about it, and whether to
// believe it.

import { duration, percent, rate, significant } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { prose } from "../record/text.ts";
import type { Finding, FindingProof, Headroom, VerdictStatus } from "../record/types.ts";
import { Checks } from "./Checks.tsx";
import { Figure } from "./Figure.tsx";
import { Trust } from "./Trust.tsx";
import { Badge, ConfidenceMark, EvidenceSeconds, ROLES } from "./words.tsx";

/** Pieces of evidence on the first screen; all of them stand further below. */
const EVIDENCE_MAX = 2;

const MEANINGS: Record<VerdictStatus, string> = {
  VALID: "nothing casts doubt on these numbers",
  SUSPECT: "these numbers may be skewed",
  INVALID: "these numbers are not the server’s",
};

export function Answer({ run }: { run: Run }) {
  const { analysis, capacity } = run.payload;
  const finding = analysis.findings.find((each) => each.confidence !== "excluded");
  return (
    <section id="result" class="answer" aria-labelledby="headline" tabIndex={-1}>
      <p class="verdict-line">
        <Badge status={analysis.verdict.status} />{" "}
        <span class="quiet">
          {MEANINGS[analysis.verdict.status]}
          {analysis.verdict.status !== "VALID" && (
            <>
              : <a href="#trust">why</a>
            </>
          )}
        </span>
      </p>
      <h1 id="headline">{prose(analysis.headline)}</h1>
      {analysis.headroom && <Traffic headroom={analysis.headroom} />}
      <Checks run={run} />
      <div class="answers">
        {capacity.claim === "not_sought" ? <Measured run={run} /> : <Figure run={run} />}
        {analysis.limit !== "" && <Limit run={run} finding={finding} />}
        {finding?.remedy && <Remedy run={run} finding={finding} remedy={finding.remedy} />}
        <Trust run={run} />
      </div>
    </section>
  );
}

/** The capacity in times of real traffic, that of the busiest minute first. */
function Traffic({ headroom }: { headroom: Headroom }) {
  const { need } = headroom;
  const parts: [string, number | null, number | null][] = [
    ["minute", headroom.minute_ratio, need.minute_hz],
    ["hour", headroom.hour_ratio, need.hour_hz],
    ["second", headroom.second_ratio, need.second_hz],
  ];
  const known = parts.filter(([, times]) => times !== null);
  const file = need.file.split("/").pop() ?? need.file;
  return (
    <p class="sentence">
      Headroom: {headroom.is_lower_bound && "at least "}
      {known.map(([name, times, hz], position) => (
        <span key={name}>
          {position > 0 && ", "}
          <b>{significant(times ?? 0, 2)} ×</b> the busiest {name} ({rate(hz ?? 0)})
        </span>
      ))}{" "}
      of <code>{file}</code>.
    </p>
  );
}

function Limit({ run, finding }: { run: Run; finding: Finding | undefined }) {
  const evidence = finding?.evidence.filter((each) => each.role !== "against") ?? [];
  return (
    <article class="card" aria-labelledby="limit-title">
      <h2 id="limit-title" class="eyebrow">
        Bottleneck {finding && <ConfidenceMark confidence={finding.confidence} />}
      </h2>
      <p class="sentence">{prose(run.payload.analysis.limit)}</p>
      {evidence.length > 0 && (
        <ul class="evidence-short">
          {evidence.slice(0, EVIDENCE_MAX).map((each, position) => (
            <li key={position}>
              <span class="role">{ROLES[each.role]}</span>
              <span class="text">{prose(each.text)}</span>
              <EvidenceSeconds run={run} evidence={each} />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function Remedy({ run, finding, remedy }: { run: Run; finding: Finding; remedy: string }) {
  const isProof = ({ finding: id, outcome }: FindingProof) => id === finding.id && outcome === "confirmed";
  const proof = run.payload.analysis.proofs?.find(isProof);
  return (
    <article class="card" aria-labelledby="remedy-title">
      <h2 id="remedy-title" class="eyebrow">
        Remedy
      </h2>
      <p class="sentence">{prose(remedy.charAt(0).toUpperCase() + remedy.slice(1))}</p>
      {proof !== undefined && (
        <p>
          Tried and undone: <code>{proof.tried}</code>
        </p>
      )}
      <p class="quiet">
        {finding.confidence === "confirmed" ? "Its effect was measured" : "Its effect has not been measured"}: see{" "}
        {proof === undefined ? <a href="#findings">how this was concluded</a> : <a href="#proofs">what was tried</a>}.
      </p>
    </article>
  );
}

/** Where no capacity was looked for: the rate of valid completions, its tail, and the errors. */
function Measured({ run }: { run: Run }) {
  const { analysis, plan } = run.payload;
  const open = analysis.rates.offered_hz !== null;
  const latency = open ? analysis.response_time_ns : analysis.service_time_ns;
  const errors = analysis.counts.sent > 0 ? (analysis.counts.failed + analysis.counts.timed_out) / analysis.counts.sent : null;
  const isBound = latency.p99 !== null && latency.censored_min_ns !== null && latency.p99 >= latency.censored_min_ns;
  return (
    <article class="card" aria-labelledby="measured-title">
      <h2 id="measured-title" class="eyebrow">
        Measured
      </h2>
      <dl class="figures">
        <div>
          <dt>goodput</dt>
          <dd>{rate(analysis.rates.goodput_hz)}</dd>
        </div>
        <div>
          <dt>p99 of {open ? "response" : "service"} time</dt>
          <dd>
            {isBound && "≥ "}
            {latency.p99 === null ? "–" : duration(latency.p99)}
          </dd>
        </div>
        <div>
          <dt>failed or timed out</dt>
          <dd>{errors === null ? "–" : percent(errors)}</dd>
        </div>
      </dl>
      {(plan === null || !("run" in plan)) && <p class="quiet">One load; no capacity was looked for.</p>}
    </article>
  );
}
