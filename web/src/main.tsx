// Reads what is embedded in the page, a run, a comparison, a tryout, an autotune, a squeeze, a probe, a profile, or a page of `sysdyno serve`, and draws it in place
// of the plain text.

import { render } from "preact";
import { AUTOTUNE_SCHEMA, type AutotunePayload } from "./record/autotune.ts";
import type { Comparison as Compared } from "./record/comparison.ts";
import { Run } from "./record/decode.ts";
import { Tryout, TRY_SCHEMA, type TryPayload } from "./record/tryout.ts";
import { PROBE_REPORT_SCHEMA, type ProbePayload } from "./record/probes.ts";
import { PROFILE_SCHEMA, type ProfilePayload } from "./record/profile.ts";
import type { LivePage, Notice, RunsPage } from "./record/served.ts";
import { SQUEEZE_SCHEMA, type SqueezePayload } from "./record/squeeze.ts";
import { parseRecord } from "./record/text.ts";
import type { Payload } from "./record/types.ts";
import { followReader } from "./state/folds.ts";
import { AutotuneReport } from "./view/autotune/AutotuneReport.tsx";
import { Comparison } from "./view/compare/Comparison.tsx";
import { ProbeReport } from "./view/ProbeReport.tsx";
import { ProfileReport } from "./view/profile/ProfileReport.tsx";
import { Home } from "./view/serve/Home.tsx";
import { Live } from "./view/serve/Live.tsx";
import { NoticeView } from "./view/serve/NoticeView.tsx";
import { SqueezeReport } from "./view/squeeze/SqueezeReport.tsx";
import { TryReport } from "./view/tryout/TryReport.tsx";
import { Report } from "./view/Report.tsx";
import { WatchedReport } from "./view/WatchedReport.tsx";

type Document =
  | Payload
  | Compared
  | TryPayload
  | AutotunePayload
  | SqueezePayload
  | ProbePayload
  | ProfilePayload
  | RunsPage
  | LivePage
  | Notice;

function viewOf(payload: Document) {
  switch (payload.schema) {
    case "sysdyno.runs/1":
      return <Home initial={payload} />;
    case "sysdyno.live/1":
      return <Live live={payload} />;
    case "sysdyno.notice/1":
      return <NoticeView notice={payload} />;
    case "sysdyno.comparison/1":
      return <Comparison compared={payload} />;
    case AUTOTUNE_SCHEMA:
      return <AutotuneReport payload={payload} />;
    case TRY_SCHEMA:
      return <TryReport tryout={new Tryout(payload)} />;
    case SQUEEZE_SCHEMA:
      return <SqueezeReport payload={payload} />;
    case PROBE_REPORT_SCHEMA:
      return <ProbeReport payload={payload} />;
    case PROFILE_SCHEMA:
      return <ProfileReport payload={payload} />;
    default:
      return payload.plan !== null && "watch" in payload.plan ? (
        <WatchedReport run={new Run(payload)} plan={payload.plan.watch} />
      ) : (
        <Report run={new Run(payload)} />
      );
  }
}

const record = document.getElementById("record");
const page = document.getElementById("page");
if (record && page) {
  const payload = parseRecord(record.textContent ?? "") as Document;
  page.replaceChildren();
  render(viewOf(payload), page);
  followReader();
}
