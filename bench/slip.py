"""How late the generator sends in an open load: 50,000 requests per second at one nginx worker on the other CPU."""

import json
import sys

from bench import outputs, process, programs, statistic

RATE_HZ = 50_000
CONNECTIONS = 1000
CPUS = (0, 1)
"""sysdyno places its own threads: the sending one on the last CPU, the others where there is room."""
QUANTILES = ("p50", "p99", "p99_9", "max")

SPIN_OFF = ("--spin", "off")
"""How sysdyno is told not to spin before a deadline, if it can be told."""


def variants(program, ios):
    """Name, arrival and more options of each way to send."""
    found, can_spin = [], f"{SPIN_OFF[0]} " in programs.load_help(program)
    for io in ios:
        back_end = ["--io", io] if len(ios) > 1 else []
        name = f"sysdyno ({io})" if len(ios) > 1 else "sysdyno"
        for arrival in ("constant", "poisson"):
            found.append((f"{name}, {arrival}", ["--arrival", arrival, *back_end]))
        if can_spin:
            found.append((f"{name}, constant, without spin", ["--arrival", "constant", *back_end, *SPIN_OFF]))
    return found


def measure(program, more, server, seconds, runs):
    """One run of sysdyno: slip and response time in microseconds, CPUs, rate."""
    command = [program, "load", server.url, "--rate", f"{RATE_HZ}/s", "--duration", f"{seconds}s", "--json"]
    command += ["--connections", str(CONNECTIONS), "--threads", "1", *more]
    text, used = process.run(command, CPUS, server.pid, (0, 3), {"SYSDYNO_RUNS_DIR": runs})
    document = json.loads(text)
    row = {f"slip_us_{name}": microseconds(document["slip_ns"][name]) for name in QUANTILES}
    row |= {f"response_us_{name}": microseconds(document["response_time_ns"][name]) for name in ("p50", "p99")}
    return row | {
        "achieved_ratio": document["rates"]["achieved_hz"] / RATE_HZ,
        "generator_cpus": document["generator"]["cpu_seconds"] / seconds,
        "spin_cpus": document["generator"].get("spin_seconds", 0.0) / seconds,
        "server_cpus": used["server_cpus"],
        "other_cpus": used["other_cpus"],
        "verdict": document["verdict"]["status"],
        "reasons": outputs.sysdyno(text)["reasons"],
    }


def microseconds(nanoseconds):
    return None if nanoseconds is None else nanoseconds / 1e3


def measure_wrk2(server, seconds, runs):
    """One run of wrk2, which has no slip: its own lateness is in its response time."""
    command = ["wrk2", "-t1", f"-c{CONNECTIONS}", f"-R{RATE_HZ}", f"-d{seconds}s", "--latency", server.url]
    text, used = process.run(command, (1,), server.pid)
    said = outputs.wrk(text)
    row = {f"slip_us_{name}": None for name in QUANTILES}
    return row | {
        "response_us_p50": None if said["p50_ms"] is None else said["p50_ms"] * 1e3,
        "response_us_p99": None if said["p99_ms"] is None else said["p99_ms"] * 1e3,
        "achieved_ratio": said["rate_hz"] / RATE_HZ,
        "generator_cpus": (used["user_seconds"] + used["system_seconds"]) / used["seconds"],
        "spin_cpus": 0.0,
        "server_cpus": used["server_cpus"],
        "other_cpus": used["other_cpus"],
    }


def run(program, ios, server, rounds, seconds, runs):
    """Rounds of all variants, rotated."""
    chosen, rounds_of = variants(program, ios), {}
    for number in range(rounds):
        turn = number % len(chosen)
        for name, more in chosen[turn:] + chosen[:turn]:
            row = measure(program, more, server, seconds, runs)
            rounds_of.setdefault(name, []).append(row)
            print(f"slip {number + 1}/{rounds}: {name}: p99 {row['slip_us_p99']} us, {row['verdict']}", file=sys.stderr)
        if programs.find("wrk2"):
            rounds_of.setdefault("wrk2, constant", []).append(measure_wrk2(server, seconds, runs))
    return {name: rounds_of[name] for name, _ in chosen} | {
        name: rows for name, rows in rounds_of.items() if name.startswith("wrk2")
    }


def summarise(result):
    """Medians of all columns, and the verdicts that were given."""
    summary = {}
    for name, rows in result.items():
        columns = [column for column in rows[0] if column not in ("verdict", "reasons")]
        summary[name] = {column: statistic.median_of([row[column] for row in rows]) for column in columns}
        summary[name]["verdicts"] = [row["verdict"] for row in rows if "verdict" in row]
        summary[name]["reasons"] = sorted({reason for row in rows for reason in row.get("reasons", [])})
    return summary
