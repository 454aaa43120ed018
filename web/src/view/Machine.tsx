// The facts of the host as a table that can be filtered; those that could not be read are apart.

import { useState } from "preact/hooks";
import { bytes, significant } from "../number.ts";
import type { Fact } from "../record/types.ts";
import { Table } from "./Table.tsx";

/** Facts that are shown before more are asked for: a host has several hundred. */
const MOST = 80;

export function Machine({ facts: recorded }: { facts: { facts: Record<string, Fact> } | null }) {
  const [wanted, setWanted] = useState("");
  const [isWhole, setWhole] = useState(false);
  const facts = Object.entries(recorded?.facts ?? {});
  if (facts.length === 0) return <p class="quiet">The record holds no facts of the host.</p>;
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = facts.filter(([name, fact]) => {
    const text = `${name} ${textOf(name, fact)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const known = found.filter(([, fact]) => !("unavailable" in fact));
  const missing = found.filter(([, fact]) => "unavailable" in fact);
  const shown = isWhole ? known : known.slice(0, MOST);
  return (
    <>
      <p class="filter">
        <label for="fact-filter">Filter facts</label>
        <input
          id="fact-filter"
          type="search"
          autocomplete="off"
          placeholder="cpu, sysctl, eth0 …"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <span class="quiet" role="status">
          {found.length} of {facts.length}
        </span>
      </p>
      <Facts label="Facts of the machine" facts={shown} />
      {shown.length < known.length && (
        <p class="more-facts">
          <button type="button" onClick={() => setWhole(true)}>
            show the other {known.length - shown.length}
          </button>
        </p>
      )}
      {missing.length > 0 && (
        <details>
          <summary>Not available, and why ({missing.length})</summary>
          <Facts label="Facts that could not be read" facts={missing} />
        </details>
      )}
    </>
  );
}

function Facts({ label, facts }: { label: string; facts: [string, Fact][] }) {
  return (
    <Table label={label} class="facts" heads={["fact", "value"]}>
      {facts.map(([name, fact]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{textOf(name, fact)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Units by the last word of a fact's name; other numbers stand as they are. */
const UNITS: [suffix: string, write: (value: number) => string][] = [
  ["_bytes", (value) => (value < 65_536 ? `${value} B` : bytes(value))],
  ["_mbps", (value) => `${value} Mbit/s`],
  ["_khz", (value) => `${significant(value / 1e6, 4)} GHz`],
  ["_hz", (value) => `${value} Hz`],
  ["_us", (value) => `${value} µs`],
  ["_ms", (value) => `${value} ms`],
];

export function textOf(name: string, fact: Fact): string {
  if ("text" in fact) return fact.text;
  if ("unavailable" in fact) return `not available: ${fact.unavailable}`;
  if (fact.number === null) return "–";
  const unit = UNITS.find(([suffix]) => name.endsWith(suffix));
  return unit ? unit[1](fact.number) : String(fact.number);
}
