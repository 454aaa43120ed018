"""Parses the output of each tool: requests completed, requests failed, rate, p99. Pure; samples are in `tests/samples`.

A number that a tool does not print is `None`. `ab`, `hey`, and `oha` print latencies of completed requests, `wrk` those
it has corrected; the table shows them as the tools print them.
"""

import json
import re


def first(pattern, text, convert=float):
    """The first match of a pattern, converted; `None` if there is none."""
    match = re.search(pattern, text, re.MULTILINE)
    return convert(match.group(1)) if match else None


def duration_ms(text):
    """`1.23ms`, `456us` or `1.2s` in milliseconds."""
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}[unit]


def sysdyno(text):
    """The document of `sysdyno load --json`."""
    document = json.loads(text)
    p99, counts = document["service_time_ns"]["p99"], document["counts"]
    return {
        "requests": counts["ok"],
        "failed": counts["failed"] + counts["timed_out"],
        "rate_hz": document["rates"]["goodput_hz"],
        "p99_ms": None if p99 is None else p99 / 1e6,
        "verdict": document["verdict"]["status"],
        "reasons": [reason["id"] for reason in document["verdict"]["reasons"] if reason["status"] != "VALID"],
        "io": document["generator"]["io"],
        "thread_seconds": document["generator"]["cpu_seconds"],
    }


def wrk(text):
    """`wrk --latency` and `wrk2 --latency`."""
    socket_errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    failed = sum(map(int, socket_errors.groups())) if socket_errors else 0
    return {
        "requests": first(r"^\s*(\d+) requests in", text, int),
        "failed": failed + (first(r"Non-2xx or 3xx responses: (\d+)", text, int) or 0),
        "rate_hz": first(r"^Requests/sec:\s+([\d.]+)", text),
        "p50_ms": first(r"^\s*50(?:\.0+)?%\s+(\S+)", text, duration_ms),
        "p99_ms": first(r"^\s*99(?:\.0+)?%\s+(\S+)", text, duration_ms),
    }


def k6(text):
    """The metrics that `k6.js` makes k6 print: JSON, after k6's own lines."""
    metrics = json.loads(text[text.index("{"):])
    requests, failed = metrics["http_reqs"]["values"], metrics["http_req_failed"]["values"]["passes"]
    return {
        "requests": int(requests["count"]) - int(failed),
        "failed": int(failed),
        "rate_hz": requests["rate"],
        "p99_ms": None,
    }


def ab(text):
    """ApacheBench."""
    return {
        "requests": first(r"^Complete requests:\s+(\d+)", text, int),
        "failed": first(r"^Failed requests:\s+(\d+)", text, int) or 0,
        "rate_hz": first(r"^Requests per second:\s+([\d.]+)", text),
        "p99_ms": first(r"^\s*99%\s+(\d+)", text),
    }


def h2load(text):
    """h2load; it prints no p99 by default."""
    return {
        "requests": first(r"^requests: .*?(\d+) succeeded", text, int),
        "failed": first(r"^requests: .*?(\d+) failed", text, int) or 0,
        "rate_hz": first(r"^finished in .*?([\d.]+) req/s", text),
        "p99_ms": None,
    }


def httperf(text):
    """httperf; it prints only the mean response time."""
    return {
        "requests": first(r"^Total: .*?replies (\d+)", text, int),
        "failed": first(r"^Errors: total (\d+)", text, int) or 0,
        "rate_hz": first(r"^Request rate: ([\d.]+) req/s", text),
        "p99_ms": None,
    }


def weighttp(text):
    """weighttp; it prints minimum, mean, and maximum latency."""
    return {
        "requests": first(r"^requests: .*?(\d+) succeeded", text, int),
        "failed": first(r"^requests: .*?(\d+) failed", text, int) or 0,
        "rate_hz": first(r"^finished in .*?(\d+) req/s", text),
        "p99_ms": None,
    }


def oha(text):
    """`oha --output-format json`."""
    document = json.loads(text)
    requests = sum(document["statusCodeDistribution"].values())
    # At its end oha gives up what is in flight and counts it as an error of this name.
    errors = {name: count for name, count in document["errorDistribution"].items() if "deadline" not in name}
    p99 = document["latencyPercentiles"]["p99"]
    return {
        "requests": requests,
        "failed": sum(errors.values()),
        "rate_hz": document["summary"]["requestsPerSec"],
        "p99_ms": None if p99 is None else p99 * 1e3,
    }


def hey(text):
    """hey."""
    statuses = re.findall(r"^\s*\[(\d{3})\]\s+(\d+) responses", text, re.MULTILINE)
    errors = re.findall(r"^\s*\[(\d+)\]\s+(?:Get|Post) ", text, re.MULTILINE)
    p99 = first(r"^\s*99% in ([\d.]+) secs", text)
    return {
        "requests": sum(int(count) for _, count in statuses),
        "failed": sum(int(count) for count in errors),
        "rate_hz": first(r"^\s*Requests/sec:\s+([\d.]+)", text),
        "p99_ms": None if p99 is None else p99 * 1e3,
    }


def s_time(text):
    """`openssl s_time`; its requests are handshakes. A connection that fails ends it with an error."""
    seconds = first(r"^\d+ connections in (\d+) real seconds", text)
    handshakes = first(r"^(\d+) connections in \d+ real seconds", text, int)
    return {
        "requests": handshakes,
        "failed": 0,
        "rate_hz": handshakes / seconds if handshakes and seconds else None,
        "p99_ms": None,
    }


def memcaslap(text):
    """memcaslap; what it stores before it begins are operations too. A get that finds nothing has not done the work."""
    return {
        "requests": first(r"^Run time: \S+ Ops: (\d+)", text, int),
        "failed": first(r"^get_misses: (\d+)", text, int) or 0,
        "rate_hz": first(r"^Run time: .*? TPS: (\d+)", text),
        "p99_ms": None,
    }
