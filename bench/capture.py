"""Reads a packet capture: the segments of TCP connections, with the instants at which the kernel saw them.

The classic pcap format, in both byte orders, in micro- and nanoseconds, of Ethernet, raw IP and Linux "cooked" links.
A capture is untrusted input: anything unexpected is an error, or is skipped and counted.

Source: draft-ietf-opsawg-pcap, RFC 791, RFC 8200 (without extension headers), RFC 9293.
"""

import struct
import typing

NANOSECONDS = {0xA1B23C4D: 1, 0xA1B2C3D4: 1000}
"""Nanoseconds in one unit of the second half of a time stamp, by the magic number of the file."""

LINKS = {1: (14, 12), 101: (0, None), 113: (16, 14), 276: (20, 0)}
"""Bytes before the IP header and where the protocol is said, by link type: Ethernet, raw, cooked 1, cooked 2."""

IPV4, IPV6, TCP = 0x0800, 0x86DD, 6
PACKET_BYTES_MAX = 1 << 20
SYN = 0x02


class CaptureError(Exception):
    """The file is not a capture that this reader supports."""


class Segment(typing.NamedTuple):
    """One TCP segment. `payload` may be shorter than `payload_bytes`: a capture may keep only the begin."""

    time_ns: int
    source: tuple
    destination: tuple
    sequence: int
    flags: int
    payload_bytes: int
    payload: bytes


class Reader:
    """Iterates over the TCP segments of a file; `passed_over` counts the packets that were something else."""

    def __init__(self, file):
        self.file = file
        self.passed_over = 0
        head = file.read(24)
        if len(head) < 24:
            raise CaptureError("cannot read the capture: it is shorter than its header")
        for order in "<>":
            self.unit_ns = NANOSECONDS.get(struct.unpack(order + "I", head[:4])[0])
            if self.unit_ns:
                break
        else:
            raise CaptureError("cannot read the capture: it is not a pcap file")
        self.record = struct.Struct(order + "IIII")
        link = struct.unpack(order + "I", head[20:24])[0] & 0xFFFF
        if link not in LINKS:
            raise CaptureError(f"cannot read the capture: link type {link} is not known")
        self.link_bytes, self.protocol_at = LINKS[link]

    def __iter__(self):
        while True:
            head = self.file.read(16)
            if not head:
                return
            if len(head) < 16:
                raise CaptureError("cannot read the capture: it is cut off")
            seconds, fraction, kept, _ = self.record.unpack(head)
            if kept > PACKET_BYTES_MAX:
                raise CaptureError(f"cannot read the capture: a packet of {kept} bytes")
            packet = self.file.read(kept)
            if len(packet) < kept:
                raise CaptureError("cannot read the capture: it is cut off")
            segment = self.parse(seconds * 1_000_000_000 + fraction * self.unit_ns, packet)
            if segment is None:
                self.passed_over += 1
            else:
                yield segment

    def parse(self, time_ns, packet):
        """The TCP segment in a packet, or `None`."""
        at = self.link_bytes
        if len(packet) < at + 20:
            return None
        version = packet[at] >> 4
        if self.protocol_at is not None:
            (protocol,) = struct.unpack_from("!H", packet, self.protocol_at)
            if protocol != {4: IPV4, 6: IPV6}.get(version):
                return None
        if version == 4:
            header_bytes = (packet[at] & 0x0F) * 4
            (total_bytes,) = struct.unpack_from("!H", packet, at + 2)
            (fragment,) = struct.unpack_from("!H", packet, at + 6)
            if packet[at + 9] != TCP or fragment & 0x3FFF or header_bytes < 20:
                return None
            source, destination = packet[at + 12 : at + 16], packet[at + 16 : at + 20]
        elif version == 6 and len(packet) >= at + 40:
            header_bytes = 40
            total_bytes = 40 + struct.unpack_from("!H", packet, at + 4)[0]
            if packet[at + 6] != TCP:
                return None
            source, destination = packet[at + 8 : at + 24], packet[at + 24 : at + 40]
        else:
            return None
        tcp = at + header_bytes
        if len(packet) < tcp + 20:
            return None
        source_port, destination_port, sequence = struct.unpack_from("!HHI", packet, tcp)
        tcp_bytes = (packet[tcp + 12] >> 4) * 4
        payload_bytes = total_bytes - header_bytes - tcp_bytes
        if tcp_bytes < 20 or payload_bytes < 0:
            return None
        begin = tcp + tcp_bytes
        return Segment(
            time_ns,
            (source, source_port),
            (destination, destination_port),
            sequence,
            packet[tcp + 13],
            payload_bytes,
            packet[begin : begin + payload_bytes],
        )
