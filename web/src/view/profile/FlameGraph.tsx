// The flame graph: callers above, what they call below, as wide as their share. A click zooms; arrows walk, / searches, Escape goes back.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { percent } from "../../number.ts";
import { byProgram, differenceTree, type FlameNode, flameTree, type Grouping, groupsOf, matching, type Profile } from "../../record/profile.ts";
import { FlameBoxes } from "./FlameBoxes.tsx";
import { Details, Legend } from "./FlameDetails.tsx";

interface FlameGraphProps {
  profile: Profile;
  /** A profile of the same kind; colors then tell what differs from it per response. */
  before?: Profile | undefined;
  /** Puts stacks under tiers; without it, under programs only. */
  tiers?: Grouping | null | undefined;
  /** Programs of which the largest is shown at first; without it, all are. */
  first?: ReadonlySet<string> | undefined;
}

export function FlameGraph({ profile, before, tiers, first }: FlameGraphProps) {
  const [isByTier, setIsByTier] = useState(tiers != null);
  const grouping = isByTier && tiers ? tiers : byProgram;
  const groups = useMemo(() => groupsOf(profile, grouping), [profile, grouping]);
  const [chosen, setChosen] = useState<string | null>(tiers ? null : (groups.find(({ name }) => first?.has(name))?.name ?? null));
  const [search, setSearch] = useState("");
  const root = useMemo(() => (before ? differenceTree(profile, before, chosen, grouping) : flameTree(profile, chosen, grouping)), [profile, before, chosen, grouping]);
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
        {tiers && (
          <label>
            By{" "}
            <select value={isByTier ? "tier" : "program"} onChange={(event) => [setIsByTier(event.currentTarget.value === "tier"), setChosen(null)]}>
              <option value="tier">tier</option>
              <option value="program">program</option>
            </select>
          </label>
        )}
        <label>
          {isByTier ? "Tier" : "Program"}{" "}
          <select value={chosen ?? ""} onChange={(event) => setChosen(event.currentTarget.value || null)}>
            <option value="">all</option>
            {groups.map(({ name, ratio }) => (
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
      <FlameBoxes key={`${isByTier} ${chosen ?? ""}`} root={root} top={top} wanted={wanted} isDifference={before !== undefined} zoom={setZoomed} point={setPointed} />
      <Details node={pointed && rootOf(pointed) === root ? pointed : top} root={root} profile={profile} isDifference={before !== undefined} />
    </div>
  );
}

function rootOf(node: FlameNode): FlameNode {
  let top = node;
  while (top.parent) top = top.parent;
  return top;
}
