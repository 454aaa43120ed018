// A table: what it is called, its headings, and its rows as children. It scrolls within itself, so that the page never does.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** The heading of a column; numbers are set to the right. */
export type Head = string | { number: string };

interface TableProps {
  label: string;
  heads: readonly Head[];
  class?: string;
  /** Whether its cells stand below each other, each with its heading, where they have no room beside each other. */
  stacks?: boolean;
  children: ComponentChildren;
}

/** More columns than this do not fit a sheet of paper. */
const WIDE = 6;

const name = (head: Head) => (typeof head === "string" ? head : head.number);

export function Table({ label, heads, class: kind, stacks, children }: TableProps) {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    if (!stacks) return;
    for (const row of table.current?.tBodies[0]?.rows ?? []) {
      [...row.cells].forEach((cell, position) => {
        const head = heads[position];
        if (head !== undefined) cell.dataset.head = name(head);
      });
    }
  });
  return (
    <div class={`scroll${stacks ? " stacks" : ""}${heads.length > WIDE ? " wide" : ""}`} role="region" aria-label={label} tabIndex={0}>
      <table class={kind} ref={table}>
        <thead>
          <tr>
            {heads.map((head, position) => (
              <th scope="col" class={typeof head === "string" ? undefined : "number"} key={position}>
                {name(head)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Headings of numbers. */
export const numbers = (heads: readonly string[]): Head[] => heads.map((number) => ({ number }));
