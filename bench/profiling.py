"""The cost of a profile of the whole host, compared with perf: CPU time while sampling, the time from its end to folded stacks, and
the time from its start to the first sample.

Both sample nginx under a constant load, one after the other, in an order that rotates.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import time

from bench import process, programs, statistic
from bench.servers import Nginx

RATE_HZ = 99
CONNECTIONS = 16


def run(program, rounds, seconds):
    """All rounds: what each tool took."""
    if os.geteuid() != 0 or not programs.find("perf"):
        raise process.CannotMeasure("profiles are held against perf, which takes root")
    result = []
    with Nginx() as server, tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            load = [program, "load", server.url, "-c", str(CONNECTIONS), "-t", "1", "-d", f"{4 * seconds + 10}s"]
            environment = programs.environment(SYSDYNO_RUNS_DIR=folder)
            sending = subprocess.Popen(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            try:
                time.sleep(1)
                tools = {"sysdyno": lambda: of_sysdyno(program, seconds), "perf": lambda: of_perf(folder, seconds)}
                names = sorted(tools, reverse=number % 2 == 1)
                result.append({name: tools[name]() for name in names})
            finally:
                sending.terminate()
                sending.wait()
            print(f"profiling {number + 1}/{rounds}: {told(result[-1])}", file=sys.stderr)
    return result


def of_sysdyno(program, seconds):
    """The profile says when sampling began and ended."""
    command = [program, "profile", "-d", f"{seconds}s", "-F", str(RATE_HZ), "--json"]
    start = time.monotonic()
    text, _ = process.run(command, range(os.cpu_count()))
    end = time.monotonic()
    profile = json.loads(text)["profile"]
    return {
        "before_ms": (profile["begin_mono_ns"] / 1e9 - start) * 1e3,
        "after_ms": (end - profile["end_mono_ns"] / 1e9) * 1e3,
        "sampling_ms": profile["cost"]["sampling_cpu_ns"] / 1e6,
    }


def of_perf(folder, seconds):
    """`perf record`, then `perf script`, whose text is folded."""
    data = f"{folder}/perf.data"
    command = ["perf", "record", "-q", "-F", str(RATE_HZ), "-e", "cpu-clock", "-a", "-g", "-o", data]
    _, used = process.run([*command, "--", "sleep", str(seconds)], range(os.cpu_count()))
    began = time.monotonic()
    text, _ = process.run(["perf", "script", "-i", data], range(os.cpu_count()))
    folded(text)
    after = time.monotonic() - began
    return {"after_ms": after * 1e3, "sampling_ms": (used["user_seconds"] + used["system_seconds"]) * 1e3}


def folded(text):
    """Stacks of `perf script` and how often each occurred."""
    stacks = collections.Counter()
    for sample in text.split("\n\n"):
        lines = sample.strip().splitlines()
        if not lines:
            continue
        frames = [line.split(None, 1)[1].rsplit(" (", 1)[0] for line in lines[1:] if " " in line.strip()]
        name = lines[0].split()[0]
        stacks[";".join([name, *(frame.split("+0x")[0] for frame in reversed(frames))])] += 1
    return stacks


def told(row):
    """A round in a line."""
    return ", ".join(f"{name} {cell['after_ms']:.0f} ms after, {cell['sampling_ms']:.0f} ms CPU" for name, cell in row.items())


def summarise(rounds):
    """Medians of each tool, and the ratios of the pairs."""
    summary = {
        name: {column: statistic.median_of([row[name][column] for row in rounds]) for column in rounds[0][name]}
        for name in ("sysdyno", "perf")
    }
    for column in ("after_ms", "sampling_ms"):
        pairs = ([row[name][column] for row in rounds] for name in ("sysdyno", "perf"))
        summary["sysdyno"][f"{column}_ratio"] = statistic.paired_ratio(*pairs)
    return summary
