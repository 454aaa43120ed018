"""On which machine, with which programs, and how quiet it was."""

import os
import pathlib
import platform

from bench import outputs, programs


def read(path):
    """Text of a file; nothing if it is not there."""
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
    """Under what the system runs, as far as it can be seen."""
    detected = programs.say(["systemd-detect-virt", "--container"]).strip()
    container = f"container ({detected})" if detected not in ("", "none") else None
    vm = outputs.first(r"^Hypervisor vendor:\s+(\S+)", programs.say(["lscpu"]), str)
    if vm is None and "hypervisor" in cpuinfo:
        vm = "yes"
    return ", ".join(part for part in (f"virtual machine ({vm})" if vm else None, container) if part) or "none seen"


def idle():
    """How idle CPUs sleep, which decides how fast they wake up."""
    folder = "/sys/devices/system/cpu/cpuidle"
    names = [read(f"{folder}/{name}").strip() for name in ("current_driver", "current_governor")]
    return " / ".join(name for name in names if name) or "not said"
