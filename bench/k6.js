// What k6 does in the benchmark: BATCH requests at a time for each of its users, each on a connection of its own.
import http from 'k6/http';

const batch = Number(__ENV.BATCH);
export const options = { discardResponseBodies: true, batch, batchPerHost: batch };
const requests = Array(batch).fill({ method: 'GET', url: __ENV.URL });

export default function () {
    http.batch(requests);
}

export function handleSummary(data) {
    return { stdout: JSON.stringify(data.metrics) };
}
