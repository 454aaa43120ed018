"""20,000 connections for five seconds: how long it takes to open and to close them, and how that affects other processes.

During each run, a small open load on the generator's CPU sends requests to another server at even intervals: its longest
request shows how long other processes on that CPU were stalled. It is also measured without any tool.
"""

import json
import pathlib
import resource
import subprocess
import sys
import threading
import time

from bench import outputs, process, programs, statistic, wall
from bench.contest import GENERATOR_CPUS
from bench.servers import BuiltInTarget, Nginx

CONNECTIONS, SECONDS = 20_000, 5
DESCRIPTORS = CONNECTIONS + 4_000
BESIDE_HZ = 500
BESIDE_SECONDS = 40
"""Longer than any tool takes; the background load is stopped when the tool has ended."""

ALONE = "none"

SOCKSTAT = pathlib.Path("/proc/net/sockstat")


class Inuse(threading.Thread):
    """The maximum number of loopback connections that the kernel has had at a time since this began.

    By its count of sockets in use: a table of 40,000 sockets would cost the CPUs more than the tools do.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.before = self.most = self.sockets(SOCKSTAT.read_text())
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.1):
            self.most = max(self.most, self.sockets(SOCKSTAT.read_text()))

    @staticmethod
    def sockets(text):
        """TCP sockets in use."""
        return outputs.first(r"^TCP: inuse (\d+)", text, int) or 0

    def stop(self):
        self.ended.set()
        self.join()
        # Both ends are on this host.
        return (self.most - self.before) // 2


def run(program, ios, rounds, runs):
    """All rounds: wall and CPU time of each tool, connections that the kernel saw, and the longest stall of the background load."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    tools = wall.present(program, ios)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit[0], DESCRIPTORS), max(limit[1], DESCRIPTORS)))
    except (OSError, ValueError) as error:
        raise process.CannotMeasure(f"{DESCRIPTORS} descriptors are needed: {error}\nhint: as root, or ulimit -n") from error
    result = []
    try:
        for number in range(rounds):
            turn, row = number % len(tools), {ALONE: alone(program, runs)}
            for tool in tools[turn:] + tools[:turn]:
                # A server of its own: the ports of the last one's connections are still in TIME_WAIT.
                with Nginx(connections=CONNECTIONS + 1000) as server:
                    row[tool.name] = measure(tool, server, program, runs)
            result.append(row)
            print(f"crowd {number + 1}/{rounds}: {row}", file=sys.stderr)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    return result


def measure(tool, server, program, runs):
    """One run of one tool."""
    command = tool.arguments(wall.Order(server.url, CONNECTIONS, SECONDS))
    with Beside(program, runs) as beside:
        inuse = Inuse()
        text, used = process.run(command, GENERATOR_CPUS, server.pid, tool.codes, {"SYSDYNO_RUNS_DIR": runs})
        connections = inuse.stop()
    said = tool.read(text)
    return {
        "seconds": used["seconds"],
        "user_seconds": used["user_seconds"],
        "system_seconds": used["system_seconds"],
        "rss_mib": used["rss_mib"],
        "connections": connections,
        "requests": said["requests"],
        "failed": said["failed"],
        "stopped_ms": beside.stopped_ms,
        "other_cpus": used["other_cpus"],
    }


def alone(program, runs):
    """The background load on its own."""
    with Beside(program, runs) as beside:
        time.sleep(SECONDS)
    return {"stopped_ms": beside.stopped_ms}


class Beside:
    """A load of 500 requests per second on the generator's CPU, for the length of the `with` block."""

    def __init__(self, program, runs):
        self.program, self.runs = program, runs
        self.target = BuiltInTarget(program, 1, GENERATOR_CPUS)

    def __enter__(self):
        self.target.__enter__()
        command = [self.program, "load", self.target.url, "--rate", f"{BESIDE_HZ}/s", "--arrival", "constant", "--json"]
        command += ["--connections", "4", "--threads", "1", "--duration", f"{BESIDE_SECONDS}s"]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=programs.environment(SYSDYNO_RUNS_DIR=self.runs),
            preexec_fn=lambda: process.pin(GENERATOR_CPUS),
        )
        # Its own start is not what is measured.
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        text, _ = self.process.communicate()
        self.target.__exit__()
        self.stopped_ms = json.loads(text)["response_time_ns"]["max"] / 1e6


def summarise(rounds):
    """Medians of each tool; the fewest connections, the sum of failures. With fewer connections, a tool has done less work."""
    columns = ("seconds", "user_seconds", "system_seconds", "rss_mib", "stopped_ms", "other_cpus")
    summary = {}
    for name in rounds[0]:
        rows = [row[name] for row in rounds]
        summary[name] = {column: statistic.median_of([row.get(column) for row in rows]) for column in columns}
        if name != ALONE:
            summary[name]["connections"] = min(row["connections"] for row in rows)
            summary[name]["failed"] = sum(row["failed"] for row in rows)
            summary[name]["requests"] = min(row["requests"] for row in rows)
    return summary
