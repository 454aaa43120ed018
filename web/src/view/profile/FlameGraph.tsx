// The flame graph: callers above, what they call below, as wide as their share. A click zooms; arrows walk, / searches, Escape goes back.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../chart/size.ts";
import { count, duration, percent } from "../../number.ts";
import { type FlameBox, type FlameNode, flameBoxes, flameTree, isMatch, matching, type Profile } from "../../record/profile.ts";
import { KINDS } from "./words.ts";

/** Height of a row, the narrowest frame that is drawn, and from which width its name is written. Unit: CSS pixels. */
const ROW = 22;
const NARROWEST = 1.5;
const NAMED = 24;

interface FlameGraphProps {
  profile: Profile;
  programs: readonly { name: string; ratio: number }[];
}

export function FlameGraph({ profile, programs }: FlameGraphProps) {
  const [program, setProgram] = useState<string | null>(null);
  const [search, setSearch] = useState("");
  const root = useMemo(() => flameTree(profile, program), [profile, program]);
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
      <Legend />
      <Boxes key={program ?? ""} root={root} top={top} wanted={wanted} zoom={setZoomed} point={setPointed} />
      <Details node={pointed && rootOf(pointed) === root ? pointed : top} root={root} profile={profile} />
    </div>
  );
}

function rootOf(node: FlameNode): FlameNode {
  let top = node;
  while (top.parent) top = top.parent;
  return top;
}

function Legend() {
  return (
    <ul class="flame-legend" aria-label="Colors">
      {KINDS.map(({ kind, name, mark }) => (
        <li key={kind}>
          <span class={`flame-swatch ${kind}`} aria-hidden="true">
            {mark}
          </span>
          {name}
        </li>
      ))}
    </ul>
  );
}

interface BoxesProps {
  root: FlameNode;
  top: FlameNode;
  wanted: string;
  zoom(node: FlameNode): void;
  point(node: FlameNode): void;
}

function Boxes({ root, top, wanted, zoom, point }: BoxesProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  const boxes = useMemo(() => (width > 0 ? flameBoxes(top, NARROWEST / width) : []), [top, width]);
  const [focused, setFocused] = useState<FlameNode>(top);
  const current = boxes.some((box) => box.node === focused) ? focused : top;
  const rows = boxes.reduce((deepest, box) => Math.max(deepest, box.depth + 1), 1);

  const go = (node: FlameNode | undefined) => {
    if (!node) return;
    setFocused(node);
    const index = boxes.findIndex((box) => box.node === node);
    element.current?.querySelectorAll<HTMLElement>(".flame-box")[index]?.focus();
  };
  const walk = (event: KeyboardEvent) => {
    const box = boxes.find(({ node }) => node === current);
    const target = box && step(event.key, box, boxes);
    if (target) go(target);
    else if (event.key === "Enter" || event.key === " ") zoom(current);
    else if (event.key === "Escape") zoom(root);
    else return;
    event.preventDefault();
  };

  return (
    <div ref={element} class="flame-boxes" role="group" aria-label="Flame graph" style={{ height: `${rows * ROW}px` }} onKeyDown={walk}>
      {boxes.map((box) => (
        <div
          key={box.node.id}
          class={`flame-box ${box.node.kind ?? "program"}${box.isAbove ? " above" : ""}${box.width * width > NAMED ? " named" : ""}${wanted === "" ? "" : isMatch(box.node, wanted) ? " found" : " other"}`}
          role="button"
          tabIndex={box.node === current ? 0 : -1}
          title={box.node.name}
          aria-label={`${markOf(box.node)}${box.node.name}, ${percent(box.node.value / Math.max(root.value, 1))}`}
          style={{ left: `${box.x * 100}%`, width: `${box.width * 100}%`, top: `${box.depth * ROW}px` }}
          onClick={() => {
            setFocused(box.node);
            zoom(box.node);
          }}
          onFocus={() => {
            setFocused(box.node);
            point(box.node);
          }}
          onPointerEnter={() => point(box.node)}
        >
          {box.width * width > NAMED ? `${markOf(box.node)}${box.node.name}` : ""}
        </div>
      ))}
    </div>
  );
}

const markOf = (node: FlameNode) => {
  const mark = KINDS.find(({ kind }) => kind === node.kind)?.mark ?? "";
  return mark === "" ? "" : `${mark} `;
};

/** The frame that an arrow leads to. */
function step(key: string, from: FlameBox, boxes: readonly FlameBox[]): FlameNode | undefined {
  const row = boxes.filter(({ depth }) => depth === from.depth);
  const place = row.indexOf(from);
  switch (key) {
    case "ArrowUp":
      return from.node.parent ?? undefined;
    case "ArrowDown":
      return boxes.find(({ node }) => node.parent === from.node)?.node;
    case "ArrowLeft":
      return row[place - 1]?.node;
    case "ArrowRight":
      return row[place + 1]?.node;
    default:
      return undefined;
  }
}

interface DetailsProps {
  node: FlameNode;
  root: FlameNode;
  profile: Profile;
}

/** What is known of a frame, in a place that does not move. */
function Details({ node, root, profile }: DetailsProps) {
  const share = (value: number) => percent(value / Math.max(root.value, 1));
  const kind = KINDS.find((each) => each.kind === node.kind)?.name;
  const unit = profile.kind === "on-cpu" ? "samples" : "waits";
  return (
    <p class="flame-details" aria-live="polite">
      <strong>{node.name}</strong>
      {node.object !== "" && ` in ${node.object}`}
      {kind !== undefined && ` (${kind})`}
      <br />
      total {share(node.value)} ({duration(node.value)}) · self {share(node.self)} · {count(node.count)} {unit}
    </p>
  );
}
