// What of the list of runs is wanted, and in which order.

import type { Choice } from "../../state/runs.ts";

type Options = readonly (readonly [value: string, label: string])[];

const VERDICTS: Options = [
  ["", "any verdict"],
  ["VALID", "VALID"],
  ["SUSPECT", "SUSPECT"],
  ["INVALID", "INVALID"],
  ["better", "better"],
  ["worse", "worse"],
  ["the same", "the same"],
  ["can't tell", "can’t tell"],
];

const KINDS: Options = [
  ["", "any command"],
  ["run", "run"],
  ["load", "load"],
  ["try", "try"],
  ["demo", "demo"],
  ["watch", "watch"],
  ["probe", "probe"],
];

const SORTS: Options = [
  ["", "newest first"],
  ["rate", "highest rate first"],
  ["p99", "lowest p99 first"],
  ["verdict", "worst verdict first"],
];

interface FiltersProps {
  choice: Choice;
  change: (change: Partial<Choice>) => void;
}

export function Filters({ choice, change }: FiltersProps) {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Search</span>
        <input type="search" value={choice.text} placeholder="name, URL, note, bottleneck" onInput={(event) => change({ text: event.currentTarget.value })} />
      </label>
      {choice.tag !== "" && (
        <button type="button" class="tag tag-chosen" onClick={() => change({ tag: "" })}>
          <span class="hidden">Show runs without the tag, too: </span>
          {choice.tag} <span aria-hidden="true">✕</span>
        </button>
      )}
      <Select label="Verdict" options={VERDICTS} value={choice.verdict} set={(verdict) => change({ verdict })} />
      <Select label="Command" options={KINDS} value={choice.kind} set={(kind) => change({ kind })} />
      <Select label="Order" options={SORTS} value={choice.sort} set={(sort) => change({ sort })} />
    </form>
  );
}

function Select({ label, options, value, set }: { label: string; options: Options; value: string; set: (value: string) => void }) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([each, name]) => (
          <option value={each} key={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
