// The frames of a flame graph, in rows. A click or Enter zooms, arrows walk.

import { useMemo, useState } from "preact/hooks";
import { useWidth } from "../../chart/size.ts";
import { percent } from "../../number.ts";
import { direction } from "../../record/difference.ts";
import { type FlameBox, type FlameNode, flameBoxes, isMatch } from "../../record/profile.ts";
import { CHANGES, KINDS } from "./words.ts";

/** Height of a row, the narrowest frame that is drawn, and from which width its name is written. Unit: CSS pixels. */
const ROW = 22;
const NARROWEST = 1.5;
const NAMED = 24;

interface FlameBoxesProps {
  root: FlameNode;
  top: FlameNode;
  wanted: string;
  isDifference: boolean;
  zoom(node: FlameNode): void;
  point(node: FlameNode): void;
}

export function FlameBoxes({ root, top, wanted, isDifference, zoom, point }: FlameBoxesProps) {
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
          class={`flame-box ${isDifference ? direction(box.node) : (box.node.kind ?? "program")}${box.isAbove ? " above" : ""}${box.width * width > NAMED ? " named" : ""}${wanted === "" ? "" : isMatch(box.node, wanted) ? " found" : " other"}`}
          role="button"
          tabIndex={box.node === current ? 0 : -1}
          title={box.node.name}
          aria-label={`${markOf(box.node, isDifference)}${box.node.name}, ${percent(box.node.value / Math.max(root.value, 1))}`}
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
          {box.width * width > NAMED ? `${markOf(box.node, isDifference)}${box.node.name}` : ""}
        </div>
      ))}
    </div>
  );
}

const markOf = (node: FlameNode, isDifference: boolean) => {
  const meaning = isDifference ? CHANGES.find((each) => each.direction === direction(node)) : KINDS.find(({ kind }) => kind === node.kind);
  const mark = meaning?.mark ?? "";
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
