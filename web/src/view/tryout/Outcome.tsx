// The first screen of a tryout: the word, the effect against what does not matter, what was changed, and whether to
// believe it.

import { actionText, type Tryout, STATES } from "../../record/tryout.ts";
import { marginText } from "../../record/effect.ts";
import { prose } from "../../record/text.ts";
import { Forest, type ForestRow, WordBadge } from "../Forest.tsx";
import { Changed } from "./Changed.tsx";
import { Trust, TrustBadge } from "./Trust.tsx";

export function Outcome({ tryout }: { tryout: Tryout }) {
  const { conclusion } = tryout.payload;
  const [a, b] = tryout.variants();
  const [head, rest] = split(conclusion.headline);
  return (
    <section id="result" class="answer" aria-labelledby="headline" tabIndex={-1}>
      <p class="verdict-line">
        <WordBadge verdict={conclusion.verdict} /> <TrustBadge tryout={tryout} />
      </p>
      <h1 id="headline">{prose(head)}</h1>
      {rest !== "" && <p class="sentence outcome-rest">{prose(rest)}</p>}
      <dl class="arms">
        <div class="arm-a">
          <dt>
            <ArmKey arm="a" /> A
          </dt>
          <dd>
            <code>{actionText(a?.action)}</code>
          </dd>
        </div>
        <div class="arm-b">
          <dt>
            <ArmKey arm="b" /> B
          </dt>
          <dd>
            <code>{actionText(b?.action)}</code>
          </dd>
        </div>
      </dl>
      <article class="card effects" aria-labelledby="effects-title">
        <h2 id="effects-title" class="eyebrow">
          B against A
        </h2>
        <Forest rows={rowsOf(tryout)} label="Effects with their 95% intervals" />
      </article>
      <div class="answers outcome-cards">
        {conclusion.changes.length > 0 && <Changed tryout={tryout} />}
        <Trust tryout={tryout} />
      </div>
    </section>
  );
}

/** The claim of a headline and its numbers: what stands before and after the first colon. */
function split(headline: string): [string, string] {
  const at = headline.indexOf(": ");
  if (at < 0) return [headline, ""];
  const rest = headline.slice(at + 2);
  return [headline.slice(0, at), rest.charAt(0).toUpperCase() + rest.slice(1)];
}

/** The sign of an arm: a disc or a square. */
export function ArmKey({ arm }: { arm: "a" | "b" }) {
  return (
    <span class={`arm-key arm-key-${arm}`} aria-hidden="true">
      {arm === "a" ? "●" : "■"}
    </span>
  );
}

/** The primary metric and the guardrails, each on its own margin. */
export function rowsOf(tryout: Tryout): ForestRow[] {
  const { conclusion } = tryout.payload;
  const { metric } = tryout;
  const primary: ForestRow = {
    key: "primary",
    label: <strong>{metric.title}</strong>,
    note: `decides; band ±${marginText(conclusion.effect_ratio, metric.scale)}`,
    effect: conclusion.effect,
    word: conclusion.verdict.word,
    without: "too few pairs",
    scale: metric.scale,
    better: conclusion.better,
    margin: conclusion.effect_ratio,
  };
  const guarded = conclusion.guardrails.map((guardrail, position): ForestRow => {
    const { title, scale, better } = tryout.metricOf(guardrail.metric);
    const { shape, word } = STATES[guardrail.state];
    return {
      key: `guardrail-${position}`,
      label: title,
      note: `may worsen by ${marginText(guardrail.margin, scale)}`,
      effect: guardrail.effect,
      word: null,
      mark: { shape, word, isBad: guardrail.state === "broken" },
      without: "",
      scale,
      better,
      margin: guardrail.margin,
    };
  });
  return [primary, ...guarded];
}
