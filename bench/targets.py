"""sysdyno's performance targets, as data, and how a result compares with them."""

import typing

AT_MOST, AT_LEAST = "≤", "≥"


class Target(typing.NamedTuple):
    """A limit. `find` returns the estimate in a result, or `None` if it was not measured."""

    id: str
    text: str
    direction: str
    limit: float
    unit: str
    digits: int
    find: object


def ratio(scenario, tool):
    """sysdyno's CPU time per request over that of a tool."""
    return lambda result: cell(result, "scenarios", scenario, "summary", "tools", tool, "ratio")


def per_cpu(scenario, tool):
    """sysdyno's requests per CPU second over those of a tool."""
    return lambda result: cell(result, "scenarios", scenario, "summary", "tools", tool, "per_cpu")


def of_sysdyno(scenario, column):
    """A column of the tool that the others are compared with."""

    def find(result):
        reference = cell(result, "scenarios", scenario, "summary", "reference")
        return cell(result, "scenarios", scenario, "summary", "tools", reference, column)

    return find


def of_back_end(part, column):
    """A column of the back end that sysdyno takes by itself."""
    return lambda result: cell(result, part, "summary", result.get("back_ends", [None])[0], column)


def of_sysdyno_row(part, column):
    """A column of sysdyno with the back end that it takes by itself, in a part whose rows are tools."""

    def find(result):
        summary = cell(result, part, "summary") or {}
        name = next((name for name in summary if name.startswith("sysdyno")), None)
        return cell(summary, name, column)

    return find


def of_slip(arrival):
    """p99 of the slip, with the back end that sysdyno takes by itself."""

    def find(result):
        summary = cell(result, "slip", "summary") or {}
        name = next((name for name in summary if name.endswith(arrival) and name.startswith("sysdyno")), None)
        return cell(summary, name, "slip_us_p99")

    return find


def cell(tree, *names):
    """What lies at these names, or `None`."""
    for name in names:
        if not isinstance(tree, dict) or name not in tree:
            return None
        tree = tree[name]
    return tree


TARGETS = (
    Target("wrk", "CPU per request, kept alive: sysdyno ÷ wrk", AT_MOST, 0.80, "", 3, ratio("keepalive", "wrk")),
    Target(
        "weighttp", "CPU per request, kept alive: sysdyno ÷ weighttp", AT_MOST, 0.75, "", 3, ratio("keepalive", "weighttp")
    ),
    Target("h2load", "CPU per request, kept alive: sysdyno ÷ h2load", AT_MOST, 0.75, "", 3, ratio("keepalive", "h2load")),
    Target(
        "user", "user-space CPU per request, kept alive", AT_MOST, 0.5, "µs", 2, of_sysdyno("keepalive", "user_us")
    ),
    Target("connect", "CPU per request, a connection each: sysdyno ÷ ab", AT_MOST, 0.90, "", 3, ratio("connect", "ab")),
    Target("h2", "CPU per request, HTTP/2 with 32 streams: sysdyno ÷ h2load", AT_MOST, 0.80, "", 3, ratio("h2", "h2load")),
    Target("tls", "CPU per request over TLS, kept alive: sysdyno ÷ wrk", AT_MOST, 0.90, "", 3, ratio("tls", "wrk")),
    Target(
        "handshake",
        "full TLS handshakes per CPU second: sysdyno ÷ openssl s_time",
        AT_LEAST,
        0.9,
        "",
        3,
        per_cpu("handshake", "openssl s_time"),
    ),
    Target(
        "memcached", "CPU per get: sysdyno ÷ memcaslap", AT_MOST, 0.80, "", 3, ratio("memcached", "memcaslap")
    ),
    Target("users", "memory with 100,000 users of a session", AT_MOST, 954, "MiB", 0, of_back_end("users", "rss_mib")),
    Target(
        "users-rules",
        "100,000 users for a minute that are VALID and keep all rules",
        AT_LEAST,
        1,
        "",
        0,
        of_back_end("users", "is_met"),
    ),
    Target("startup", "time besides a load of one second", AT_MOST, 150, "ms", 0, of_sysdyno_row("startup", "second_beside_ms")),
    Target("startup-ten", "time besides ten requests", AT_MOST, 150, "ms", 0, of_sysdyno_row("startup", "ten_beside_ms")),
    Target("crowd", "20,000 connections for 5 s, start to exit", AT_MOST, 8, "s", 1, of_sysdyno_row("crowd", "seconds")),
    Target("crowd-stop", "longest stop of others on that CPU", AT_MOST, 1000, "ms", 0, of_sysdyno_row("crowd", "stopped_ms")),
    Target("idle", "memory with 10,000 idle connections", AT_MOST, 64, "MiB", 1, of_back_end("idle", "rss_mib")),
    Target("scaling", "rate with two threads ÷ one", AT_LEAST, 1.8, "", 2, of_back_end("scaling", "by_rate")),
    Target(
        "scaling-cpu",
        "requests per generator CPU second × threads, two threads ÷ one",
        AT_LEAST,
        1.8,
        "",
        2,
        of_back_end("scaling", "by_cpu"),
    ),
    Target(
        "profile",
        "from the end of a profile to its stacks: sysdyno ÷ perf",
        AT_MOST,
        0.333,
        "",
        3,
        of_sysdyno_row("profiling", "after_ms_ratio"),
    ),
    Target(
        "profile-cost",
        "CPU while sampling: sysdyno ÷ perf",
        AT_MOST,
        1,
        "",
        3,
        of_sysdyno_row("profiling", "sampling_ms_ratio"),
    ),
    Target("slip", "p99 of slip at 50,000 requests/s, constant", AT_MOST, 50, "µs", 1, of_slip("constant")),
    Target("slip-poisson", "p99 of slip at 50,000 requests/s, Poisson", AT_MOST, 50, "µs", 1, of_slip("poisson")),
)


def judge(target, estimate):
    """In words: met, or missed by how much of the limit; and whether the interval reaches to the other side."""
    if estimate is None:
        return "not measured"
    sign = 1 if target.direction == AT_MOST else -1
    over = sign * (estimate["median"] - target.limit)
    span = estimate["interval"]
    if over <= 0:
        worst = span and (span["high"] if sign > 0 else span["low"])
        doubtful = span and sign * (worst - target.limit) > 0
        return "met, but the interval reaches beyond" if doubtful else "met"
    best = span and (span["low"] if sign > 0 else span["high"])
    doubtful = span and sign * (best - target.limit) <= 0
    far = f" by {over / target.limit:.0%}" if over < target.limit else f": {estimate['median'] / target.limit:.1f} × the limit"
    return f"missed{far}" + (", but the interval reaches it" if doubtful else "")
