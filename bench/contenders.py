"""The tools that are compared: how each is told a load, and who reads what it prints.

Each runs with one thread (or as near to that as it can be brought), on one CPU, flat out. A tool that has no such mode
is left out of a scenario.
"""

import typing

from bench import outputs, programs

# More than any of these runs can complete; `ab` stops at 50,000 unless it is told a number.
ENDLESS = "10000000"


class Load(typing.NamedTuple):
    """What one run of a tool is to do. `requests` is for tools that are told a number instead of a time."""

    scenario: object
    host: str
    port: int
    seconds: int
    requests: int

    @property
    def url(self):
        return f"http://{self.host}:{self.port}{self.scenario.path}"

    @property
    def connections(self):
        return str(self.scenario.connections)


class Contender(typing.NamedTuple):
    """A tool. `command` returns its arguments for a load, or `None` if it has no such mode."""

    name: str
    program: str
    command: object
    read: object
    codes: tuple = (0,)
    environment: dict = {}


def sysdyno_command(program, io):
    """The command of sysdyno with one of its back ends (`None`: without saying which)."""

    def command(load):
        return (
            [program, "load", load.url, "--connections", load.connections, "--threads", "1", "--json"]
            + ["--duration", f"{load.seconds}s"]
            + (["--io", io] if io else [])
            + ([] if load.scenario.keeps_alive else ["--no-keepalive"])
        )

    return command


def wrk(load):
    closing = [] if load.scenario.keeps_alive else ["-H", "Connection: close"]
    return ["wrk", "-t1", f"-c{load.connections}", f"-d{load.seconds}s", "--latency", *closing, load.url]


def ab(load):
    keep = ["-k"] if load.scenario.keeps_alive else []
    # `-t` must come first: it sets the number that `-n` then replaces.
    return ["ab", "-q", *keep, "-c", load.connections, "-t", str(load.seconds), "-n", ENDLESS, load.url]


def h2load(load):
    if not load.scenario.keeps_alive:
        return None
    return ["h2load", "--h1", "-t1", f"-c{load.connections}", f"-D{load.seconds}", load.url]


def weighttp(load):
    keep = ["-k"] if load.scenario.keeps_alive else []
    return ["weighttp", "-t", "1", "-c", load.connections, "-n", str(load.requests), *keep, load.url]


def httperf(load):
    # It watches descriptors below 1,024 only.
    if load.scenario.connections > 500:
        return None
    calls = max(1, load.requests // load.scenario.connections) if load.scenario.keeps_alive else 1
    connections = load.scenario.connections if load.scenario.keeps_alive else load.requests
    # Without a rate it has one connection at a time; with a high one all of them begin at once, and each then sends
    # one request after another. A connection per request at a rate would be an open load, so that is one at a time.
    rate = ["--rate", "10000"] if load.scenario.keeps_alive else []
    where = ["--server", load.host, "--port", str(load.port), "--uri", load.scenario.path]
    return ["httperf", "--hog", *where, "--num-conns", str(connections), "--num-calls", str(calls), *rate]


def oha(load):
    closing = [] if load.scenario.keeps_alive else ["--disable-keepalive"]
    output = ["--no-tui", "--output-format", "json"]
    return ["oha", "-z", f"{load.seconds}s", "-c", load.connections, *output, *closing, load.url]


def hey(load):
    closing = [] if load.scenario.keeps_alive else ["-disable-keepalive"]
    return ["hey", "-z", f"{load.seconds}s", "-c", load.connections, "-cpus", "1", *closing, load.url]


OTHERS = (
    Contender("wrk", "wrk", wrk, outputs.wrk),
    Contender("weighttp", "weighttp", weighttp, outputs.weighttp),
    Contender("ab", "ab", ab, outputs.ab),
    Contender("h2load", "h2load", h2load, outputs.h2load),
    Contender("httperf", "httperf", httperf, outputs.httperf),
    Contender("oha", "oha", oha, outputs.oha, environment={"TOKIO_WORKER_THREADS": "1"}),
    Contender("hey", "hey", hey, outputs.hey),
)


def sysdynos(program):
    """sysdyno, once for each back end that it can be told; first the one that it takes by itself.

    Flat out the generator is its own limit, says so, and ends with 3.
    """
    default, all_of_them = programs.back_ends(program)
    if len(all_of_them) == 1:
        return [Contender("sysdyno", program, sysdyno_command(program, None), outputs.sysdyno, (0, 3))]
    ordered = [default, *(io for io in all_of_them if io != default)]
    return [
        Contender(f"sysdyno ({io})", program, sysdyno_command(program, io), outputs.sysdyno, (0, 3))
        for io in ordered
    ]


def present(program):
    """The tools that are there, sysdyno first, and the names of those that are not."""
    there = [contender for contender in OTHERS if programs.find(contender.program)]
    absent = [contender.name for contender in OTHERS if contender not in there]
    return sysdynos(program) + there, absent
