"""Which programs are installed, their versions, and their features."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Programs that `bench/tools` builds come first; sbin is included because it is not on every user's path.
PATH = os.pathsep.join([str(ROOT / "target/bench-tools/bin"), os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])

VERSIONS = {
    "nginx": (["nginx", "-v"], r"nginx/(\S+)"),
    "wrk": (["wrk", "--version"], r"wrk (?:debian/)?(\S+)"),
    "k6": (["k6", "version"], r"k6 v(\S+)"),
    "ab": (["ab", "-V"], r"Version (\S+)"),
    "h2load": (["h2load", "--version"], r"nghttp2/(\S+)"),
    "openssl": (["openssl", "version"], r"OpenSSL (\S+)"),
    "memcached": (["memcached", "--version"], r"memcached (\S+)"),
    # What it says of itself is 1.0; the package knows.
    "memcaslap": (["dpkg-query", "--show", "--showformat=${Version}", "libmemcached-tools"], r"(\S+)"),
    "weighttp": (["weighttp", "-v"], r"weighttp[ /]v?(\S+)"),
    "httperf": (["httperf", "--version"], r"httperf-(\S+)"),
    "oha": (["oha", "--version"], r"oha (\S+)"),
    # It does not say; the package does.
    "hey": (["dpkg-query", "--show", "--showformat=${Version}", "hey"], r"(\S+)"),
    "k6": (["k6", "version"], r"k6 v(\S+)"),
    "wrk2": (["wrk2", "--version"], r"wrk2? (\S+)"),
    "tcpdump": (["tcpdump", "--version"], r"tcpdump version (\S+)"),
    "python": (["python3", "--version"], r"Python (\S+)"),
    "rustc": (["rustc", "--version"], r"rustc (\S+)"),
}
"""How each program is asked for its version, and where that is in the answer."""


def find(name):
    """Path of a program; `None` if it is not there."""
    return shutil.which(name, path=PATH)


@functools.cache
def fence():
    """The networks that a benchmark may load: loopback, and those of namespaces of its own."""
    return subprocess.run([ROOT / "scripts/fence"], capture_output=True, text=True, check=True).stdout.strip()


def environment(**more):
    """The environment of every program: no settings of sysdyno but those of this benchmark."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SYSDYNO_")}
    return kept | {"PATH": PATH, "SYSDYNO_TARGET_ALLOW": fence()} | more


def say(command):
    """All that a program prints, whatever it ends with; nothing if it cannot be started."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def version(name):
    """Version of a program; `None` if it is not there."""
    command, pattern = VERSIONS[name]
    found = re.search(pattern, say(command)) if find(name) else None
    return found.group(1) if found else None


def versions(program):
    """Versions of all programs that are there; of sysdyno with the commit that this folder is at."""
    found = {name: version(name) for name in VERSIONS}
    own = re.search(r"sysdyno (\S+)", say([program, "--version"]))
    commit = say(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]).strip()
    sysdyno = f"{own.group(1) if own else '?'} ({commit})"
    return {"sysdyno": sysdyno} | {name: text for name, text in found.items() if text}


@functools.cache
def load_help(program):
    """What `sysdyno load --help` says."""
    return say([program, "load", "--help"])


def back_ends(program):
    """The back end that sysdyno takes by itself, and all that it can be told to take, as `--io` calls them."""
    if "--io" not in load_help(program):
        return ("epoll", ["epoll"])
    default = taken_back_end(program)
    return (default, sorted({default, "epoll"}, reverse=True))


def taken_back_end(program):
    """The back end with which sysdyno sends without being told, which depends on what the kernel allows."""
    with tempfile.TemporaryDirectory(prefix="sysdyno-bench-") as runs:
        target = subprocess.Popen(
            [program, "target"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )
        try:
            url = target.stdout.readline().strip()
            command = [program, "load", url, "--requests", "100", "--json"]
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment(SYSDYNO_RUNS_DIR=runs), timeout=60
            )
            return "uring" if "uring" in json.loads(done.stdout)["generator"]["io"] else "epoll"
        finally:
            target.communicate()
