// What B changes, whether it still is so, and the lines that undo it and keep it.

import type { ChangeShown, Tryout } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";
import { Copyable } from "../words.tsx";

/** Changes on the first screen that are shown open; more are folded. */
const MOST_OPEN = 2;

export function Changed({ tryout }: { tryout: Tryout }) {
  const { changes } = tryout.payload.conclusion;
  return (
    <article class="card" aria-labelledby="changed-title">
      <h2 id="changed-title" class="eyebrow">
        Changes <Fate tryout={tryout} />
      </h2>
      {changes.slice(0, MOST_OPEN).map((change, position) => (
        <Change key={position} change={change} tryout={tryout} />
      ))}
      {changes.length > MOST_OPEN && (
        <details>
          <summary>and {changes.length - MOST_OPEN} more</summary>
          {changes.slice(MOST_OPEN).map((change, position) => (
            <Change key={position} change={change} tryout={tryout} />
          ))}
        </details>
      )}
    </article>
  );
}

function Fate({ tryout }: { tryout: Tryout }) {
  const { conclusion, is_incomplete } = tryout.payload;
  // Whoever died could not write that it undid anything; the guardian or the next start does.
  if (is_incomplete) return <span class="fate">▲ check with sysdyno tune status if it was undone</span>;
  return <span class="fate">{conclusion.is_kept ? "● kept until the next reboot" : "○ undone"}</span>;
}

function Change({ change, tryout }: { change: ChangeShown; tryout: Tryout }) {
  const { conclusion, is_incomplete } = tryout.payload;
  // What is undone needs no undoing, and what was not proved is not recommended.
  const undo = conclusion.is_kept || is_incomplete ? change.undo.join("\n") : "";
  const persist = conclusion.verdict.word === "better" ? change.persist : null;
  return (
    <div class="setting">
      <p class="change-line">
        <code>{change.key}</code>{" "}
        <span class="change-values">
          <s>{change.before}</s> <span aria-label="became">→</span> <strong>{change.after}</strong>
        </span>
      </p>
      {undo !== "" && (
        <div class="change-command">
          <p class="quiet">undo</p>
          <Copyable text={undo} label={`Commands to undo ${change.key}`} />
        </div>
      )}
      {persist !== null && (
        <div class="change-command">
          <p class="quiet">keep across reboots</p>
          <Copyable text={persist} label={`Command to keep ${change.key}`} />
        </div>
      )}
      {change.notes.map((note, position) => (
        <p class="quiet" key={position}>
          {prose(note)}
        </p>
      ))}
    </div>
  );
}
