"""100,000 users of a session in one process: whether the session's rules are met, and the generator's memory.

The users are those of the built-in session `web20`, pages only, on all CPUs, which they share with the built-in target. All
of them begin in the first half of the ramp-up, and each performs one operation every five seconds.
"""

import json
import os
import sys

from bench import outputs, process, statistic
from bench.servers import BuiltInTarget

USERS = 100_000
RAMP_UP_SECONDS, STEADY_SECONDS = 30, 60


def run(program, ios, rounds, runs):
    """Verdict, rules and peak memory of each back end, round by round."""
    result, cpus = {}, range(os.cpu_count())
    for number in range(rounds):
        for io in ios:
            with BuiltInTarget(program, 1, cpus) as target:
                command = [program, "load", target.url, "--session", "web20", "--pages-only", "--users", str(USERS)]
                command += ["--warmup", f"{RAMP_UP_SECONDS}s", "--duration", f"{STEADY_SECONDS}s", "--threads", "1", "--json"]
                command += ["--io", io] if len(ios) > 1 else []
                # Exit code 1: the rules of the session; 3: the verdict. The row says both.
                text, used = process.run(command, cpus, target.pid, (0, 1, 3), {"SYSDYNO_RUNS_DIR": runs}, longest_seconds=900)
            row = of_document(json.loads(text)) | {"rss_mib": used["rss_mib"], "other_cpus": used["other_cpus"]}
            row |= {name: outputs.sysdyno(text)[name] for name in ("failed", "verdict", "reasons")}
            result.setdefault(io, []).append(row)
            print(f"users {number + 1}/{rounds}: {io} {row}", file=sys.stderr)
    return result


def of_document(document):
    """Operations that users began in the measured time, and how many rules of each name there are and were met."""
    session, rules = document["session"], {}
    for rule in session["rules"]:
        counts = rules.setdefault(rule["rule"], {"met": 0, "of": 0})
        counts["met"] += rule["passed"]
        counts["of"] += 1
    return {
        "operations": sum(operation["measured"]["started_count"] for operation in session["operations"]),
        "rate_hz": session["rate_hz"],
        "rules": rules,
        "broken": [rule["sentence"] for rule in session["rules"] if not rule["passed"]],
    }


def summarise(result):
    """Medians; operations and rules are the worst of all rounds. With fewer operations than users not all were there."""
    return {
        io: {
            "rss_mib": statistic.median_of([row["rss_mib"] for row in rows if row["operations"] >= USERS]),
            "operations": min(row["operations"] for row in rows),
            "failed": sum(row["failed"] for row in rows),
            "verdicts": [row["verdict"] for row in rows],
            "reasons": sorted({reason for row in rows for reason in row["reasons"]}),
            "rules": worst([row["rules"] for row in rows]),
            "is_met": statistic.median_of([float(is_met(row)) for row in rows]),
        }
        for io, rows in result.items()
    }


def worst(rounds):
    """Of each rule, the fewest that were met in a round."""
    return {name: min((rules[name] for rules in rounds), key=lambda counts: counts["met"]) for name in rounds[0]}


def is_met(row):
    """Whether a run can be believed and keeps all rules."""
    return row["verdict"] == "VALID" and all(counts["met"] == counts["of"] for counts in row["rules"].values())
