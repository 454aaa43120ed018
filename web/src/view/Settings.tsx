// Settings that were held while the run lasted, with their hosts.

import { settingsOf } from "../record/settings.ts";
import type { Run } from "../record/decode.ts";
import { Table } from "./Table.tsx";

const HEADS = ["host", "setting", "before", "during the load"];

export function Settings({ run }: { run: Run }) {
  return (
    <Table label="Settings" stacks heads={HEADS}>
      {settingsOf(run.payload.events).map(({ host, key, before, after }) => (
        <tr key={`${host} ${key}`}>
          <td>{host}</td>
          <th scope="row">
            <code>{key}</code>
          </th>
          <td>
            <code>{before}</code>
          </td>
          <td>
            <code>{after}</code>
            {before === after && <span class="quiet"> (the same)</span>}
          </td>
        </tr>
      ))}
    </Table>
  );
}
