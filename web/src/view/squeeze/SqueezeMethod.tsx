// How a squeeze was made, and how far its numbers go.

import type { SqueezePayload } from "../../record/squeeze.ts";

export function SqueezeMethod({ payload: { plan } }: { payload: SqueezePayload }) {
  const depths = plan?.depths.map((each) => `${(each * 100).toFixed(0)}%`).join(" and ") ?? "a part";
  return (
    <ul class="measure">
      <li>Each comparison is made of pairs of trials, with and without {depths} of one resource taken away, in random blocks of ABBA or BAAB.</li>
      <li>The elasticity is ln(B ÷ A) ÷ ln(1 − depth), with the interval of Hodges and Lehmann. It is 1 where the rate falls as the resource does.</li>
      <li>The elasticities of all rates sum to 1 where capacity is smooth. Less says that a resource is missing, more that several bind at once.</li>
      <li>CPU of a tier: its threads get a quota of the CPUs that they could use at once, and each second that they use costs more, as on slower CPUs.</li>
      <li>More of a resource helps at most as much as less of it costs: capacity is concave. That is a bound, not a forecast.</li>
      <li>Squeezed CPUs stop and go, so that p99 under a squeeze is an artifact: squeezes are judged by goodput.</li>
    </ul>
  );
}
