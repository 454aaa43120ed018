"""The page of a result, and the same for a terminal. It shows only what is in the result."""

import pathlib
import re

from bench import layout, targets
from bench.scenarios import SCENARIOS

TEMPLATE = pathlib.Path(__file__).with_name("page.template")
OTHER_CPUS_MAX = 0.10
"""House value: more than a tenth of a CPU of other work touches the figures."""
ROUNDS_MIN = 6
"""The fewest rounds of which an interval of 95 % exists: 1 − 2 × 2⁻⁶ = 96.9 %."""


def scenario_table(part):
    """The tools under one scenario."""
    table = layout.Table(
        "tool", "CPU µs/req", "user", "system", "req/s", "p99 ms", "RSS MiB", "ratio", "interval", "others", "failed"
    )
    for name, tool in part["summary"]["tools"].items():
        table.add(
            name,
            *(layout.number(tool[column]) for column in ("cpu_us", "user_us", "system_us")),
            layout.number(tool["rate_hz"], 0),
            layout.number(tool["p99_ms"]),
            layout.number(tool["rss_mib"], 1),
            layout.number(tool["ratio"], 3),
            layout.interval(tool["ratio"], 3),
            layout.number(tool["other_cpus"]),
            f"{tool['failed']:,}",
        )
    return table


def target_table(result):
    """Every target next to the measured value."""
    table = layout.Table("target", "limit", "measured", "interval", "result")
    for target in targets.TARGETS:
        estimate = target.find(result)
        table.add(
            target.text,
            f"{target.direction} {target.limit:g} {target.unit}".strip(),
            f"{layout.number(estimate, target.digits)} {target.unit if estimate else ''}".strip(),
            layout.interval(estimate, target.digits),
            targets.judge(target, estimate),
        )
    return table


def startup_table(result):
    """The time that a tool takes beyond the requested time."""
    table = layout.Table(
        "tool", "beside one second, ms", "interval", "CPU ms", "beside ten requests, ms", "interval", "CPU ms", "others"
    )
    for name, row in result["startup"]["summary"].items():
        cells = []
        for order in ("second", "ten"):
            beside = row[f"{order}_beside_ms"]
            cells += [layout.number(beside, 0), layout.interval(beside, 0), layout.number(row[f"{order}_cpu_ms"], 0)]
        table.add(name, *cells, layout.number(row["second_other_cpus"]))
    return table


def crowd_table(result):
    """Wall and CPU time of many connections."""
    table = layout.Table(
        "tool", "wall s", "user s", "system s", "RSS MiB", "others stopped, ms", "connections seen", "requests", "failed", "others"
    )
    for name, row in result["crowd"]["summary"].items():
        table.add(
            name,
            *(layout.number(row[column], 1) for column in ("seconds", "user_seconds", "system_seconds", "rss_mib")),
            layout.number(row["stopped_ms"], 0),
            *(f"{row[column]:,}" if column in row else "–" for column in ("connections", "requests", "failed")),
            layout.number(row["other_cpus"]),
        )
    return table


def idle_table(result):
    """Memory of idle connections."""
    table = layout.Table("back end", "peak RSS MiB", "interval", "connections seen", "failed requests")
    for io, row in result["idle"]["summary"].items():
        table.add(io, layout.number(row["rss_mib"], 1), layout.interval(row["rss_mib"], 1), f"{row['connections']:,}", row["failed"])
    return table


def users_table(result):
    """Simulated users: memory, and whether they kept their rules."""
    table = layout.Table("back end", "peak RSS MiB", "interval", "operations begun", "failed requests", "verdicts", "rules met")
    for io, row in result["users"]["summary"].items():
        table.add(
            io,
            layout.number(row["rss_mib"], 1),
            layout.interval(row["rss_mib"], 1),
            f"{row['operations']:,}",
            row["failed"],
            verdicts(row),
            ", ".join(f"{name} {counts['met']}/{counts['of']}" for name, counts in row["rules"].items()),
        )
    return table


def verdicts(row):
    """How often each verdict occurred, and the reasons for those that are not VALID."""
    words = ", ".join(f"{row['verdicts'].count(word)} {word}" for word in sorted(set(row["verdicts"])))
    return (words or "–") + (f" ({', '.join(row['reasons'])})" if row["reasons"] else "")


