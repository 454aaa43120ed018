"""The cost of reading the kernel ten times per second, as measured by the example program; what that does to the p99 of a load
beside it; what a load on a terminal spends on its picture; and the cost of `watch`, compared with dstat."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import termios
import time

from bench import process, statistic
from bench.programs import ROOT, environment
from bench.servers import Nginx

THREADS = (12, 200, 2000)

EXAMPLE = ["cargo", "run", "--quiet", "--release", "--package", "sysdyno-observe", "--example", "sampler_cost", "--"]

RATE_HZ = 2000
CONNECTIONS = 16


def run(program, rounds, seconds):
    """All of it, as text."""
    blocks = [cost(f"--threads={threads}") for threads in THREADS]
    return "\n\n".join([*blocks, effect(program, rounds, seconds), live(program, rounds, seconds), "\n".join(watching())])


def cost(server):
    """The output of the example, with a server of its own: there are sockets and processes to read, as in a real run."""
    done = subprocess.run([*EXAMPLE, server], cwd=ROOT, capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        return f"a server of {server.partition('=')[2]} threads\ncannot measure: {done.stderr.strip()[-500:]}"
    # How often each column has a value is of no use here.
    lines = [line for line in done.stdout.strip().splitlines() if not line.startswith("rows with value")]
    return "\n".join([f"a server of {server.partition('=')[2]} threads", *lines])


def effect(program, rounds, seconds):
    """A line on the p99 of a load while one more sysdyno observes the same server, divided by that without it."""
    try:
        p99_ms = in_pairs(rounds, lambda server, folder, is_observed: measured(program, server, seconds, folder, is_observed))
    except process.CannotMeasure as error:
        return f"effect on a load: cannot measure: {error}"
    ratio, without = statistic.paired_ratio(p99_ms[True], p99_ms[False]), statistic.median_of(p99_ms[False])
    interval = ratio["interval"]
    spread = f"{interval['low']:.3f} to {interval['high']:.3f}" if interval else "too few rounds for an interval"
    return (
        f"effect on a load: p99 at {RATE_HZ} requests/s with one more observer ÷ without: {ratio['median']:.3f} ({spread}; "
        f"{rounds} pairs; without {without['median']:.3f} ms)"
    )


def in_pairs(rounds, measure):
    """What `measure` says with and without something, in an order that turns from pair to pair."""
    values = {False: [], True: []}
    with Nginx() as server, tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for is_with in (number % 2 == 0, number % 2 == 1):
                values[is_with].append(measure(server, folder, is_with))
    return values


def measured(program, server, seconds, folder, is_observed):
    """The p99 of a run in milliseconds; the other observer has found the server's tiers before it begins, and ends after it."""
    observer = None
    if is_observed:
        few = ["-c", "1", "-r", "1/s", "-d", f"{seconds + 30}s", "--spin", "off"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [program, "load", server.url, *few, "--quiet"]
        observer = subprocess.Popen(command, env=environment(SYSDYNO_RUNS_DIR=folder), **quiet)
        time.sleep(2)
    load = ["-c", str(CONNECTIONS), "-t", "1", "-r", f"{RATE_HZ}/s", "-d", f"{seconds}s", "--json"]
    try:
        command = [program, "load", server.url, *load]
        text, _ = process.run(command, range(os.cpu_count()), codes=(0, 3), environment={"SYSDYNO_RUNS_DIR": folder})
    finally:
        if observer:
            observer.terminate()
            observer.wait()
    return json.loads(text)["response_time_ns"]["p99"] / 1e6


def live(program, rounds, seconds):
    """A line on the CPU time of a load that draws itself on a terminal, beside the same one with --quiet."""
    try:
        shares = in_pairs(rounds, lambda server, folder, is_quiet: on_terminal(program, server, seconds, folder, is_quiet))
    except process.CannotMeasure as error:
        return f"live view: cannot measure: {error}"
    more = statistic.median_of([drawn - quiet for drawn, quiet in zip(shares[False], shares[True], strict=True)])
    interval = more["interval"]
    spread = f"{interval['low']:.2f} to {interval['high']:.2f}" if interval else "too few rounds for an interval"
    quiet = statistic.median_of(shares[True])["median"]
    return (
        f"live view: {more['median']:.2f}% of one core more than with --quiet ({spread}; {rounds} pairs; {quiet:.1f}% with "
        f"--quiet, at {RATE_HZ} requests/s)"
    )


def on_terminal(program, server, seconds, folder, is_quiet):
    """CPU time of a load on a terminal of 200 by 50, in % of one core."""
    keyboard, screen = pty.openpty()
    termios.tcsetwinsize(screen, (50, 200))
    load = ["-c", str(CONNECTIONS), "-t", "1", "-r", f"{RATE_HZ}/s", "-d", f"{seconds}s", "--spin", "off"]
    command = [program, "load", server.url, *load, *(["--quiet"] if is_quiet else [])]
    variables = environment(SYSDYNO_RUNS_DIR=folder) | {"TERM": "xterm-256color"}
    with subprocess.Popen(command, stdin=screen, stdout=screen, stderr=screen, env=variables) as child:
        os.close(screen)
        drain(keyboard)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    os.close(keyboard)
    if child.returncode not in (0, 3):
        raise process.CannotMeasure(f"sysdyno load ended with code {child.returncode}")
    return (used.ru_utime + used.ru_stime) / seconds * 100


def drain(keyboard):
    """Reads what is drawn until nobody draws any more."""
    try:
        while os.read(keyboard, 65536):
            pass
    except OSError:
        pass


# One second apart, as people watch.
SAMPLES = 30


def watching():
    """Lines on the CPU time of a sample of the same columns."""
    own = ROOT / "target/release/sysdyno"
    commands = {
        "sysdyno watch -cdngy": [str(own), "watch", "-cdngy"],
        "dstat -cdngy": ["dstat", "-cdngy", "--noupdate", "1"],
    }
    lines = []
    for name, command in commands.items():
        if shutil.which(command[0]) is None:
            lines.append(f"{name}: skipped, not installed")
            continue
        few, many = (cpu_ms([*command, *count(name, samples)]) for samples in (1, 1 + SAMPLES))
        lines.append(f"{name}: {(many - few) / SAMPLES:.2f} ms of CPU per sample")
    return lines


def count(name, samples):
    """The arguments that end a command after that many samples."""
    return [str(samples)] if name.startswith("dstat") else ["--count", str(samples)]


def cpu_ms(command):
    """CPU time of a command from its start to its end."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
    return (used.ru_utime + used.ru_stime) * 1000
