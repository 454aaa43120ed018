// The method in one paragraph, with the numbers of this plan.

import { marginText } from "../../record/effect.ts";
import type { Tryout } from "../../record/tryout.ts";
import { prose } from "../../record/text.ts";

export function Method({ tryout }: { tryout: Tryout }) {
  const { conclusion, plan } = tryout.payload;
  const { metric } = tryout;
  const band = `±${marginText(conclusion.effect_ratio, metric.scale)}`;
  const least = plan?.pairs.min_count ?? 8;
  const isRatio = metric.scale === "ratio";
  const text =
    `Trials of A and B run in blocks of four, A B B A or B A A B in random order, so that drift of the host ` +
    `affects both equally; two neighbors form a pair. ` +
    `The effect is the Hodges–Lehmann estimate over the pairs’ ${isRatio ? "ratios, on their logarithms" : "differences"}, with its exact interval ` +
    `(signed ranks, 95%). One metric, chosen before the first trial, decides. The same: the 90% interval lies within ` +
    `${band}. Better or worse: not the same, and the 95% interval excludes no effect. Otherwise: can’t tell. From ${least} pairs on, ` +
    `measuring stopped when the interval was narrower than the smallest effect that matters, when the 99% interval lay outside ` +
    `the band, or when pairs or time ran out: never because of the sign of the effect. Pairs are discarded and measured again ` +
    `only for interference that the change cannot have caused.`;
  return <p class="measure">{prose(text)}</p>;
}