def scaling_table(result):
    """One thread and two."""
    table = layout.Table("back end", "one req/s", "two req/s", "by rate", "interval", "one CPU µs/req", "two", "by CPU", "interval")
    for io, row in result["scaling"]["summary"].items():
        table.add(
            io,
            layout.number(row["one_hz"], 0),
            layout.number(row["two_hz"], 0),
            layout.number(row["by_rate"]),
            layout.interval(row["by_rate"]),
            layout.number(row["one_cpu_us"]),
            layout.number(row["two_cpu_us"]),
            layout.number(row["by_cpu"]),
            layout.interval(row["by_cpu"]),
        )
    return table


def slip_table(result):
    """Lateness in an open load."""
    columns = ("slip_us_p50", "slip_us_p99", "slip_us_p99_9", "slip_us_max", "response_us_p50", "response_us_p99")
    heads = [column.replace("_us_", " ").replace("p99_9", "p99.9") for column in columns]
    table = layout.Table("sender, arrivals", *heads, "interval of slip p99", "CPU", "of it spin", "achieved", "others", "verdicts")
    for name, row in result["slip"]["summary"].items():
        table.add(
            name,
            *(layout.number(row[column], 1) for column in columns),
            layout.interval(row["slip_us_p99"], 1),
            layout.number(row["generator_cpus"]),
            layout.number(row["spin_cpus"]),
            layout.number(row["achieved_ratio"], 3),
            layout.number(row["other_cpus"]),
            verdicts(row),
        )
    return table


def long_table(result):
    """Memory and record of long runs."""
    part = result["long"]["summary"]
    table = layout.Table("tool", "RSS MiB after a minute", f"after {part['minutes']}", "by", "record MB per hour")
    for name, row in part["live"].items():
        first, last = row["first_mib"], row["last_mib"]
        record = row["folder_bytes"]
        table.add(
            name,
            *("–" if value is None else f"{value:.1f}" for value in (first, last)),
            "–" if first is None or last is None else f"{last / first:.2f}",
            "–" if record is None else f"{record / 1e6 / row['seconds'] * 3600:.1f}",
        )
    return table


def day_table(result):
    """The cost of reading the folder of a day."""
    day = result["long"]["summary"]["day"]
    table = layout.Table("what", "seconds", "CPU seconds", "peak RSS MiB")
    for name, row in day["read"].items():
        table.add(name, f"{row['seconds']:.2f}", f"{row['cpu_seconds']:.2f}", f"{row['rss_mib']:.0f}")
    return table


def day_sizes(result):
    """The sizes of a day's folder and page."""
    day = result["long"]["summary"]["day"]
    return f"Its folder has {day['folder_bytes'] / 1e6:.1f} MB, its page {day['page_bytes'] / 1e6:.2f} MB."


def profiling_table(result):
    """Cost of a profile, compared with perf."""
    what = ("from its start to the first sample, ms", "from the end to folded stacks, ms", "CPU while sampling, ms")
    table = layout.Table("tool", *(head for column in what for head in (column, "interval")))
    for name, row in result["profiling"]["summary"].items():
        estimates = (row.get(column) for column in ("before_ms", "after_ms", "sampling_ms"))
        cells = [(estimate, layout.interval(estimate, 0)) for estimate in estimates]
        table.add(name, *(text for cell, interval in cells for text in (layout.number(cell, 0), interval)))
    return table


TABLES = {
    "startup": startup_table,
    "crowd": crowd_table,
    "idle": idle_table,
    "users": users_table,
    "scaling": scaling_table,
    "slip": slip_table,
    "long": long_table,
    "profiling": profiling_table,
}
"""The tables beside those of scenarios, by the part that measures them."""


def parts(result):
    """Heading and table of everything that was measured."""
    found = []
    for scenario in SCENARIOS:
        if scenario.id in result["scenarios"]:
            part = result["scenarios"][scenario.id]
            found.append((f"{scenario.title}; {len(part['rounds'])} rounds of {part['seconds']} s", scenario_table(part)))
    for name, heading, table in (
        ("startup", "what a load takes besides the time that it was asked for", startup_table),
        ("crowd", "20,000 connections for 5 s", crowd_table),
        ("idle", "10,000 idle connections", idle_table),
        ("users", "100,000 users of a session", users_table),
        ("scaling", "two threads and one, against the built-in target", scaling_table),
        ("slip", "slip at 50,000 requests/s, µs", slip_table),
        ("long", "200 requests/s for minutes", long_table),
        ("long", "reading the folder of a day", day_table),
        ("profiling", "a profile of the host at 99 Hz", profiling_table),
    ):
        if name in result:
            found.append((heading, table(result)))
    return found


