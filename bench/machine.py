"""The machine of a result, the versions of its programs, and how quiet it was."""

import os
import pathlib
import platform

from bench import outputs, programs


def read(path):
    """Text of a file; empty if there is no such file."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def describe():
    """What a reader needs to judge the figures."""
    cpuinfo = read("/proc/cpuinfo")
    kib = outputs.first(r"^MemTotal:\s+(\d+) kB", read("/proc/meminfo"), int)
    return {
        "cpu": outputs.first(r"^model name\s*: (.+)$", cpuinfo, str) or platform.machine(),
        "cpus": os.cpu_count(),
        "memory_gib": None if kib is None else kib / 1024**2,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "virtualisation": virtualisation(cpuinfo),
        "idle": idle(),
        "load_average": os.getloadavg()[0],
    }


def virtualisation(cpuinfo):
    """The hypervisor or container in which the system runs, as far as it shows."""
    detected = programs.say(["systemd-detect-virt", "--container"]).strip()
    container = f"container ({detected})" if detected not in ("", "none") else None
    vm = outputs.first(r"^Hypervisor vendor:\s+(\S+)", programs.say(["lscpu"]), str)
    if vm is None and "hypervisor" in cpuinfo:
        vm = "yes"
    return ", ".join(part for part in (f"virtual machine ({vm})" if vm else None, container) if part) or "none seen"


def idle():
    """The sleep states of idle CPUs, which determine how fast they wake up."""
    folder = "/sys/devices/system/cpu/cpuidle"
    names = [read(f"{folder}/{name}").strip() for name in ("current_driver", "current_governor")]
    return " / ".join(name for name in names if name) or "not said"
