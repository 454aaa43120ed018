// The machines that one experiment ran on, with what their rates are divided by.

import { MISSING, significant } from "../../number.ts";
import type { Comparison, HostsShown } from "../../record/comparison.ts";
import { numbers, Table } from "../Table.tsx";

const POWER = { rapl: "RAPL: packages and memory", meter: "meter" };

const known = (value: number | null) => (value === null ? MISSING : significant(value, 3));

export function Hosts({ compared, shown }: { compared: Comparison; shown: HostsShown }) {
  return (
    <>
      <Table label="The machines as a table" stacks heads={["machine", "folder", "CPU", "kernel", ...numbers(["CPUs", "cores of the server", "GHz"]), "power"]}>
        {shown.hosts.map((host) => (
          <tr key={host.side}>
            <th scope="row">{compared.sides[host.side]?.letter}</th>
            <td>{compared.sides[host.side]?.name}</td>
            <td>
              {[host.cpu, host.architecture].filter((text) => text !== null).join(", ") || MISSING}
              {host.emulator !== null && <p class="quiet reason">emulated: {host.emulator}</p>}
            </td>
            <td>{host.kernel ?? MISSING}</td>
            <td class="number">{known(host.cpus_count)}</td>
            <td class="number">{known(host.cores_count)}</td>
            <td class="number">{known(host.frequency_ghz)}</td>
            <td>{host.power === null ? "not read" : POWER[host.power]}</td>
          </tr>
        ))}
      </Table>
      <p class="quiet">A quota, a CPU set, and hardware threads that share a core make fewer cores. A frequency is the nominal one, or else the highest that is allowed.</p>
    </>
  );
}
