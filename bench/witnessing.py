"""Captures with tcpdump while sysdyno measures, and compares what both saw of the same requests.

tcpdump is a separate process that uses the kernel's time stamps, the pairing (`exchanges`) knows nothing about sysdyno, and
sysdyno knows nothing about the capture. A comparison is void if the capture lost a packet or if the numbers of requests
differ.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile
import time
import typing

from bench import agreement, exchanges, machine, outputs, page, process, programs
from bench.capture import CaptureError, Reader
from bench.servers import Nginx

TEMPLATE = pathlib.Path(__file__).with_name("witness.template")
BUFFER_KIB = 256 * 1024
SERVER_CPU = 0
CPUS = (0, 1)
"""sysdyno places its own threads: the sending one on the last CPU, the others where there is room."""
SNAP_BYTES = 512
"""Enough for a request and for the head of a response."""
NO_SLEEP = pathlib.Path("/dev/cpu_dma_latency")
"""While it is held open with 0, idle CPUs poll instead of sleeping (Documentation/power/pm_qos_interface.rst)."""


class Mode(typing.NamedTuple):
    """A load. Only judged ones have to agree; the others show what stands between wire and program."""

    title: str
    load: tuple
    is_awake: bool
    is_judged: bool


MODES = (
    Mode("closed, 1 connection", ("--connections", "1"), True, True),
    Mode("closed, 4 connections", ("--connections", "4"), True, True),
    Mode("open, 20,000/s, constant", ("--rate", "20k/s", "--arrival", "constant"), True, True),
    Mode("open, 20,000/s, Poisson", ("--rate", "20k/s", "--arrival", "poisson"), True, True),
    Mode("open, 5,000/s, constant, CPUs may sleep", ("--rate", "5k/s", "--arrival", "constant"), False, False),
    Mode("closed, 64 connections: generator at its limit", ("--connections", "64"), True, False),
)


@contextlib.contextmanager
def awake(wanted):
    """Keeps idle CPUs from sleeping inside the `with` block."""
    if not wanted:
        yield
        return
    with open(NO_SLEEP, "wb", buffering=0) as held:
        held.write(struct.pack("i", 0))
        yield


class Capture:
    """tcpdump on the loopback interface, of one port, in its own process, for the `with` block."""

    def __init__(self, port, path):
        self.command = [programs.find("tcpdump"), "-i", "lo", "-n", "-B", str(BUFFER_KIB), "-s", str(SNAP_BYTES)]
        self.command += ["--time-stamp-precision=nano", "-w", str(path), f"tcp port {port}"]
        self.lost = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command,
            stderr=subprocess.PIPE,
            text=True,
            env=programs.environment(LC_ALL="C"),
            # Beside the server: what it takes there is between request and response, where both see it.
            preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CPU}),
        )
        said = ""
        # It says that it listens when the socket is open, and nothing is missed from then on.
        for line in self.process.stderr:
            said += line
            if "listening on" in line:
                return self
        self.process.wait()
        raise process.CannotMeasure(f"tcpdump does not start: {said.strip()}\nhint: run as root")

    def __exit__(self, *_):
        # The last packets wait in its buffer until its read times out, which takes a second at most.
        time.sleep(1.5)
        self.process.terminate()
        said = self.process.stderr.read()
        self.process.wait()
        self.lost = outputs.first(r"^(\d+) packets dropped by kernel", said, int)


def watch(program, io, mode, server, seconds):
    """One run of sysdyno under a capture: its document, and what was read from the capture."""
    with tempfile.TemporaryDirectory(prefix="sysdyno-witness-") as folder:
        path = pathlib.Path(folder, "capture.pcap")
        # tcpdump gives up root before it writes.
        path.touch()
        os.chmod(folder, 0o711)
        os.chmod(path, 0o666)
        capture = Capture(server.port, path)
        command = [program, "load", server.url, *mode.load, "--duration", f"{seconds}s", "--threads", "1", "--json"]
        command += ["--io", io] if io else []
        with awake(mode.is_awake), capture:
            text, used = process.run(command, CPUS, server.pid, (0, 3), {"SYSDYNO_RUNS_DIR": folder})
        damage, requests, service_ns = None, 0, []
        try:
            with open(path, "rb") as file:
                requests, service_ns = exchanges.pair(Reader(file), server.port)
        except CaptureError as error:
            damage = str(error)
    seen = {"requests": requests, "service_ns": sorted(service_ns), "lost": capture.lost, "damage": damage}
    return json.loads(text), used, seen


def measure(options, typed):
    """All modes on all back ends."""
    if not os.access(options.program, os.X_OK):
        raise process.CannotMeasure(f"no program at '{options.program}'\nhint: make build")
    if programs.find("tcpdump") is None:
        raise process.CannotMeasure("tcpdump is not installed\nhint: make bench-tools, as root")
    if not os.access(NO_SLEEP, os.W_OK):
        raise process.CannotMeasure(f"cannot write to '{NO_SLEEP}'\nhint: run as root")
    default, ios = programs.back_ends(options.program)
    ios = [default, *(io for io in ios if io != default)]
    rounds = {(io, mode): [] for io in ios for mode in MODES}
    with Nginx() as server:
        for number in range(options.rounds):
            for (io, mode), rows in rounds.items():
                given = io if len(ios) > 1 else None
                rows.append(agreement.compare(*watch(options.program, given, mode, server, options.seconds)))
                print(f"round {number + 1}/{options.rounds}: {io}, {mode.title}: {agreement.described(rows[-1])}", file=sys.stderr)
    rows = [agreement.join(mode, of_mode) for (_, mode), of_mode in rounds.items()]
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "command": shlex.join(["bench/witness", *typed]),
        "seconds": options.seconds,
        "rounds": options.rounds,
        "machine": machine.describe(),
        "versions": programs.versions(options.program),
        "rows": rows,
    }


def markdown(document):
    """The page."""
    values = {
        "date": document["date"],
        "command": document["command"],
        "summary": agreement.summary(document),
        "seconds": str(document["seconds"]),
        "rounds": str(document["rounds"]),
        "limit": str(agreement.LIMIT_US),
        "comparison": agreement.comparison_table(document["rows"]).markdown(),
        "counts": agreement.count_table(document["rows"]).markdown(),
        "environment": page.environment_table(document).markdown(),
    }
    return page.fill(TEMPLATE.read_text(), values)


def main(typed):
    parser = argparse.ArgumentParser(
        prog="bench/witness", description="Compares sysdyno's service times with a capture of the same run."
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each mode [default: 3]")
    parser.add_argument("--seconds", type=int, default=5, help="length of each run [default: 5]")
    parser.add_argument("--program", default=str(programs.ROOT / "target/release/sysdyno"), help="sysdyno")
    parser.add_argument("--markdown", metavar="FILE", help="write the page of the result there, too")
    options = parser.parse_args(typed)
    if options.rounds < 1 or options.seconds < 1:
        parser.error("rounds and seconds have to be positive")
    options.program = os.path.abspath(options.program)
    try:
        document = measure(options, typed)
    except process.CannotMeasure as error:
        print(f"error: cannot compare: {error}", file=sys.stderr)
        return 2
    rows = document["rows"]
    print(f"times in µs\n\n{agreement.comparison_table(rows).text()}\n\n{agreement.count_table(rows).text()}\n\n{agreement.summary(document)}")
    if options.markdown:
        pathlib.Path(options.markdown).write_text(markdown(document))
    return agreement.exit_code(rows)
