// The report of a host that was watched without a load: what was at its limit, how much of each resource was used, and by whom.

import { chosenDuration, percent } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { factsNote, filesNote, findingsNote, plural, verdictNote } from "../record/notes.ts";
import { prose } from "../record/text.ts";
import type { WatchPlan } from "../record/types.ts";
import { amountOf, nameOf, type HostSummary } from "../record/watched.ts";
import { Findings } from "./Findings.tsx";
import { folded, RunFrame, type Part } from "./Frame.tsx";
import { Machine } from "./Machine.tsx";
import { Rows, type Row } from "./Plan.tsx";
import { Again, Files } from "./Provenance.tsx";
import { Table } from "./Table.tsx";
import { Timeline } from "./Timeline.tsx";
import { Verdict } from "./Verdict.tsx";
import { Badge, Seconds } from "./words.tsx";

function partsOf(run: Run, plan: WatchPlan): Part[] {
  const { analysis, damage, facts, manifest } = run.payload;
  const { findings, watched, verdict } = analysis;
  const hasReasons = verdict.reasons.length > 0 || damage.length > 0;
  const parts: (Part | false)[] = [
    hasReasons && folded("verdict", "Validity", verdictNote(run), <Verdict run={run} />),
    findings.length > 0 && folded("findings", "Findings", findingsNote(run), <Findings run={run} />),
    { id: "timeline", short: "Timeline", title: "Timeline", body: <Timeline run={run} /> },
    watched !== undefined && watched.processes.length > 0 && folded("processes", "CPU by process", `${watched.processes.length} watched`, <Processes summary={watched} />, true),
    folded("machine", "Machine", factsNote(facts), <Machine facts={facts} />),
    folded("plan", "Plan", `every ${chosenDuration(plan.interval)}`, <Rows title="Watched" rows={planRows(plan)} />),
    folded("again", "Record again", "the command", <Again {...run.payload} seed={null} what="The same readings" />),
    folded("files", "Files", filesNote(manifest), <Files {...run.payload} />),
  ];
  return parts.filter((part) => part !== false);
}

export function WatchedReport({ run, plan }: { run: Run; plan: WatchPlan }) {
  const { manifest } = run.payload;
  return <RunFrame manifest={manifest} subject={plan.host ?? manifest.id} answer={<Answer run={run} />} parts={partsOf(run, plan)} />;
}

function Answer({ run }: { run: Run }) {
  const { analysis } = run.payload;
  const count = analysis.findings.length;
  return (
    <section id="result" class="answer" aria-labelledby="headline" tabIndex={-1}>
      <p class="verdict-line">
        <Badge status={analysis.verdict.status} /> <span class="quiet">watched; no load was sent</span>
      </p>
      <h1 id="headline">{prose(analysis.headline)}</h1>
      <div class="answers">
        <article class="card" aria-labelledby="limit-title">
          <h2 id="limit-title" class="eyebrow">
            Limits
          </h2>
          <p class="sentence">{prose(analysis.limit)}</p>
          {count > 0 && (
            <p class="quiet">
              Nobody knows whether requests waited for it. <a href="#findings">All {plural(count, "finding")}</a>
            </p>
          )}
        </article>
        {analysis.watched && <Levels run={run} summary={analysis.watched} />}
      </div>
    </section>
  );
}

function Levels({ run, summary }: { run: Run; summary: HostSummary }) {
  return (
    <article class="card" aria-labelledby="levels-title">
      <h2 id="levels-title" class="eyebrow">
        Resources
      </h2>
      <Table label="How much of each resource was used, on average and in the worst ten samples" heads={["resource", { number: "mean" }, { number: "worst" }, "when"]}>
        {summary.levels.map((level) => (
          <tr key={level.resource}>
            <th scope="row">{nameOf(level)}</th>
            <td class="number">{amountOf(level, level.mean)}</td>
            <td class="number">{amountOf(level, level.worst)}</td>
            <td>
              <Seconds run={run} begin={level.begin_mono_ns} end={level.end_mono_ns} />
            </td>
          </tr>
        ))}
      </Table>
    </article>
  );
}

function Processes({ summary }: { summary: HostSummary }) {
  return (
    <Table label="CPU by process, on average and in the worst ten samples" heads={["process", { number: "pid" }, { number: "mean" }, { number: "worst" }]}>
      {summary.processes.map(({ pid, command, role, mean_cpus, worst_cpus }) => (
        <tr key={pid}>
          <th scope="row">
            {command}
            {role === "target" && <span class="quiet"> server</span>}
          </th>
          <td class="number">{pid}</td>
          <td class="number">{percent(mean_cpus)}</td>
          <td class="number">{percent(worst_cpus)}</td>
        </tr>
      ))}
    </Table>
  );
}

function planRows({ interval, host, target, count }: WatchPlan): Row[] {
  const at = target === null ? null : "tcp" in target ? target.tcp : target.unix;
  const rows: (Row | false)[] = [
    ["host", host ?? "the measuring host"],
    ["interval", chosenDuration(interval)],
    count !== null && ["samples", String(count)],
    at !== null && ["server", at],
  ];
  return rows.filter((row) => row !== false);
}
