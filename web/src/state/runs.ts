// Which runs the reader wants to see, in the page's URL and in what the server is asked for.

import { parseRecord } from "../record/text.ts";
import type { RunsPage } from "../record/served.ts";

/** Runs on one page. */
export const PAGE_RUNS = 100;

export interface Choice {
  /** Words that a run must have. */
  text: string;
  /** A verdict, or the word of a comparison; empty: any. */
  verdict: string;
  kind: string;
  /** A tag; empty: any, or none. */
  tag: string;
  /** Empty: the newest first. */
  sort: string;
  offset: number;
}

/** What a URL asks for. */
export function choiceOf(search: string): Choice {
  const words = new URLSearchParams(search);
  const word = (name: string) => words.get(name) ?? "";
  const offset = Number.parseInt(word("offset"), 10);
  return { text: word("text"), verdict: word("verdict"), kind: word("kind"), tag: word("tag"), sort: word("sort"), offset: offset > 0 ? offset : 0 };
}

/** The same as the query of a URL; what is not asked for is left out. */
export function queryOf(choice: Choice): string {
  const words = Object.entries(choice).filter(([, value]) => value !== "" && value !== 0);
  return new URLSearchParams(words.map(([name, value]) => [name, String(value)])).toString();
}

export async function fetchRuns(choice: Choice, signal: AbortSignal): Promise<RunsPage> {
  const response = await fetch(`/list?limit=${PAGE_RUNS}&${queryOf(choice)}`, { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return parseRecord(await response.text()) as RunsPage;
}
