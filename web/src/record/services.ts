// Rows of what services told of themselves before and after a trial.

import type { Mark, ServiceReading } from "./types.ts";

export interface ServiceRow {
  service: string;
  recipe: string;
  host: string;
  name: string;
  unit: string;
  kind: "counter" | "gauge";
  before: number | null;
  after: number | null;
}

/** One row for each number of each service, in the order of the record. A service that told nothing has one with its reason. */
export function servicesOf(events: readonly { event: Mark }[], trial: number): ServiceRow[] {
  const told = (moment: "begin" | "end"): ServiceReading[] =>
    events.flatMap(({ event }) => (event.kind === "service" && event.trial === trial && event.moment === moment ? [event.reading] : []));
  const before = told("begin");
  return told("end").flatMap(({ service, recipe, host, values, cause }): ServiceRow[] => {
    if (cause !== null) return [{ service, recipe, host, name: cause, unit: "", kind: "gauge", before: null, after: null }];
    const first = before.find((reading) => reading.service === service);
    return values.map(({ name, unit, kind, value }) => ({
      service,
      recipe,
      host,
      name,
      unit,
      kind,
      before: first?.values.find((known) => known.name === name)?.value ?? null,
      after: value,
    }));
  });
}
