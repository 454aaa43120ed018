"""The loads under which tools are compared, as data."""

import typing

SMALL_BYTES = 64
LARGE_BYTES = 100_000

HTTP, HTTPS, HTTP2, MEMCACHED = "http", "https", "h2", "memcached"
"""Protocols: HTTP/1.1, HTTP/1.1 over TLS, HTTP/2 by prior knowledge, memcached's text protocol."""

KEYS_PER_CONNECTION, KEY_BYTES, VALUE_BYTES = 1024, 32, 200
"""For memcached; `memcaslap.cfg` repeats the sizes."""


class Scenario(typing.NamedTuple):
    """A closed load. `share` is its length as a share of `--seconds`, `streams` the requests at a time on a connection."""

    id: str
    title: str
    connections: int
    path: str
    body_bytes: int
    keeps_alive: bool
    share: float
    speaks: str = HTTP
    streams: int = 1


SCENARIOS = (
    Scenario("keepalive", "64 connections, kept alive, 64 bytes", 64, "/", SMALL_BYTES, True, 4 / 3),
    Scenario("few", "10 connections, kept alive, 64 bytes", 10, "/", SMALL_BYTES, True, 2 / 3),
    Scenario("many", "1,000 connections, kept alive, 64 bytes", 1000, "/", SMALL_BYTES, True, 2 / 3),
    Scenario("connect", "64 clients, a connection per request, 64 bytes", 64, "/", SMALL_BYTES, False, 2 / 3),
    Scenario("large", "64 connections, kept alive, 100 kB", 64, "/large", LARGE_BYTES, True, 2 / 3),
    Scenario("h2", "HTTP/2, 4 connections of 32 streams, 64 bytes", 4, "/", SMALL_BYTES, True, 4 / 3, HTTP2, 32),
    Scenario("tls", "TLS, 64 connections, kept alive, 64 bytes", 64, "/", SMALL_BYTES, True, 2 / 3, HTTPS),
    Scenario("handshake", "TLS, a full handshake per request, one at a time", 1, "/", SMALL_BYTES, False, 2 / 3, HTTPS),
    Scenario("memcached", "memcached, 64 connections, gets of 200 bytes", 64, "", VALUE_BYTES, True, 4 / 3, MEMCACHED),
)
