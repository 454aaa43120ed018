// How to run it again, and the files that the run left.

import { bytes } from "../number.ts";
import { shellLine } from "../record/shell.ts";
import type { Manifest } from "../record/types.ts";
import { Table } from "./Table.tsx";
import { Copyable } from "./words.tsx";

interface Recorded {
  manifest: Manifest;
  folder: string;
}

interface AgainProps extends Recorded {
  seed: number | null;
  /** What running it again gives. */
  what: string;
}

export function Again({ manifest, folder, seed, what }: AgainProps) {
  const hasSecrets = manifest.command.some((word) => word.includes("«redacted»"));
  return (
    <>
      <p>
        {what}, on any host that has sysdyno {manifest.tool.version}:
      </p>
      <Copyable text={shellLine(manifest.command, seed)} label="Command to repeat the run" />
      {hasSecrets && <p class="quiet">Secrets were left out of the record: put yours where «redacted» stands.</p>}
      <p>Rebuild this report from the folder:</p>
      <Copyable text={shellLine(["sysdyno", "report", folder], null)} label="Command to rebuild this report" />
    </>
  );
}

export function Files({ manifest, folder }: Recorded) {
  const files = Object.entries(manifest.files);
  return (
    <>
      <p>
        The record is the folder <code class="path">{folder}</code>. All of it is JSON, JSON Lines or an HdrHistogram log.
      </p>
      {files.length === 0 ? (
        <p class="quiet">The run did not end by itself, so its files have no digests.</p>
      ) : (
        <Table label="Files of the run" stacks heads={["file", { number: "size" }, "SHA-256"]}>
          {files.map(([name, digest]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{bytes(digest.bytes)}</td>
              <td>
                <code class="digest">{digest.sha256}</code>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
