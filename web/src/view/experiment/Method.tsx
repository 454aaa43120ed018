// The method in one paragraph, with the numbers of this plan.

import { marginText } from "../../record/effect.ts";
import type { Experiment } from "../../record/experiment.ts";
import { prose } from "../../record/text.ts";

export function Method({ experiment }: { experiment: Experiment }) {
  const { conclusion, plan } = experiment.payload;
  const { metric } = experiment;
  const band = `±${marginText(conclusion.effect_ratio, metric.scale)}`;
  const least = plan?.pairs.min_count ?? 8;
  const isRatio = metric.scale === "ratio";
  const text =
    `Trials of A and B alternate in blocks of four, A B B A or B A A B as the seed says, so that a drift of the host ` +
    `falls on both alike; two neighbours are a pair. ` +
    `The effect is the Hodges–Lehmann estimate over the pairs’ ${isRatio ? "ratios, on their logarithms" : "differences"}, with its exact interval ` +
    `(signed ranks, 95 %). One metric decides, and was said before the first trial. The same: the 90 % interval lies within ` +
    `${band}. Better or worse: not the same, and the 95 % interval excludes no effect. Else it can’t be told. From ${least} pairs on, ` +
    `measuring ended when the interval was narrower than the smallest effect that matters, or lay (at 99 %) wholly beyond ` +
    `it, or pairs or time were used up: never by the sign of the effect. A pair is dropped only for what the change cannot ` +
    `have caused, and is measured again.`;
  return <p class="measure">{prose(text)}</p>;
}
