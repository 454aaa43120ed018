// Runs as rows: what came of each, and what can be done with it.

import { duration, MISSING, rate } from "../../number.ts";
import { WORDS } from "../../record/effect.ts";
import { foundOf, stateOf, wallClock, type RunRow } from "../../record/served.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";
import { Badge } from "../words.tsx";

interface RunsTableProps {
  runs: readonly RunRow[];
  chosen: readonly string[];
  choose: (name: string, isChosen: boolean) => void;
  /** Shows only runs with this tag. */
  pick: (tag: string) => void;
}

const HEADS = ["run", "started", "verdict", { number: "rate" }, { number: "p99" }, "bottleneck or problem", "compare"];

export function RunsTable({ runs, chosen, choose, pick }: RunsTableProps) {
  if (runs.length === 0) return null;
  return (
    <Table label="List of runs" heads={HEADS} class="runs" stacks>
      {runs.map((run) => (
        <tr key={run.name}>
          <th scope="row">
            <a href={`/runs/${encodeURIComponent(run.name)}`}>{run.name}</a>
            {run.url !== null && <span class="target">{run.url}</span>}
            <Label run={run} pick={pick} />
          </th>
          <td class="started">{wallClock(Number(run.started_unix_ns) / 1e6)}</td>
          <td>
            <State run={run} />
          </td>
          <td class="number">{run.answer?.rate_hz == null ? MISSING : rate(run.answer.rate_hz)}</td>
          <td class="number">{run.answer?.p99_ns == null ? MISSING : duration(run.answer.p99_ns)}</td>
          <td class="found">{prose(foundOf(run))}</td>
          <td>
            <label class="choose">
              <input type="checkbox" checked={chosen.includes(run.name)} onChange={(event) => choose(run.name, event.currentTarget.checked)} />
              <span class="hidden">compare {run.name}</span>
            </label>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Label({ run, pick }: { run: RunRow; pick: (tag: string) => void }) {
  const { tags, note } = run.label;
  if (tags.length === 0 && note === "") return null;
  return (
    <span class="label">
      {tags.map((tag) => (
        <button type="button" class="tag" key={tag} title={`Only runs with the tag ${tag}`} onClick={() => pick(tag)}>
          {tag}
        </button>
      ))}
      {note !== "" && <span class="note">{note}</span>}
    </span>
  );
}

function State({ run }: { run: RunRow }) {
  const { answer } = run;
  if (run.status !== "running" && answer?.verdict) return <Badge status={answer.verdict} />;
  if (run.status !== "running" && answer?.word) {
    const { shape, text } = WORDS[answer.word];
    return (
      <span class="badge badge-remark">
        <span aria-hidden="true">{shape}</span> {text}
      </span>
    );
  }
  const state = stateOf(run);
  return <span class={state === "running" ? "badge badge-running" : "badge badge-remark"}>{state}</span>;
}

