"""Options, the sequence of steps, and where results go."""

import argparse
import json
import os
import pathlib
import shlex
import sys
import tempfile
import time

from bench import (
    contenders,
    contest,
    crowd,
    idle,
    long,
    machine,
    observing,
    page,
    process,
    profiling,
    programs,
    scaling,
    slip,
    startup,
    users,
    wall,
)
from bench.programs import ROOT
from bench.scenarios import MEMCACHED, SCENARIOS
from bench.servers import Memcached, Nginx

RESULTS = ROOT / "bench/results"
PARTS = (*(scenario.id for scenario in SCENARIOS), "startup", "crowd", "idle", "users", "scaling", "slip", "long", "profiling", "observing")
SLIP_SECONDS_PER_SECOND = 10 / 3
IDLE_ROUNDS, USERS_ROUNDS, SLIP_ROUNDS, CROWD_ROUNDS = 3, 1, 3, 3
"""Maximum number of rounds for parts with long runs."""


def parse(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures what a request costs, beside other tools.")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(PARTS), help=f"only these of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each scenario [default: 9]")
    parser.add_argument("--seconds", type=int, default=3, help="length of each tool's run [default: 3]")
    parser.add_argument("--minutes", type=int, default=10, help="length of the runs that last [default: 10]")
    parser.add_argument("--quick", action="store_true", help="2 rounds of 1 second: does everything work?")
    parser.add_argument("--program", default=str(ROOT / "target/release/sysdyno"), help="sysdyno")
    parser.add_argument("--markdown", metavar="FILE", help="write the page of the result there, too")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing; take this result")
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"nothing is called '{unknown.pop()}'; there are {', '.join(PARTS)}")
    if options.quick:
        options.rounds, options.seconds, options.minutes = 2, 1, 2
    if options.rounds < 1 or options.seconds < 1:
        parser.error("rounds and seconds have to be positive")
    if options.minutes < 2:
        parser.error("runs that last are held against their first minute: minutes have to be 2 or more")
    options.program = os.path.abspath(options.program)
    return options


def measure(options, typed):
    """Everything requested, as one document."""
    if not os.access(options.program, os.X_OK):
        raise process.CannotMeasure(f"no program at '{options.program}'\nhint: make build")
    if os.cpu_count() < 2:
        raise process.CannotMeasure("server and generator need a CPU each")
    chosen, absent = contenders.present(options.program)
    default, ios = programs.back_ends(options.program)
    ios = [default, *(io for io in ios if io != default)]
    result = {
        "schema": "sysdyno.bench/1",
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "command": shlex.join(["bench/run", *typed]),
        "machine": machine.describe(),
        "versions": programs.versions(options.program),
        "options": {"rounds": options.rounds, "seconds": options.seconds},
        "absent": sorted({*absent, *wall.absent(), *([] if programs.find("wrk2") else ["wrk2"])}),
        "back_ends": ios,
        "scenarios": {},
    }
    with tempfile.TemporaryDirectory(prefix="sysdyno-bench-runs-") as runs:
        for server in (Nginx, Memcached):
            compare(result, server, chosen, options, runs)
        if "startup" in options.only:
            take(result, startup, lambda: startup.run(options.program, ios, options.rounds, runs))
        if "crowd" in options.only:
            take(result, crowd, lambda: crowd.run(options.program, ios, min(CROWD_ROUNDS, options.rounds), runs))
        if "slip" in options.only:
            take(result, slip, lambda: lateness(options, ios, runs))
        if "idle" in options.only:
            take(result, idle, lambda: idle.run(options.program, ios, min(IDLE_ROUNDS, options.rounds), runs))
        if "users" in options.only:
            take(result, users, lambda: users.run(options.program, ios, min(USERS_ROUNDS, options.rounds), runs))
        if "scaling" in options.only:
            take(result, scaling, lambda: scaling.run(options.program, ios, options, runs))
        if "long" in options.only:
            take(result, long, lambda: long.run(options.program, options.minutes, runs))
        if "profiling" in options.only:
            take(result, profiling, lambda: profiling.run(options.program, options.rounds, options.seconds))
    if "observing" in options.only:
        result["observing"] = observing.run(options.program, options.rounds, options.seconds)
    if not result["scenarios"] and not set(PARTS) & set(result):
        raise process.CannotMeasure("nothing of what was asked for could be measured")
    return result


def compare(result, kind, chosen, options, runs):
    """The requested scenarios of one kind of server; if the server is missing, they are reported and left out."""
    mine = [scenario for scenario in SCENARIOS if (scenario.speaks == MEMCACHED) == (kind is Memcached)]
    wanted = [scenario for scenario in mine if scenario.id in options.only]
    if not wanted:
        return
    try:
        with kind() as server:
            for scenario in wanted:
                rounds = contest.run(scenario, chosen, server, options, runs)
                result["scenarios"][scenario.id] = {
                    "seconds": contest.run_seconds(scenario, options),
                    "rounds": rounds,
                    "summary": contest.summarise(rounds, [contender.name for contender in chosen]),
                }
    except process.CannotMeasure as error:
        print(f"{', '.join(scenario.id for scenario in wanted)}: left out: {error}", file=sys.stderr)


def lateness(options, ios, runs):
    """All rounds of the slip."""
    rounds, seconds = min(SLIP_ROUNDS, options.rounds), round(options.seconds * SLIP_SECONDS_PER_SECOND)
    with Nginx() as server:
        return slip.run(options.program, ios, server, rounds, seconds, runs)


def take(result, part, run):
    """Adds a part to the result; a part that cannot be measured is reported and does not affect the others."""
    name = part.__name__.rpartition(".")[2]
    try:
        rounds = run()
    except process.CannotMeasure as error:
        print(f"{name}: left out: {error}", file=sys.stderr)
        return
    result[name] = {"rounds": rounds, "summary": part.summarise(rounds)}


def keep(result):
    """Writes a result next to the others; returns where."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / time.strftime("%Y%m%d-%H%M%S.json", time.gmtime())
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return path


def main(typed):
    options = parse(typed)
    try:
        if options.source:
            result = json.loads(pathlib.Path(options.source).read_text())
        else:
            result = measure(options, typed)
            path = keep(result)
            print(f"all rounds: {path.relative_to(ROOT)}", file=sys.stderr)
    except process.CannotMeasure as error:
        print(f"error: cannot measure: {error}", file=sys.stderr)
        return 2
    print(page.text(result))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(page.markdown(result))
    return 0
