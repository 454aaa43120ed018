"""What it costs to read the kernel ten times a second, by the example program that measures it."""

import subprocess

from bench.programs import ROOT, environment

EXAMPLE = "crates/observe/examples/sampler_cost.rs"


def run():
    """What the example prints."""
    command = ["cargo", "run", "--quiet", "--release", "--package", "sysdyno-observe", "--example", "sampler_cost"]
    # With a target there are its sockets and processes to read too, as in a real run.
    if "--with-target" in (ROOT / EXAMPLE).read_text():
        command += ["--", "--with-target"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        return f"cannot measure: {done.stderr.strip()[-500:]}"
    return done.stdout.strip()
