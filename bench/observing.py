"""The cost of reading the kernel ten times per second, as measured by the example program, and of `watch`, compared with dstat."""

import os
import shutil
import subprocess

from bench.programs import ROOT, environment

EXAMPLE = "crates/observe/examples/sampler_cost.rs"


def run():
    """The output of the example."""
    command = ["cargo", "run", "--quiet", "--release", "--package", "sysdyno-observe", "--example", "sampler_cost"]
    # With a target there are its sockets and processes to read too, as in a real run.
    if "--with-target" in (ROOT / EXAMPLE).read_text():
        command += ["--", "--with-target"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        return f"cannot measure: {done.stderr.strip()[-500:]}"
    return "\n".join([done.stdout.strip(), *watching()])


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
