// What differs between the hosts of the first side and the others, likeliest to matter first.

import type { Comparison } from "../../record/comparison.ts";
import { textOf } from "../Machine.tsx";
import { Scroll } from "../words.tsx";

export function Machines({ compared }: { compared: Comparison }) {
  return (
    <>
      {compared.machines.map(({ side, differences, count }) => (
        <div key={side}>
          <h3>
            A and {compared.sides[side]?.letter}: {count} {count === 1 ? "difference" : "differences"}
          </h3>
          <Scroll label={`Differences between A and ${compared.sides[side]?.letter}`}>
            <table class="facts">
              <thead>
                <tr>
                  <th scope="col">fact</th>
                  <th scope="col">A</th>
                  <th scope="col">{compared.sides[side]?.letter}</th>
                  <th scope="col">what it does</th>
                </tr>
              </thead>
              <tbody>
                {differences.map(({ name, a, b, known }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{a ? textOf(name, a) : "not there"}</td>
                    <td>{b ? textOf(name, b) : "not there"}</td>
                    <td>{known ? `${known.rule} ${known.what}: ${known.why}` : "no rule knows it"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          {count > differences.length && <p class="quiet">{count - differences.length} more: sysdyno facts RUN RUN --all</p>}
        </div>
      ))}
    </>
  );
}
