"""The tools whose wall time is measured: sysdyno, wrk, and k6, for a time or for a number of requests.

k6 keeps one connection for each user and each request of a batch, so its connections are users times batch size: with one
connection per user, 20,000 connections would need 20,000 JavaScript engines.
"""

import typing

from bench import outputs, programs

BATCH_MAX = 100
"""Concurrent requests of a k6 user."""


class Tool(typing.NamedTuple):
    """A tool. `arguments` returns how it is told a load, or `None` if it has no such mode."""

    name: str
    arguments: object
    read: object
    codes: tuple = (0,)


class Order(typing.NamedTuple):
    """What one run is to do: for `seconds`, or `requests` of them where that is not `None`."""

    url: str
    connections: int
    seconds: int
    requests: object = None

    @property
    def end(self):
        """How sysdyno and k6 are told the end."""
        return (f"{self.seconds}s", None) if self.requests is None else (None, str(self.requests))


def sysdyno(program, io):
    """sysdyno with one of its back ends (`None`: without saying which)."""

    def arguments(order):
        duration, requests = order.end
        command = [program, "load", order.url, "--connections", str(order.connections), "--threads", "1", "--json"]
        command += ["--duration", duration] if duration else ["--requests", requests]
        return command + (["--io", io] if io else [])

    return arguments


def wrk(order):
    """wrk knows no number of requests."""
    if order.requests is not None:
        return None
    return ["wrk", "-t1", f"-c{order.connections}", f"-d{order.seconds}s", "--latency", order.url]


def k6(order):
    duration, requests = order.end
    batch = next(size for size in range(BATCH_MAX, 0, -1) if order.connections % size == 0)
    users = str(order.connections // batch)
    length = ["--duration", duration] if duration else ["--iterations", requests]
    variables = ["-e", f"URL={order.url}", "-e", f"BATCH={batch}"]
    return ["k6", "run", "--quiet", "--no-usage-report", "--vus", users, *length, *variables, SCRIPT]


SCRIPT = str(programs.ROOT / "bench/k6.js")


def present(program, ios):
    """The tools that are there, sysdyno first, once for each back end."""
    own = [Tool(f"sysdyno ({io})" if len(ios) > 1 else "sysdyno", sysdyno(program, io), outputs.sysdyno, (0, 3)) for io in ios]
    others = [Tool("wrk", wrk, outputs.wrk), Tool("k6", k6, outputs.k6)]
    return own + [tool for tool in others if programs.find(tool.name)]


def absent():
    """The names of those that are not there."""
    return [name for name in ("wrk", "k6") if not programs.find(name)]
