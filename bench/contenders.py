"""The tools under comparison: how to give each one a load, and which function parses its output.

Each runs flat out with one thread (or as close to that as possible) on one CPU. A tool without such a mode is left out of a
scenario.
"""

import typing

from bench import outputs, programs
from bench.scenarios import HTTP, HTTP2, HTTPS, KEY_BYTES, KEYS_PER_CONNECTION, MEMCACHED, VALUE_BYTES

# More than any of these runs can complete; `ab` stops at 50,000 unless it is told a number.
ENDLESS = "10000000"


class Load(typing.NamedTuple):
    """The load of one run of a tool. `requests` is for tools that take a number instead of a time, `certificate`
    the file with the one that a server with TLS shows, which is for `localhost`."""

    scenario: object
    host: str
    port: int
    seconds: int
    requests: int
    certificate: str = ""

    @property
    def url(self):
        scheme = HTTP if self.scenario.speaks == HTTP2 else self.scenario.speaks
        return f"{scheme}://{self.authority}{self.scenario.path}"

    @property
    def authority(self):
        return f"{self.host}:{self.port}"

    @property
    def connections(self):
        return str(self.scenario.connections)


class Contender(typing.NamedTuple):
    """A tool. `arguments` returns its arguments for a load in a protocol that it `speaks`, or `None` if it has no such mode."""

    name: str
    program: str
    arguments: object
    read: object
    codes: tuple = (0,)
    environment: dict = {}
    speaks: tuple = (HTTP,)
    prepare: object = lambda load: None
    """Returns the command to run once before all rounds of a scenario, or `None`."""

    def command(self, load):
        """Its command line for a load; `None` if it cannot send that load."""
        return self.arguments(load) if load.scenario.speaks in self.speaks else None


def sysdyno_command(program, io):
    """The command of sysdyno with one of its back ends (`None`: the default)."""

    def command(load):
        return (
            [program, "load", load.url, "--connections", load.connections, "--threads", "1", "--json"]
            + ["--duration", f"{load.seconds}s"]
            + (["--io", io] if io else [])
            + ([] if load.scenario.keeps_alive else ["--no-keepalive"])
            + sysdyno_options(load)
        )

    return command


def sysdyno_options(load):
    """sysdyno's options for the protocol."""
    keys = KEYS_PER_CONNECTION * load.scenario.connections
    sizes = ["--mc-key-size", str(KEY_BYTES), "--mc-value-size", str(VALUE_BYTES)]
    return {
        HTTP: [],
        HTTPS: ["--tls-ca", load.certificate, "--tls-name", "localhost"],
        HTTP2: ["--http2", "prior", "--streams", str(load.scenario.streams)],
        MEMCACHED: ["--mc-gets", "100%", "--mc-keys", str(keys), *sizes, "--seed", "1", "--mc-no-preload"],
    }[load.scenario.speaks]


def preload(program):
    """Stores the keys of sysdyno's loads, which the seed decides; `memcaslap` stores its own in each run."""

    def command(load):
        if load.scenario.speaks != MEMCACHED:
            return None
        options = [option for option in sysdyno_options(load) if option != "--mc-no-preload"]
        return [program, "load", load.url, "--connections", "1", "--requests", "1", "--json", *options]

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
    version = [f"-m{load.scenario.streams}"] if load.scenario.speaks == HTTP2 else ["--h1"]
    return ["h2load", *version, "-t1", f"-c{load.connections}", f"-D{load.seconds}", load.url]


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


def s_time(load):
    # It has one connection at a time, and asks for a page over each; the chain is verified, the name is not.
    if load.scenario.keeps_alive:
        return None
    where = ["-connect", load.authority, "-www", load.scenario.path]
    return ["openssl", "s_time", *where, "-new", "-time", str(load.seconds), "-CAfile", load.certificate, "-verify", "2"]


def memcaslap(load):
    # A thread binds itself to a CPU only if there are several. The window is what it calls the keys of a connection.
    connections = ["--threads=1", f"--concurrency={load.connections}", f"--win_size={KEYS_PER_CONNECTION // 1024}k"]
    return ["memcaslap", f"--servers={load.authority}", *connections, f"--time={load.seconds}s", f"--cfg_cmd={MEMCASLAP}"]


MEMCASLAP = str(programs.ROOT / "bench/memcaslap.cfg")

OTHERS = (
    Contender("wrk", "wrk", wrk, outputs.wrk, speaks=(HTTP, HTTPS)),
    Contender("weighttp", "weighttp", weighttp, outputs.weighttp),
    Contender("ab", "ab", ab, outputs.ab),
    Contender("h2load", "h2load", h2load, outputs.h2load, speaks=(HTTP, HTTPS, HTTP2)),
    Contender("httperf", "httperf", httperf, outputs.httperf),
    Contender("oha", "oha", oha, outputs.oha, environment={"TOKIO_WORKER_THREADS": "1"}),
    Contender("hey", "hey", hey, outputs.hey),
    Contender("openssl s_time", "openssl", s_time, outputs.s_time, speaks=(HTTPS,)),
    Contender("memcaslap", "memcaslap", memcaslap, outputs.memcaslap, speaks=(MEMCACHED,)),
)


def sysdynos(program):
    """sysdyno, once for each back end; first the one that it uses by default.

    Flat out the generator is its own limit, says so, and ends with 3.
    """
    default, all_of_them = programs.back_ends(program)
    everything = (HTTP, HTTPS, HTTP2, MEMCACHED)

    def one(name, io):
        return Contender(name, program, sysdyno_command(program, io), outputs.sysdyno, (0, 3), {}, everything, preload(program))

    if len(all_of_them) == 1:
        return [one("sysdyno", None)]
    return [one(f"sysdyno ({io})", io) for io in (default, *(io for io in all_of_them if io != default))]


def present(program):
    """The installed tools, sysdyno first, and the names of the missing ones."""
    there = [contender for contender in OTHERS if programs.find(contender.program)]
    absent = [contender.name for contender in OTHERS if contender not in there]
    return sysdynos(program) + there, absent
