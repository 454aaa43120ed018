// A page that says why there is no other one.

import type { Notice } from "../../record/served.ts";
import { prose } from "../../record/text.ts";
import { Bar } from "./Bar.tsx";

export function NoticeView({ notice }: { notice: Notice }) {
  const [said = "", ...hints] = notice.text.split("\n");
  return (
    <>
      <Bar />
      <header class="masthead">
        <p class="wordmark">sysdyno</p>
      </header>
      <main>
        <section id="result" class="answer" aria-labelledby="headline">
          <h1 id="headline">{prose(said)}</h1>
          {hints.map((hint) => (
            <p key={hint}>{prose(hint)}</p>
          ))}
        </section>
      </main>
    </>
  );
}
