"""Pairs requests with their responses in a capture, connection by connection, without knowing who sent them.

These assumptions about the traffic are checked: HTTP/1.1 without pipelining, one request in flight per connection, each
request in one segment, responses with `Content-Length` whose heads are in one captured segment. A service time lasts from
the segment of a request to the segment that completes its response, both as the kernel saw them pass; retransmitted
segments are recognized by their sequence numbers and skipped.
"""

import re

from bench.capture import SYN, CaptureError

LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*\r\n", re.IGNORECASE)
END_OF_HEAD = b"\r\n\r\n"


class Direction:
    """One direction of a connection: how many of its bytes have been seen."""

    def __init__(self):
        self.next_sequence = None

    def advance(self, segment):
        """How many bytes of a segment's payload are new; they are its last ones."""
        end = (segment.sequence + segment.payload_bytes) % (1 << 32)
        if self.next_sequence is None:
            new = segment.payload_bytes
        else:
            new = (end - self.next_sequence) % (1 << 32)
            if new >= 1 << 31:
                return 0
            if new > segment.payload_bytes:
                raise CaptureError("cannot pair: bytes of a connection are missing in the capture")
        self.next_sequence = end
        return new


class Connection:
    """One connection, and its request in flight if there is one."""

    def __init__(self):
        self.to_server, self.to_client = Direction(), Direction()
        self.sent_ns = None
        self.missing_bytes = None

    def take_request(self, segment):
        """Whether a request begins with this segment."""
        if self.to_server.advance(segment) == 0:
            return False
        if self.sent_ns is not None:
            raise CaptureError("cannot pair: a request was sent before the last one was answered")
        if not segment.payload.endswith(END_OF_HEAD):
            raise CaptureError("cannot pair: a request that is not in one captured segment")
        self.sent_ns, self.missing_bytes = segment.time_ns, None
        return True

    def take_response(self, segment):
        """The service time that this segment completes, in nanoseconds, or `None`."""
        new = self.to_client.advance(segment)
        if new == 0:
            return None
        if self.sent_ns is None:
            raise CaptureError("cannot pair: a response without a request")
        if self.missing_bytes is None:
            self.missing_bytes = response_bytes(segment.payload)
        self.missing_bytes -= new
        if self.missing_bytes < 0:
            raise CaptureError("cannot pair: a response that is longer than it says")
        if self.missing_bytes > 0:
            return None
        service_ns = segment.time_ns - self.sent_ns
        self.sent_ns = None
        return service_ns


def response_bytes(payload):
    """Length of a whole response, by its head."""
    end = payload.find(END_OF_HEAD)
    length = LENGTH.search(payload, 0, end + 2) if end >= 0 else None
    if length is None:
        raise CaptureError("cannot pair: a response head without 'Content-Length', or not in one captured segment")
    return end + len(END_OF_HEAD) + int(length.group(1))


def pair(segments, port):
    """The content of a capture: `(requests, service times in nanoseconds)` of all connections to a server's port."""
    connections, requests, service_ns = {}, 0, []
    for segment in segments:
        to_server = segment.destination[1] == port
        client, server = (
            (segment.source, segment.destination) if to_server else (segment.destination, segment.source)
        )
        if segment.flags & SYN:
            # A port that is used again begins a new connection; the answering SYN belongs to the same one.
            if to_server:
                connections[client, server] = Connection()
            continue
        if segment.payload_bytes == 0:
            continue
        connection = connections.setdefault((client, server), Connection())
        if to_server:
            requests += connection.take_request(segment)
        else:
            time_ns = connection.take_response(segment)
            if time_ns is not None:
                service_ns.append(time_ns)
    return requests, service_ns
