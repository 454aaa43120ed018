// Reads what is embedded in the page, a run, a comparison, a tryout or a profile, and draws it in place of the plain text.

import { render } from "preact";
import type { Comparison as Compared } from "./record/comparison.ts";
import { Run } from "./record/decode.ts";
import { Tryout, TRY_SCHEMA, type TryPayload } from "./record/tryout.ts";
import { PROFILE_SCHEMA, type ProfilePayload } from "./record/profile.ts";
import { parseRecord } from "./record/text.ts";
import type { Payload } from "./record/types.ts";
import { Comparison } from "./view/compare/Comparison.tsx";
import { ProfileReport } from "./view/profile/ProfileReport.tsx";
import { TryReport } from "./view/tryout/TryReport.tsx";
import { Report } from "./view/Report.tsx";

function reportOf(payload: Payload | Compared | TryPayload | ProfilePayload) {
  switch (payload.schema) {
    case "sysdyno.comparison/1":
      return <Comparison compared={payload} />;
    case TRY_SCHEMA:
      return <TryReport tryout={new Tryout(payload)} />;
    case PROFILE_SCHEMA:
      return <ProfileReport payload={payload} />;
    default:
      return <Report run={new Run(payload)} />;
  }
}

const record = document.getElementById("record");
const page = document.getElementById("page");
if (record && page) {
  const payload = parseRecord(record.textContent ?? "") as Payload | Compared | TryPayload | ProfilePayload;
  page.replaceChildren();
  render(reportOf(payload), page);
}
