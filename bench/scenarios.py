"""The loads under which tools are compared, as data."""

import typing

SMALL_BYTES = 64
LARGE_BYTES = 100_000


class Scenario(typing.NamedTuple):
    """A closed load. `share` is its length as a share of `--seconds`."""

    id: str
    title: str
    connections: int
    path: str
    body_bytes: int
    keeps_alive: bool
    share: float


SCENARIOS = (
    Scenario("keepalive", "64 connections, kept alive, 64 bytes", 64, "/", SMALL_BYTES, True, 4 / 3),
    Scenario("few", "10 connections, kept alive, 64 bytes", 10, "/", SMALL_BYTES, True, 2 / 3),
    Scenario("many", "1,000 connections, kept alive, 64 bytes", 1000, "/", SMALL_BYTES, True, 2 / 3),
    Scenario("connect", "64 clients, a connection per request, 64 bytes", 64, "/", SMALL_BYTES, False, 2 / 3),
    Scenario("large", "64 connections, kept alive, 100 kB", 64, "/large", LARGE_BYTES, True, 2 / 3),
)
