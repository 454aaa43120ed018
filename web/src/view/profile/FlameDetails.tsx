// What colors mean, and what is known of the frame that is pointed at.

import { count, duration, percent } from "../../number.ts";
import { direction } from "../../record/difference.ts";
import type { FlameNode, Profile } from "../../record/profile.ts";
import { CHANGES, KINDS, weight } from "./words.ts";

/** What the colors mean. */
export function Legend({ isDifference }: { isDifference: boolean }) {
  const meanings = isDifference ? CHANGES.map((each) => ({ ...each, key: each.direction })) : KINDS.map((each) => ({ ...each, key: each.kind }));
  return (
    <ul class="flame-legend" aria-label="Colors">
      {meanings.map(({ key, name, mark }) => (
        <li key={key}>
          <span class={`flame-swatch ${key}`} aria-hidden="true">
            {mark}
          </span>
          {name}
        </li>
      ))}
    </ul>
  );
}

interface DetailsProps {
  node: FlameNode;
  root: FlameNode;
  profile: Profile;
  isDifference: boolean;
}

/** What is known of a frame, in a place that does not move. */
export function Details({ node, root, profile, isDifference }: DetailsProps) {
  const share = (value: number) => percent(value / Math.max(root.value, 1));
  const kind = KINDS.find((each) => each.kind === node.kind)?.name;
  const unit = profile.kind === "on-cpu" ? "samples" : "waits";
  return (
    <p class="flame-details" aria-live="polite">
      <strong>{node.name}</strong>
      {node.object !== "" && ` in ${node.object}`}
      {kind !== undefined && ` (${kind})`}
      <br />
      {isDifference ? <Changes node={node} /> : `total ${share(node.value)} (${weight(profile, node.value)}) · self ${share(node.self)} · ${count(node.count)} ${unit}`}
    </p>
  );
}

function Changes({ node }: { node: FlameNode }) {
  const { before } = node;
  const change = before.value > 0 ? ` (${signed(node.value / before.value - 1)})` : "";
  const certainty = direction(node) === "same" ? "within chance" : `${count(node.count)} samples, before ${count(before.count)}`;
  return (
    <>
      per response: total {duration(node.value)}, before {duration(before.value)}
      {change} · self {duration(node.self)}, before {duration(before.self)} · {certainty}
    </>
  );
}

const signed = (ratio: number) => `${ratio < 0 ? "−" : "+"}${percent(Math.abs(ratio))}`;
