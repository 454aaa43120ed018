"""The time that a tool takes beyond the requested time: for one second over 64 connections, and for ten requests over one.

Ten requests take a millisecond, so their whole run counts as extra time.
"""

import sys

from bench import process, statistic, wall
from bench.contest import GENERATOR_CPUS
from bench.servers import Nginx

ORDERS = {"second": (64, 1, None), "ten": (1, 0, 10)}
"""Connections, seconds and requests of each."""


def run(program, ios, rounds, runs):
    """All rounds: what each tool took for each order, in an order that rotates."""
    tools, result = wall.present(program, ios), []
    with Nginx() as server:
        for number in range(rounds):
            turn, row = number % len(tools), {}
            for tool in tools[turn:] + tools[:turn]:
                row[tool.name] = measure(tool, server, runs)
            result.append(row)
            print(f"startup {number + 1}/{rounds}: {told(row)}", file=sys.stderr)
    return result


def measure(tool, server, runs):
    """What one tool took besides, in milliseconds, and its CPU time, for each order that it knows."""
    cells = {}
    for name, (connections, seconds, requests) in ORDERS.items():
        command = tool.arguments(wall.Order(server.url, connections, seconds, requests))
        if command is None:
            continue
        text, used = process.run(command, GENERATOR_CPUS, server.pid, tool.codes, {"SYSDYNO_RUNS_DIR": runs})
        if not tool.read(text)["requests"]:
            raise process.CannotMeasure(f"{' '.join(command)} completed no request")
        cells[name] = {
            "beside_ms": (used["seconds"] - seconds) * 1e3,
            "cpu_ms": (used["user_seconds"] + used["system_seconds"]) * 1e3,
            "other_cpus": used["other_cpus"],
        }
    return cells


def told(row):
    """A round in a line."""
    return ", ".join(
        f"{name} " + " / ".join(f"{cell['beside_ms']:.0f} ms" for cell in cells.values()) for name, cells in row.items()
    )


def summarise(rounds):
    """Medians of each tool."""
    summary = {}
    for name in rounds[0]:
        summary[name] = {
            f"{order}_{column}": statistic.median_of([row[name][order][column] for row in rounds if order in row[name]])
            for order in ORDERS
            for column in ("beside_ms", "cpu_ms", "other_cpus")
        }
    return summary
