// The list of runs: searched, filtered, sorted, and brought up to date while it is looked at.

import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../../number.ts";
import type { RunsPage } from "../../record/served.ts";
import { choiceOf, fetchRuns, PAGE_RUNS, queryOf, type Choice } from "../../state/runs.ts";
import { Control } from "./Control.tsx";
import { Experiments } from "./Experiments.tsx";
import { Filters } from "./Filters.tsx";
import { Fleet } from "./Fleet.tsx";
import { Labs } from "./Labs.tsx";
import { RunsTable } from "./RunsTable.tsx";

/** Between two looks at the list. Unit: milliseconds. */
const LOOK_MS = 3_000;

/** After the last key, before the server is asked. Unit: milliseconds. */
const TYPING_MS = 150;

export function Home({ initial }: { initial: RunsPage }) {
  const [page, setPage] = useState(initial);
  const [choice, setChoice] = useState<Choice>(() => choiceOf(location.search));
  const [isLost, setLost] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const isFirst = useRef(true);

  useEffect(() => {
    const abort = new AbortController();
    const ask = () => {
      if (document.hidden) return;
      fetchRuns(choice, abort.signal).then(
        (found) => {
          setPage(found);
          setLost(false);
        },
        () => setLost(!abort.signal.aborted),
      );
    };
    // The page came with its first list.
    const soon = isFirst.current ? undefined : setTimeout(ask, TYPING_MS);
    isFirst.current = false;
    const later = setInterval(ask, LOOK_MS);
    const query = queryOf(choice);
    history.replaceState(null, "", query ? `/?${query}` : "/");
    return () => {
      abort.abort();
      clearTimeout(soon);
      clearInterval(later);
    };
  }, [choice]);

  const choose = (name: string, isChosen: boolean) => setChosen(isChosen ? [...chosen, name] : chosen.filter((each) => each !== name));
  return (
    <>
      <a class="skip" href="#runs">
        Skip to the runs
      </a>
      <header class="masthead">
        <p class="wordmark">sysdyno</p>
        <p class="subject">{page.folder}</p>
        <p class="when">served on this host only</p>
      </header>
      <main>
        {initial.key !== undefined && <Control access={initial.key} />}
        <section class="answer home" aria-labelledby="headline">
          <h1 id="headline">Runs</h1>
          <Filters choice={choice} change={(change) => setChoice({ ...choice, offset: 0, ...change })} />
          <p class="quiet" role="status">
            {isLost ? "The server does not answer. Start it again with sysdyno serve." : said(page)}
          </p>
          <Actions chosen={chosen} choice={choice} />
          <div id="runs">
            <RunsTable runs={page.runs} chosen={chosen} choose={choose} pick={(tag) => setChoice({ ...choice, offset: 0, tag })} />
          </div>
          <Pager page={page} turn={(offset) => setChoice({ ...choice, offset })} />
        </section>
        {page.experiments.length > 0 && <Experiments experiments={page.experiments} />}
        <Labs />
        <Fleet />
      </main>
    </>
  );
}

function said(page: RunsPage): string {
  const { total_count, left_count, unreadable_count } = page;
  const found = total_count === 0 ? "No runs." : `${count(total_count)} ${total_count === 1 ? "run" : "runs"}.`;
  const left = left_count > 0 ? ` ${count(left_count)} more are being read.` : "";
  const unreadable = unreadable_count > 0 ? ` ${count(unreadable_count)} ${unreadable_count === 1 ? "folder is" : "folders are"} not a readable run.` : "";
  return found + left + unreadable;
}

function Actions({ chosen, choice }: { chosen: readonly string[]; choice: Choice }) {
  const query = queryOf({ ...choice, offset: 0, sort: "" });
  // Names begin with the time: the older run is the baseline.
  const compared = [...chosen].sort().map((name) => `run=${encodeURIComponent(name)}`);
  return (
    <p class="actions">
      {chosen.length < 2 ? <span class="quiet">Select two runs to compare them.</span> : <a href={`/compare?${compared.join("&")}`}>Compare {chosen.length} runs</a>}{" "}
      <a href={query ? `/trend?${query}` : "/trend"}>Trend of these runs</a>
    </p>
  );
}

function Pager({ page, turn }: { page: RunsPage; turn: (offset: number) => void }) {
  const end = page.offset + page.runs.length;
  if (page.offset === 0 && end >= page.total_count) return null;
  return (
    <p class="actions">
      <button type="button" disabled={page.offset === 0} onClick={() => turn(Math.max(0, page.offset - PAGE_RUNS))}>
        Previous
      </button>{" "}
      <button type="button" disabled={end >= page.total_count} onClick={() => turn(end)}>
        Next
      </button>{" "}
      <span class="quiet">
        {count(page.offset + 1)}–{count(end)} of {count(page.total_count)}
      </span>
    </p>
  );
}
