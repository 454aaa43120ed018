"""The cost of a long run: resident memory after a minute and at the end, the record, and the time to read a day of it.

Each tool that accepts a rate sends the same 200 requests per second for minutes; `wrk` does not, and goes flat out on
one connection. Only sysdyno keeps a record. The writer that all runs use writes the folder of a day in virtual time
(`crates/record/examples/day`), and the program reads it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from bench import outputs, process, programs
from bench.contest import GENERATOR_CPUS
from bench.programs import ROOT
from bench.servers import Nginx

RATE_HZ = 200
FIRST_SECONDS = 60
"""The memory with which later memory is compared."""

K6_SCRIPT = """
import http from "k6/http";
export const options = { scenarios: { load: {
  executor: "constant-arrival-rate", rate: %d, timeUnit: "1s", duration: "%ds", preAllocatedVUs: 8, maxVUs: 64 } } };
export default function () { http.get("%s"); }
"""


def run(program, minutes, runs):
    """Memory of each tool over that many minutes, and the cost of reading a day."""
    live = {}
    with Nginx() as server:
        for name, command in commands(program, server.url, minutes * 60, runs):
            live[name] = watch(command, runs)
            print(f"long: {name} {live[name]}", file=sys.stderr)
    return {"minutes": minutes, "live": live, "day": day(program, runs)}


def commands(program, url, seconds, runs):
    """The installed tools."""
    load = ["load", url, "--rate", f"{RATE_HZ}/s", "--duration", f"{seconds}s", "--connections", "8", "--threads", "1"]
    yield "sysdyno", [program, *load, "--runs-dir", f"{runs}/long"]
    if wrk := programs.find("wrk"):
        yield "wrk, flat out", [wrk, "-t", "1", "-c", "1", "-d", f"{seconds}s", url]
    if k6 := programs.find("k6"):
        script = pathlib.Path(runs) / "long.js"
        script.write_text(K6_SCRIPT % (RATE_HZ, seconds, url))
        yield "k6", [k6, "run", "--quiet", "--no-usage-report", str(script)]


def watch(command, runs):
    """Runs one tool, and samples its memory once per second."""
    seen, began = [], time.monotonic()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            preexec_fn=lambda: os.sched_setaffinity(0, set(GENERATOR_CPUS)),
            env=programs.environment(),
        )
        while child.poll() is None:
            seen.append((time.monotonic() - began, rss_mib(child.pid)))
            time.sleep(1)
        output.seek(0)
        if child.returncode not in (0, 3):
            raise process.CannotMeasure(f"{command[0]} ended with {child.returncode}\n{output.read()[-2000:]!r}")
    folders = [path for path in pathlib.Path(runs, "long").glob("*") if path.is_dir()] if "--runs-dir" in command else []
    return summary(seen) | {"folder_bytes": size(folders[0]) if folders else None}


def rss_mib(pid):
    """Resident memory of a process; `None` once it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    kib = outputs.first(r"^VmRSS:\s+(\d+) kB", text, int)
    return kib / 1024 if kib else None


def summary(seen):
    """Memory after a minute, and in the last ten seconds but three: in these a tool may already conclude."""
    seen = [(at, rss) for at, rss in seen if rss is not None]
    end = seen[-1][0]
    first = [rss for at, rss in seen if FIRST_SECONDS <= at < FIRST_SECONDS + 10]
    last = [rss for at, rss in seen if end - 13 <= at < end - 3]
    return {"first_mib": max(first, default=None), "last_mib": max(last, default=None), "seconds": end}


def size(folder):
    """Bytes of the files of a folder."""
    return sum(path.stat().st_size for path in pathlib.Path(folder).iterdir())


def day(program, runs):
    """The folder of a day, and time and memory of each command that reads it."""
    example = ["cargo", "run", "--release", "--quiet", "--package", "sysdyno-record", "--example", "day", "--"]
    folders = []
    for hours in ("24", "1"):
        made = subprocess.run([*example, f"{runs}/day", hours], cwd=ROOT, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise process.CannotMeasure(f"no folder of a day\n{made.stderr[-2000:]}")
        folders.append(made.stdout.strip())
    read = {}
    for words in (["show", folders[0]], ["report", folders[0]], ["compare", *folders]):
        _, used = process.run([program, *words], range(os.cpu_count()), None, (0, 1, 3), longest_seconds=7200)
        cpu = used["user_seconds"] + used["system_seconds"]
        read[words[0]] = {"seconds": used["seconds"], "cpu_seconds": cpu, "rss_mib": used["rss_mib"]}
        print(f"day: {words[0]} {read[words[0]]}", file=sys.stderr)
    page = pathlib.Path(folders[0], "report.html").stat().st_size
    return {"folder_bytes": size(folders[0]) - page, "page_bytes": page, "read": read}


def summarise(result):
    """The result as it is: there is one of each."""
    return result
