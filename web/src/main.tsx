// Reads the record that is embedded in the page and draws the report in place of the plain text.

import { render } from "preact";
import { Run } from "./record/decode.ts";
import { parseRecord } from "./record/text.ts";
import type { Payload } from "./record/types.ts";
import { Report } from "./view/Report.tsx";

const record = document.getElementById("record");
const page = document.getElementById("page");
if (record && page) {
  const payload = parseRecord(record.textContent ?? "") as Payload;
  page.replaceChildren();
  render(<Report run={new Run(payload)} />, page);
}
