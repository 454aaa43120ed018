"""What 100,000 users of a session cost: memory of the generator.

The users are those of the built-in profile `web20`, pages only, on both CPUs, with the built-in target beside them: what
is measured is memory, and that does not depend on who has which CPU.
"""

import json
import os
import sys

from bench import outputs, process, statistic
from bench.servers import BuiltInTarget

USERS = 100_000
SECONDS = 10
"""Ramp-up, in which all of them begin, and as long again."""


def run(program, ios, rounds, runs):
    """Peak memory of each back end, and how many operations were begun, round by round."""
    result, cpus = {}, range(os.cpu_count())
    for number in range(rounds):
        for io in ios:
            with BuiltInTarget(program, 1, cpus) as target:
                command = [program, "load", target.url, "--session", "web20", "--pages-only", "--users", str(USERS)]
                command += ["--warmup", f"{SECONDS}s", "--duration", f"{SECONDS}s", "--threads", "1", "--json"]
                command += ["--io", io] if len(ios) > 1 else []
                # Exit code 1: the rules of the session; a slow machine may not keep them.
                text, used = process.run(command, cpus, target.pid, (0, 1, 3), {"SYSDYNO_RUNS_DIR": runs})
            row = {"rss_mib": used["rss_mib"], "operations": begun(text), "failed": outputs.sysdyno(text)["failed"]}
            result.setdefault(io, []).append(row)
            print(f"users {number + 1}/{rounds}: {io} {row}", file=sys.stderr)
    return result


def begun(text):
    """Operations that users began in the measured time."""
    return sum(operation["measured"]["started_count"] for operation in json.loads(text)["session"]["operations"])


def summarise(result):
    """Medians; operations are the fewest of all rounds. With fewer than there are users not all of them were there."""
    return {
        io: {
            "rss_mib": statistic.median_of([row["rss_mib"] for row in rows if row["operations"] >= USERS]),
            "operations": min(row["operations"] for row in rows),
            "failed": sum(row["failed"] for row in rows),
        }
        for io, rows in result.items()
    }
