"""Two views of the same requests, sysdyno's and a capture's, side by side: do they agree? Pure."""

from bench import layout, statistic

LIMIT_US = 20
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
JUDGED = ("p50", "p99")
OTHER_CPUS_MAX = 0.5
"""House value; tcpdump is among the others here."""


def compare(document, used, seen):
    """Both views of one run side by side; times in microseconds."""
    counts, times = document["counts"], document["service_time_ns"]
    row = {
        "io": document["generator"]["io"],
        "written": counts["written"],
        "ok": counts["ok"],
        "requests": seen["requests"],
        "responses": len(seen["service_ns"]),
        "lost": seen["lost"],
        "damage": seen["damage"],
        "other_cpus": used["other_cpus"],
        "timer_us": document["generator"]["timer_error_ns"]["p50"] / 1e3,
        "verdict": document["verdict"]["status"],
    }
    for name, ratio in QUANTILES.items():
        own = None if times[name] is None else times[name] / 1e3
        wire = statistic.quantile(seen["service_ns"], ratio) / 1e3 if seen["service_ns"] else None
        both = None if own is None or wire is None else own - wire
        row |= {f"sysdyno_us_{name}": own, f"wire_us_{name}": wire, f"difference_us_{name}": both}
    return row | {"void": void(row)}


def void(row):
    """Why a comparison is void; `None` if it is valid."""
    if row["damage"]:
        return row["damage"]
    if row["lost"] != 0:
        return f"the capture lost {row['lost']} packets"
    if row["requests"] != row["written"]:
        return f"{row['written']} requests were written and {row['requests']} were seen"
    if row["responses"] < row["ok"]:
        return f"{row['ok']} responses were counted and {row['responses']} were seen"
    if any(row[f"difference_us_{name}"] is None for name in QUANTILES):
        return "too few requests for its percentiles"
    return None


def join(mode, rounds):
    """The rounds of one mode: sums of counts, medians of times, and whether both views agree."""
    row = {"mode": mode.title, "is_judged": mode.is_judged, "io": rounds[0]["io"], "rounds": rounds}
    row |= {name: sum(one[name] for one in rounds) for name in ("written", "ok", "requests", "responses")}
    row["lost"] = None if any(one["lost"] is None for one in rounds) else sum(one["lost"] for one in rounds)
    row["void"] = next((one["void"] for one in rounds if one["void"]), None)
    times = [f"{who}_us_{name}" for who in ("sysdyno", "wire", "difference") for name in QUANTILES]
    for name in (*times, "timer_us", "other_cpus"):
        estimate = statistic.median_of([one[name] for one in rounds])
        row[name] = estimate and estimate["median"]
    row["agrees"] = None if row["void"] else all(abs(row[f"difference_us_{name}"]) <= LIMIT_US for name in JUDGED)
    return row


def described(row):
    """The differences of one run, as text."""
    if row["void"]:
        return f"void: {row['void']}"
    return ", ".join(f"{row[f'difference_us_{name}']:+.1f} µs at {name}" for name in QUANTILES)


def result(row):
    """The outcome of a comparison, as text."""
    if row["void"]:
        return f"void: {row['void']}"
    worst = max(JUDGED, key=lambda name: abs(row[f"difference_us_{name}"]))
    words = "agrees" if row["agrees"] else f"apart by {row[f'difference_us_{worst}']:+.1f} µs at {worst}"
    return words if row["is_judged"] else f"{words} (shown, not judged)"


def comparison_table(rows):
    """Both distributions."""
    table = layout.Table(
        "mode", "back end", *(f"{name} {who}" for name in QUANTILES for who in ("sysdyno", "wire", "Δ")), "result"
    )
    for row in rows:
        cells = []
        for name in QUANTILES:
            values = [row[f"{who}_us_{name}"] for who in ("sysdyno", "wire")]
            cells += ["–" if value is None else f"{value:,.1f}" for value in values]
            difference = row[f"difference_us_{name}"]
            cells.append("–" if difference is None else f"{difference:+,.1f}")
        table.add(row["mode"], row["io"], *cells, result(row))
    return table


def count_table(rows):
    """What was counted on both sides."""
    table = layout.Table(
        "mode", "back end", "written", "requests seen", "ok", "responses seen", "packets lost", "timer µs", "others"
    )
    for row in rows:
        counts = [f"{row[name]:,}" for name in ("written", "requests", "ok", "responses")]
        table.add(
            row["mode"], row["io"], *counts, row["lost"], f"{row['timer_us']:.1f}", f"{row['other_cpus']:.2f}"
        )
    return table


def exit_code(rows):
    """0: all judged comparisons agree; 1: one does not; 3: one is void."""
    if any(row["void"] for row in rows):
        return 3
    return 0 if all(row["agrees"] for row in rows if row["is_judged"]) else 1


def summary(document):
    """The result in one sentence, and any doubts about it."""
    judged = [row for row in document["rows"] if row["is_judged"]]
    agreed = sum(1 for row in judged if row["agrees"])
    text = f"{agreed} of {len(judged)} judged comparisons agree within {LIMIT_US} µs at p50 and p99."
    if voids := sum(1 for row in document["rows"] if row["void"]):
        text += f" {voids} of all {len(document['rows'])} are void."
    others = max(row["other_cpus"] for row in document["rows"])
    if others > OTHER_CPUS_MAX:
        text += f" The machine was not quiet: up to {others:.2f} CPUs were busy with something else (tcpdump included)."
    return text
