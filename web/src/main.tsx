// Reads what is embedded in the page, a run, a comparison or an experiment, and draws it in place of the plain text.

import { render } from "preact";
import type { Comparison as Compared } from "./record/comparison.ts";
import { Run } from "./record/decode.ts";
import { Experiment, EXPERIMENT_SCHEMA, type ExperimentPayload } from "./record/experiment.ts";
import { parseRecord } from "./record/text.ts";
import type { Payload } from "./record/types.ts";
import { Comparison } from "./view/compare/Comparison.tsx";
import { ExperimentReport } from "./view/experiment/ExperimentReport.tsx";
import { Report } from "./view/Report.tsx";

function reportOf(payload: Payload | Compared | ExperimentPayload) {
  switch (payload.schema) {
    case "sysdyno.comparison/1":
      return <Comparison compared={payload} />;
    case EXPERIMENT_SCHEMA:
      return <ExperimentReport experiment={new Experiment(payload)} />;
    default:
      return <Report run={new Run(payload)} />;
  }
}

const record = document.getElementById("record");
const page = document.getElementById("page");
if (record && page) {
  const payload = parseRecord(record.textContent ?? "") as Payload | Compared | ExperimentPayload;
  page.replaceChildren();
  render(reportOf(payload), page);
}
