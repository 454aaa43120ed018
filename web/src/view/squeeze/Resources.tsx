// The resources with what the loss of a little of each costs: one depth of each, or all of them with the proof that they bit.

import { effectText } from "../../record/effect.ts";
import { biteText, elasticityText, isOfServerRate, ROW_WORDS, shown, type Elasticity, type SqueezeConclusion, type SqueezeRow } from "../../record/squeeze.ts";
import { prose } from "../../record/text.ts";
import { Table } from "../Table.tsx";

interface ResourcesProps {
  conclusion: SqueezeConclusion;
  isWhole?: boolean;
}

const depth = ({ depth_ratio }: Elasticity) => (depth_ratio > 0 ? `−${(depth_ratio * 100).toFixed(0)}%` : "–");

export function Resources({ conclusion, isWhole = false }: ResourcesProps) {
  const heads = ["resource", { number: "less" }, { number: "rate" }, { number: "elasticity" }, isWhole ? "proof" : "result"];
  return (
    <Table label={isWhole ? "Every depth of each resource" : "Resources"} stacks heads={heads}>
      {conclusion.rows.flatMap((row) => (isWhole ? row.elasticities : [shown(row)]).map((found, position) => <Row key={row.name + position} row={row} found={found} isWhole={isWhole} />))}
    </Table>
  );
}

function Row({ row, found, isWhole }: { row: SqueezeRow; found: Elasticity | null; isWhole: boolean }) {
  const { shape, text } = ROW_WORDS[row.word];
  const isCheck = row.kind !== "connections" && !isOfServerRate(row.kind);
  const last = isWhole ? (found?.void ?? biteText(found ?? EMPTY)) : isCheck ? "check" : `${shape} ${text}`;
  return (
    <tr class={isCheck ? "quiet" : undefined}>
      <th scope="row">{row.name}</th>
      <td class="number">{found ? depth(found) : "–"}</td>
      <td class="number">{found?.effect ? effectText(found.effect) : "–"}</td>
      <td class="number">{found ? elasticityText(found) : "–"}</td>
      <td class="in-words">{prose(last)}</td>
    </tr>
  );
}

const EMPTY: Elasticity = { depth_ratio: 0, point: null, interval: null, effect: null, counted: 0, dropped: 0, stop: null, bites: [], void: null };