def cautions(result):
    """Doubts about the figures."""
    found = []
    if result["options"]["rounds"] < ROUNDS_MIN:
        found.append(f"Only {result['options']['rounds']} rounds: too few for intervals.")
    # Tools that spin and tools that wait see other work differently, so the worst one counts.
    others = [
        tool["other_cpus"]["median"]
        for part in result["scenarios"].values()
        for tool in part["summary"]["tools"].values()
    ]
    if others and max(others) > OTHER_CPUS_MAX:
        found.append(f"The machine was not quiet: up to {max(others):.2f} CPUs were busy with something else.")
    for scenario_id, part in result["scenarios"].items():
        for name, tool in part["summary"]["tools"].items():
            if tool["rounds"] < len(part["rounds"]):
                found.append(f"{scenario_id}: {name} failed in {len(part['rounds']) - tool['rounds']} rounds.")
    missing = [scenario.id for scenario in SCENARIOS if scenario.id not in result["scenarios"]]
    missing += [name for name in TABLES if name not in result]
    if missing:
        found.append(f"Left out: {', '.join(missing)}.")
    return found


def environment_table(result):
    """Machine and versions."""
    machine, table = result["machine"], layout.Table("what", "which")
    memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:.1f} GiB"
    table.add("processor", f"{machine['cpu']}, {machine['cpus']} CPUs{memory}")
    table.add("kernel", machine["kernel"])
    table.add("virtualization", machine["virtualisation"])
    table.add("idle CPUs", machine["idle"])
    table.add("load average before", f"{machine['load_average']:.2f}")
    for name, version in result["versions"].items():
        table.add(name, version)
    return table


def share_of_sending(result, heading):
    """The share of sysdyno's CPU time that its sending threads take, as text; empty for tools that do not report it."""
    part = next(
        result["scenarios"][scenario.id]
        for scenario in SCENARIOS
        if scenario.id in result["scenarios"] and heading.startswith(scenario.title)
    )
    words = [
        f"{name}: {tool['thread_us']['median']:.2f} of {tool['cpu_us']['median']:.2f} µs"
        for name, tool in part["summary"]["tools"].items()
        if tool["thread_us"]
    ]
    return f"Of that in the sending thread: {'; '.join(words)}." if words else ""


def text(result):
    """All tables, for a terminal."""
    blocks = [f"{heading}\n\n{table.text()}" for heading, table in parts(result)]
    if "observing" in result:
        blocks.append(f"cost of observing, at 10 readings a second\n\n{result['observing']}")
    blocks.append(f"targets\n\n{target_table(result).text()}")
    level = levels(result)
    blocks.append(f"intervals hold the true median {level}" if level else "too few rounds for intervals")
    if result["absent"]:
        blocks.append(f"not present: {', '.join(result['absent'])}")
    return "\n\n".join(blocks + cautions(result))


def levels(result):
    """The certainty with which intervals contain the median, as text."""
    ratios = [
        tool["ratio"] for part in result["scenarios"].values() for tool in part["summary"]["tools"].values()
    ]
    level = layout.level(ratios)
    return f"with a certainty of {level}" if level else None


def markdown(result):
    """The whole page."""
    tables = dict(
        (name, table(result).markdown() if name in result else "Not measured in this run.")
        for name, table in TABLES.items()
    )
    tables["day"] = day_table(result).markdown() if "long" in result else "Not measured in this run."
    tables["day_sizes"] = day_sizes(result) if "long" in result else ""
    references = {part["summary"]["reference"] for part in result["scenarios"].values()}
    scenarios = [
        f"## {heading[0].upper()}{heading[1:]}\n\n{table.markdown()}\n\n{share_of_sending(result, heading)}"
        for heading, table in parts(result)[: len(result["scenarios"])]
    ]
    values = tables | {
        "date": result["date"],
        "cautions": "".join(f"> - {caution}\n" for caution in cautions(result)),
        "environment": environment_table(result).markdown(),
        "command": result["command"],
        "targets": target_table(result).markdown(),
        "absent": ", ".join(result["absent"]) or "none",
        "reference": " and ".join(sorted(references)) or "sysdyno",
        "level": levels(result) or "(too few rounds to say)",
        "scenarios": "\n\n".join(scenarios),
        "observing": result.get("observing", "not measured in this run"),
    }
    return fill(TEMPLATE.read_text(), values)


def fill(template, values):
    """A template with its `{{names}}` replaced; all of them, in one pass, so that no value is taken for a name."""
    filled = re.sub(r"\{\{(\w+)\}\}", lambda match: values[match.group(1)], template)
    return re.sub(r"\n{3,}", "\n\n", filled)
