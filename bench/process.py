"""Runs one program and reports what it used: CPU time as the kernel accounts it, peak memory, and other busy processes."""

import os
import pathlib
import subprocess
import tempfile
import threading
import time

from bench import outputs, programs

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")


class CannotMeasure(Exception):
    """A run that gave no result; the text says which and why."""


class Peak(threading.Thread):
    """Greatest resident size of a process, looked at ten times a second.

    Not ru_maxrss: that begins at the size of the process that forked, which is this one.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = pathlib.Path(f"/proc/{pid}/status")
        self.kib = 0
        self.ended = threading.Event()
        self.start()

    def run(self):
        while True:
            try:
                text = self.path.read_text()
            except OSError:
                return
            self.kib = max(self.kib, outputs.first(r"^VmHWM:\s+(\d+) kB", text, int) or 0)
            if self.ended.wait(0.1):
                return

    def stop(self):
        self.ended.set()
        self.join()
        return self.kib / 1024


def busy_seconds():
    """CPU time that all CPUs together were not idle for, and that the hypervisor took, since the start of the host."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) * TICK_SECONDS


def cpu_seconds(pid):
    """CPU time of a process and its children that still live."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) * TICK_SECONDS
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_seconds(child) for child in children)


def pin(cpus):
    """Keeps the calling process on these CPUs, as far as they are there."""
    os.sched_setaffinity(0, set(cpus) & set(range(os.cpu_count())) or {0})


LONGEST_SECONDS = 300
"""House value: a run of a few seconds that takes this long hangs; httperf does once the ports are used up."""


def run(command, cpus, server=None, codes=(0,), environment=None, longest_seconds=LONGEST_SECONDS):
    """Runs a program on these CPUs to its end, which has to come in this time: `(what it printed, what it used)`."""
    path = programs.find(command[0])
    before, began = (busy_seconds(), cpu_seconds(server) if server else 0.0), time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [path, *command[1:]],
            stdout=output,
            stderr=errors,
            preexec_fn=lambda: pin(cpus),
            env=programs.environment(**(environment or {})),
        )
        peak = Peak(process.pid)
        hangs = threading.Timer(longest_seconds, process.kill)
        hangs.start()
        _, status, usage = os.wait4(process.pid, 0)
        hangs.cancel()
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        rss_mib = peak.stop()
        output.seek(0)
        text = output.read().decode(errors="replace")
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if process.returncode not in codes:
        raise CannotMeasure(f"{' '.join(command)} ended with {process.returncode}\n{(text + said)[-2000:]}")
    own = usage.ru_utime + usage.ru_stime
    server_cpu = cpu_seconds(server) - before[1] if server else 0.0
    return text, {
        "seconds": seconds,
        "user_seconds": usage.ru_utime,
        "system_seconds": usage.ru_stime,
        "server_cpus": server_cpu / seconds,
        "other_cpus": max(0.0, (busy_seconds() - before[0] - own - server_cpu) / seconds),
        "rss_mib": rss_mib,
    }
