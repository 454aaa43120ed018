// The flame graph: callers above, what they call below, as wide as their share. A click zooms; arrows walk, / searches, Escape goes back.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { percent } from "../../number.ts";
import { differenceTree, type FlameNode, flameTree, matching, type Profile } from "../../record/profile.ts";
import { FlameBoxes } from "./FlameBoxes.tsx";
import { Details, Legend } from "./FlameDetails.tsx";

interface FlameGraphProps {
  profile: Profile;
  /** A profile of the same kind; colors then tell what differs from it per response. */
  before?: Profile | undefined;
  programs: readonly { name: string; ratio: number }[];
  /** The program that is shown at first; all without one. */
  first?: string | undefined;
}

export function FlameGraph({ profile, before, programs, first }: FlameGraphProps) {
  const [program, setProgram] = useState<string | null>(first ?? null);
  const [search, setSearch] = useState("");
  const root = useMemo(() => (before ? differenceTree(profile, before, program) : flameTree(profile, program)), [profile, before, program]);
  const [zoomed, setZoomed] = useState<FlameNode | null>(null);
  const [pointed, setPointed] = useState<FlameNode | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const top = zoomed && rootOf(zoomed) === root ? zoomed : root;
  const wanted = search.trim().toLowerCase();

  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);

  return (
    <div class="flame">
      <div class="flame-tools">
        <label>
          Program{" "}
          <select value={program ?? ""} onChange={(event) => setProgram(event.currentTarget.value || null)}>
            <option value="">all</option>
            {programs.map(({ name, ratio }) => (
              <option key={name} value={name}>
                {name} ({percent(ratio)})
              </option>
            ))}
          </select>
        </label>
        <label>
          Search{" "}
          <input
            ref={input}
            type="search"
            value={search}
            spellcheck={false}
            placeholder="function or file"
            onInput={(event) => setSearch(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setSearch("")}
          />
        </label>
        <button type="button" disabled={top === root} onClick={() => setZoomed(null)}>
          Reset zoom
        </button>
      </div>
      <p class="flame-found" role="status">
        {wanted !== "" && `${percent(matching(root, wanted) / Math.max(root.value, 1))} of the stacks contain “${search.trim()}”`}
      </p>
      <Legend isDifference={before !== undefined} />
      <FlameBoxes key={program ?? ""} root={root} top={top} wanted={wanted} isDifference={before !== undefined} zoom={setZoomed} point={setPointed} />
      <Details node={pointed && rootOf(pointed) === root ? pointed : top} root={root} profile={profile} isDifference={before !== undefined} />
    </div>
  );
}

function rootOf(node: FlameNode): FlameNode {
  let top = node;
  while (top.parent) top = top.parent;
  return top;
}
