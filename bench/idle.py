"""The cost of 10,000 open but mostly idle connections: the generator's memory."""

import pathlib
import sys
import threading

from bench import outputs, process, statistic
from bench.contest import GENERATOR_CPUS
from bench.servers import HOST, Nginx

CONNECTIONS = 10_000
RATE = "100/s"
SECONDS = 4
ESTABLISHED = "01"
"""State of a connection in `/proc/net/tcp` (include/net/tcp_states.h)."""


class Established(threading.Thread):
    """The maximum number of open connections to a port, sampled twice per second."""

    def __init__(self, port):
        super().__init__(daemon=True)
        address = "".join(f"{int(part):02X}" for part in reversed(HOST.split(".")))
        self.server = f"{address}:{port:04X}"
        self.most = 0
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.5):
            self.most = max(self.most, self.count(pathlib.Path("/proc/net/tcp").read_text()))

    def count(self, text):
        """Connections of the clients; each has a second line, of the server's end."""
        fields = (line.split(maxsplit=4) for line in text.splitlines()[1:])
        return sum(1 for field in fields if field[2] == self.server and field[3] == ESTABLISHED)

    def stop(self):
        self.ended.set()
        self.join()
        return self.most


def run(program, ios, rounds, runs):
    """Peak memory of each back end, and how many connections the kernel saw, round by round."""
    result = {}
    with Nginx(connections=CONNECTIONS + 1000) as server:
        for number in range(rounds):
            for io in ios:
                established = Established(server.port)
                command = [program, "load", server.url, "--rate", RATE, "--duration", f"{SECONDS}s", "--threads", "1"]
                command += ["--connections", str(CONNECTIONS), "--json"] + (["--io", io] if len(ios) > 1 else [])
                environment = {"SYSDYNO_RUNS_DIR": runs}
                text, used = process.run(command, GENERATOR_CPUS, server.pid, (0, 3), environment)
                said = outputs.sysdyno(text)
                row = {"rss_mib": used["rss_mib"], "connections": established.stop(), "failed": said["failed"]}
                result.setdefault(io, []).append(row)
                print(f"idle {number + 1}/{rounds}: {io} {row}", file=sys.stderr)
    return result


def summarise(result):
    """Medians; for connections, the minimum over all rounds. With fewer connections, the memory is not comparable."""
    return {
        io: {
            "rss_mib": statistic.median_of([row["rss_mib"] for row in rows if row["connections"] >= CONNECTIONS]),
            "connections": min(row["connections"] for row in rows),
            "failed": sum(row["failed"] for row in rows),
        }
        for io, rows in result.items()
    }
