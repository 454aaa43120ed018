"""Runs the tools in turn under one scenario, round by round.

A round runs each tool once, for equal time, in an order that rotates from round to round, so that drift of the machine
affects all of them. Each tool is then compared with sysdyno within its round.
"""

import sys

from bench import process, statistic
from bench.contenders import Load
from bench.servers import HOST

GENERATOR_CPUS = (1,)
"""The server has CPU 0."""


def measure(contender, load, server, runs):
    """One run of one tool: its output, and its cost."""
    command = contender.command(load)
    environment = contender.environment | {"SYSDYNO_RUNS_DIR": runs}
    text, used = process.run(command, GENERATOR_CPUS, server, contender.codes, environment)
    said = contender.read(text)
    requests = said["requests"]
    if not requests:
        raise process.CannotMeasure(f"{' '.join(command)} completed no request\n{text[-2000:]}")
    wanted = contender.name.partition("(")[2].rstrip(")")
    if wanted and wanted not in said["io"]:
        raise process.CannotMeasure(f"{contender.name} sent with {said['io']}")
    # Of its sending threads alone, as sysdyno says; nobody else says it.
    thread_us = said["thread_seconds"] * 1e6 / requests if "thread_seconds" in said else None
    return said | used | {
        "thread_us": thread_us,
        "user_us": used["user_seconds"] * 1e6 / requests,
        "system_us": used["system_seconds"] * 1e6 / requests,
        "cpu_us": (used["user_seconds"] + used["system_seconds"]) * 1e6 / requests,
    }


def run_seconds(scenario, options):
    """Length of each run; in whole seconds, since some tools accept no fractions."""
    return max(1, round(options.seconds * scenario.share))


def prepare(scenario, contenders, server, runs):
    """The files and keys that the server needs before the first round."""
    load = Load(scenario, HOST, server.ports[scenario.speaks], 1, 1, server.certificate)
    for contender in contenders:
        if command := contender.prepare(load):
            process.run(command, GENERATOR_CPUS, server.pid, contender.codes, {"SYSDYNO_RUNS_DIR": runs})


def run(scenario, contenders, server, options, runs):
    """All rounds of a scenario: for each tool, by name, a list of its costs; a tool that failed is missing from its round."""
    seconds = run_seconds(scenario, options)
    # For tools that are told a number of requests: by their rate in the last round, in the first one by that of sysdyno,
    # which is the first one to run.
    rate_hz, rounds = {}, []
    prepare(scenario, contenders, server, runs)
    for number in range(options.rounds):
        turn, row = number % len(contenders), {}
        for contender in contenders[turn:] + contenders[:turn]:
            expected_hz = rate_hz.get(contender.name, rate_hz.get(contenders[0].name, 1000.0))
            requests = max(1, round(expected_hz * seconds))
            load = Load(scenario, HOST, server.ports[scenario.speaks], seconds, requests, server.certificate)
            if contender.command(load) is None:
                continue
            try:
                row[contender.name] = measure(contender, load, server.pid, runs)
            except process.CannotMeasure as error:
                print(f"{scenario.id} {number + 1}/{options.rounds}: left out: {error}", file=sys.stderr)
                continue
            rate_hz[contender.name] = row[contender.name]["rate_hz"]
        rounds.append(row)
        costs = ", ".join(f"{name} {cell['cpu_us']:.2f}" for name, cell in sorted(row.items()))
        print(f"{scenario.id} {number + 1}/{options.rounds}: CPU us per request: {costs}", file=sys.stderr)
    return rounds


def summarise(rounds, names):
    """Medians of each tool, and the ratio of the first tool's CPU time per request to its, in the rounds of both; the
    other way round that is the ratio of their requests per CPU second."""
    reference, summary = names[0], {}
    for name in names:
        cells = [row[name] for row in rounds if name in row]
        if not cells:
            continue
        columns = ("cpu_us", "user_us", "system_us", "thread_us", "rate_hz", "rss_mib", "p99_ms", "other_cpus")
        summary[name] = {column: statistic.median_of([cell[column] for cell in cells]) for column in columns}
        summary[name]["rounds"] = len(cells)
        summary[name]["failed"] = sum(cell["failed"] for cell in cells)
        summary[name]["verdicts"] = sorted({cell["verdict"] for cell in cells if "verdict" in cell})
        both = [row for row in rounds if name in row and reference in row and name != reference]
        own, its = ([row[of]["cpu_us"] for row in both] for of in (reference, name))
        summary[name]["ratio"] = statistic.paired_ratio(own, its)
        summary[name]["per_cpu"] = statistic.paired_ratio(its, own)
    return {"reference": reference, "tools": summary}
