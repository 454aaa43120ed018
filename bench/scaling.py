"""Whether two generator threads send twice as much as one.

On two CPUs, server and generator have to share them. The server grows with the generator, so that it is not the bottleneck
of only one of the runs: the built-in target has as many threads, each with its own listening socket.

    one   1 generator thread and 1 server thread, both on CPU 1
    two   2 generator threads, one on each CPU, and 2 server threads on the same CPUs; twice the connections

Two figures: the rate of `two` divided by that of `one`, and the same from the generator's CPU time alone, requests per
generator CPU second times its threads. If threads contend for a cache line, each request costs more CPU time, and the
second figure falls; the first one also falls because of the server, the kernel, and other programs.
"""

import sys

from bench import outputs, process, statistic
from bench.servers import BuiltInTarget

CONNECTIONS = 32
"""Of each generator thread."""


def measure(program, io, threads, seconds, runs):
    """One run: rate, and CPU time per request."""
    cpus = (0, 1) if threads == 2 else (1,)
    with BuiltInTarget(program, threads, cpus) as target:
        command = [program, "load", target.url, "--connections", str(CONNECTIONS * threads), "--json"]
        command += ["--threads", str(threads), "--duration", f"{seconds}s"] + (["--io", io] if io else [])
        text, used = process.run(command, cpus, target.pid, (0, 3), {"SYSDYNO_RUNS_DIR": runs})
    said = outputs.sysdyno(text)
    cpu_us = (used["user_seconds"] + used["system_seconds"]) * 1e6 / said["requests"]
    return {"rate_hz": said["rate_hz"], "cpu_us": cpu_us, "failed": said["failed"], "other_cpus": used["other_cpus"]}


def run(program, ios, options, runs):
    """Rounds of both for each back end, in an order that alternates."""
    result = {io: [] for io in ios}
    for number in range(options.rounds):
        order = (1, 2) if number % 2 == 0 else (2, 1)
        for io in ios:
            given = io if len(ios) > 1 else None
            row = {threads: measure(program, given, threads, max(1, round(options.seconds * 2 / 3)), runs) for threads in order}
            result[io].append({"one": row[1], "two": row[2]})
            rates = f"one {row[1]['rate_hz']:,.0f}/s, two {row[2]['rate_hz']:,.0f}/s"
            print(f"scaling {number + 1}/{options.rounds}: {io} {rates}", file=sys.stderr)
    return result


def summarise(result):
    """Both figures, with intervals over the rounds."""
    return {
        io: {
            "one_hz": statistic.median_of([row["one"]["rate_hz"] for row in rows]),
            "two_hz": statistic.median_of([row["two"]["rate_hz"] for row in rows]),
            "one_cpu_us": statistic.median_of([row["one"]["cpu_us"] for row in rows]),
            "two_cpu_us": statistic.median_of([row["two"]["cpu_us"] for row in rows]),
            "by_rate": statistic.paired_ratio([r["two"]["rate_hz"] for r in rows], [r["one"]["rate_hz"] for r in rows]),
            "by_cpu": statistic.paired_ratio([2 * r["one"]["cpu_us"] for r in rows], [r["two"]["cpu_us"] for r in rows]),
        }
        for io, rows in result.items()
    }
