// A table: what it is called, its headings, and its rows as children. It scrolls within itself, so that the page never does.

import type { ComponentChildren } from "preact";

/** The heading of a column; numbers are set to the right. */
export type Head = string | { number: string };

interface TableProps {
  label: string;
  heads: readonly Head[];
  class?: string;
  children: ComponentChildren;
}

export function Table({ label, heads, class: kind, children }: TableProps) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table class={kind}>
        <thead>
          <tr>
            {heads.map((head, position) => (
              <th scope="col" class={typeof head === "string" ? undefined : "number"} key={position}>
                {typeof head === "string" ? head : head.number}
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
