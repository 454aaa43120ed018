// How what the server sent was divided over the links that carry the traffic of one, and how it was predicted.

import { bytes, percent } from "../number.ts";
import type { LinkSplit } from "../record/types.ts";
import { numbers, Table } from "./Table.tsx";

export function Links({ splits }: { splits: readonly LinkSplit[] }) {
  return (
    <>
      {splits.map((split) => (
        <div key={split.name}>
          <p>
            {split.name}, {split.mode}
            {split.is_as_predicted === true && ": as predicted"}
            {split.is_as_predicted === false && ": not as predicted, if all peers have as much traffic"}
          </p>
          <Table label={`Links of ${split.name}`} heads={["link", ...numbers(["sent", "share", "predicted"])]}>
            {split.links.map((link) => (
              <tr key={link.name}>
                <th scope="row">{link.name}</th>
                <td class="number">{link.sent_bytes === null ? "–" : bytes(link.sent_bytes)}</td>
                <td class="number">{link.sent_ratio === null ? "–" : percent(link.sent_ratio)}</td>
                <td class="number">{link.predicted_ratio === null ? "–" : percent(link.predicted_ratio)}</td>
              </tr>
            ))}
          </Table>
          {split.chance && (
            <p class="quiet measure">
              By chance, {split.chance.peers_count} random peers all land on the same one of {split.chance.links_count} links{" "}
              {percent(split.chance.one_link_ratio)} of the time; on average, the busiest link carries {percent(split.chance.busiest_mean_ratio)}.
            </p>
          )}
        </div>
      ))}
    </>
  );
}
