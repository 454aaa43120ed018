"""What tools print, as it was recorded from them, and what is read from it."""

import json
import pathlib
import unittest

from bench import outputs

SAMPLES = pathlib.Path(__file__).with_name("samples")


def sample(name):
    return (SAMPLES / name).read_text()


class Readers(unittest.TestCase):
    def check(self, read, name, requests, rate_hz, p99_ms, failed=0):
        said = read(sample(name))
        self.assertEqual((said["requests"], said["failed"]), (requests, failed))
        self.assertAlmostEqual(said["rate_hz"], rate_hz, places=2)
        if p99_ms is None:
            self.assertIsNone(said["p99_ms"])
        else:
            self.assertAlmostEqual(said["p99_ms"], p99_ms, places=3)

    def test_each_tool(self):
        self.check(outputs.wrk, "wrk.txt", 88332, 87987.27, 5.94)
        self.check(outputs.ab, "ab.txt", 60878, 60659.75, 8)
        self.check(outputs.h2load, "h2load.txt", 46373, 46373.0, None)
        self.check(outputs.h2load, "h2load-h2.txt", 45470, 45470.0, None)
        self.check(outputs.s_time, "s_time.txt", 533, 266.5, None)
        self.check(outputs.memcaslap, "memcaslap.txt", 126094, 63041, None)
        self.check(outputs.httperf, "httperf.txt", 19968, 36522.2, None)
        self.check(outputs.oha, "oha.json", 26558, 26542.458, 10.694)
        self.check(outputs.hey, "hey.txt", 25273, 25237.09, 11.5)
        self.check(outputs.k6, "k6.txt", 10, 1730.245698, None)

    def test_failures_are_seen(self):
        self.check(outputs.wrk, "wrk-404.txt", 105946, 96300.71, 0.337, failed=105946)

    def test_oha_gives_up_what_is_in_flight_at_its_end_and_that_is_no_failure(self):
        document = json.loads(sample("oha.json"))
        self.assertTrue(any("deadline" in name for name in document["errorDistribution"]))
        document["errorDistribution"]["connection refused"] = 3
        self.assertEqual(outputs.oha(json.dumps(document))["failed"], 3)

    def test_sysdyno_says_with_what_it_sent_and_whether_it_may_be_believed(self):
        said = outputs.sysdyno(sample("sysdyno.json"))
        self.assertEqual((said["requests"], said["failed"]), (6000, 0))
        self.assertEqual((said["io"], said["verdict"], said["reasons"]), ("epoll", "VALID", []))
        self.assertAlmostEqual(said["p99_ms"], 0.511231)

    def test_a_text_that_is_something_else_has_no_requests(self):
        everyone = (outputs.wrk, outputs.ab, outputs.h2load, outputs.httperf, outputs.weighttp, outputs.hey)
        for read in (*everyone, outputs.s_time, outputs.memcaslap):
            self.assertFalse(read("connection refused")["requests"])


class Durations(unittest.TestCase):
    def test_units(self):
        for text, expected in (("456.00us", 0.456), ("1.23ms", 1.23), ("1.20s", 1200), ("1.00m", 60000)):
            self.assertAlmostEqual(outputs.duration_ms(text), expected)
