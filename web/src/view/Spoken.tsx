// What only some protocols count: how connections were secured, and what became of the keys of a cache.

import { count, duration, percent } from "../number.ts";
import type { Run } from "../record/decode.ts";
import { loadOf } from "../record/plan.ts";

export function Spoken({ run }: { run: Run }) {
  const { analysis, plan } = run.payload;
  const { handshakes, cache } = analysis;
  const time = analysis.handshake_time_ns;
  const asked = cache ? cache.hits + cache.misses : 0;
  return (
    <>
      {handshakes && (
        <div>
          <dt>TLS handshakes</dt>
          <dd>
            {count(handshakes.full)} full, {count(handshakes.resumed)} resumed
          </dd>
        </div>
      )}
      {handshakes && time && time.p50 !== null && (
        <div>
          <dt>handshake time, p50{time.p99 !== null && " / p99"}</dt>
          <dd>
            {duration(time.p50)}
            {time.p99 !== null && ` / ${duration(time.p99)}`}
          </dd>
        </div>
      )}
      {loadOf(plan)?.wire?.tls?.is_insecure && (
        <div>
          <dt>certificate</dt>
          <dd>not verified</dd>
        </div>
      )}
      {cache && asked > 0 && (
        <div>
          <dt>hits</dt>
          <dd>
            {percent(cache.hits / asked)}: {count(cache.hits)} of {count(asked)}
          </dd>
        </div>
      )}
      {cache && (
        <div>
          <dt>stores</dt>
          <dd>{count(cache.stored)}</dd>
        </div>
      )}
    </>
  );
}
