"""The reader of captures and the pairing: a recorded capture, made-up ones, and garbage."""

import io
import pathlib
import random
import struct
import unittest

from bench import exchanges
from bench.capture import CaptureError, Reader

RECORDED = pathlib.Path(__file__).with_name("samples") / "lo.pcap"
RECORDED_PORT = 54973
# By tcpdump's own text of the same file: 20 requests over 2 connections.
RECORDED_NS = [
    *(19184, 20576, 24703, 27907, 28278, 28318, 28958, 28959, 29009, 29309),
    *(29359, 29560, 29990, 30000, 30050, 31262, 978023, 981359, 2885287, 2912378),
]

CLIENT, SERVER = (b"\x7f\0\0\1", 40000), (b"\x7f\0\0\1", 80)
REQUEST = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
SYN, ACK = 0x02, 0x10


def packet(source, destination, sequence, payload=b"", flags=ACK, kept=None):
    """An Ethernet frame with one TCP segment; cut off after `kept` bytes of its payload."""
    tcp = struct.pack("!HHIIBBHHH", source[1], destination[1], sequence % (1 << 32), 0, 5 << 4, flags, 64, 0, 0)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + len(payload), 0, 0x4000, 64, 6, 0) + source[0] + destination[0]
    return b"\0" * 12 + b"\x08\0" + ip + tcp + payload[:kept]


def capture(packets, order="<", magic=0xA1B23C4D, link=1):
    """A file with these `(nanoseconds, packet)`."""
    text = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    unit = 1 if magic == 0xA1B23C4D else 1000
    for time_ns, frame in packets:
        seconds, fraction = divmod(time_ns, 1_000_000_000)
        text += struct.pack(order + "IIII", seconds, fraction // unit, len(frame), len(frame)) + frame
    return io.BytesIO(text)


def up(time_ns, sequence, payload=REQUEST, **more):
    return (time_ns, packet(CLIENT, SERVER, sequence, payload, **more))


def down(time_ns, sequence, payload, **more):
    return (time_ns, packet(SERVER, CLIENT, sequence, payload, **more))


def pair(*packets):
    return exchanges.pair(Reader(capture(packets)), SERVER[1])


class Recorded(unittest.TestCase):
    def test_a_real_capture_says_what_tcpdump_says(self):
        with open(RECORDED, "rb") as file:
            reader = Reader(file)
            requests, service_ns = exchanges.pair(reader, RECORDED_PORT)
        self.assertEqual((requests, sorted(service_ns), reader.passed_over), (20, RECORDED_NS, 0))


class Formats(unittest.TestCase):
    def test_both_byte_orders_and_both_units(self):
        for order in "<>":
            for magic, expected in ((0xA1B23C4D, 1_500_000_123), (0xA1B2C3D4, 1_500_000_000)):
                (segment,) = Reader(capture([up(1_500_000_123, 7)], order, magic))
                self.assertEqual((segment.time_ns, segment.sequence, segment.payload), (expected, 7, REQUEST))

    def test_what_is_not_tcp_is_passed_over_and_counted(self):
        udp = bytearray(up(0, 1)[1])
        udp[23] = 17
        arp = b"\0" * 12 + b"\x08\x06" + b"\0" * 40
        reader = Reader(capture([(0, bytes(udp)), (0, arp), (0, b""), up(5, 1)]))
        self.assertEqual((len(list(reader)), reader.passed_over), (1, 3))

    def test_what_is_cut_off_or_something_else_is_an_error(self):
        whole = capture([up(0, 1)]).getvalue()
        for text in (b"", b"not a capture, but long enough", whole[:30], whole[:-1], capture([], link=147).getvalue()):
            with self.assertRaises(CaptureError):
                list(Reader(io.BytesIO(text)))

    def test_a_packet_of_absurd_length_is_not_read(self):
        text = capture([]).getvalue() + struct.pack("<IIII", 0, 0, 1 << 31, 1 << 31)
        with self.assertRaisesRegex(CaptureError, "2147483648 bytes"):
            list(Reader(io.BytesIO(text)))

    def test_any_bytes_end_in_segments_or_in_an_error(self):
        draw, whole = random.Random(2), capture([up(1, 1), down(2, 9, HEAD + b"hello")]).getvalue()
        for _ in range(3000):
            spoilt = bytearray(whole)
            for _ in range(draw.randint(1, 8)):
                spoilt[draw.randrange(len(spoilt))] = draw.randrange(256)
            try:
                exchanges.pair(Reader(io.BytesIO(bytes(spoilt))), SERVER[1])
            except CaptureError:
                pass


class Pairing(unittest.TestCase):
    def test_a_service_time_is_from_the_request_to_the_segment_that_completes_the_response(self):
        answer = [down(40, 900, HEAD + b"he"), down(55, 900 + len(HEAD) + 2, b"llo")]
        self.assertEqual(pair(up(10, 1), *answer), (1, [45]))

    def test_a_body_that_was_not_kept_counts_by_its_length(self):
        self.assertEqual(pair(up(10, 1), down(40, 900, HEAD + b"hello", kept=len(HEAD))), (1, [30]))

    def test_what_is_sent_again_counts_once(self):
        answer = HEAD + b"hello"
        again = [up(10, 1), up(12, 1), down(40, 900, answer), down(90, 900, answer), up(100, 1 + len(REQUEST))]
        self.assertEqual(pair(*again, down(107, 900 + len(answer), answer)), (2, [30, 7]))

    def test_sequence_numbers_wrap_around(self):
        first, answer = (1 << 32) - 3, HEAD + b"hello"
        packets = [up(10, first), down(20, first, answer), up(30, first + len(REQUEST))]
        self.assertEqual(pair(*packets, down(41, first + len(answer), answer)), (2, [10, 11]))

    def test_a_port_that_is_used_again_is_a_new_connection(self):
        answer = HEAD + b"hello"
        one = [up(0, 5, b"", flags=SYN), down(1, 70, b"", flags=SYN | ACK), up(2, 6), down(9, 71, answer)]
        two = [up(20, 90_000, b"", flags=SYN), up(22, 90_001), down(25, 4_000_000_000, answer)]
        self.assertEqual(pair(*one, *two), (2, [7, 3]))

    def test_a_request_without_an_answer_is_seen_and_has_no_time(self):
        self.assertEqual(pair(up(10, 1)), (1, []))

    def test_what_cannot_be_paired_is_an_error(self):
        answer, far = HEAD + b"hello", 1 + len(REQUEST)
        for words, packets in (
            ("before the last one was answered", [up(1, 1), up(2, far)]),
            ("without a request", [down(1, 1, answer)]),
            ("longer than it says", [up(1, 1), down(2, 1, answer + b"!")]),
            ("without 'Content-Length'", [up(1, 1), down(2, 1, b"HTTP/1.1 200 OK\r\n\r\n")]),
            ("are missing in the capture", [up(1, 1), down(2, 1, answer), up(3, far + 10)]),
            ("not in one captured segment", [up(1, 1, REQUEST, kept=10)]),
        ):
            with self.assertRaisesRegex(CaptureError, words):
                pair(*packets)
