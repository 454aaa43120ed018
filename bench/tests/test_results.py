"""From rounds to tables: summaries, targets, pages, and the witness's agreement."""

import pathlib
import unittest

from bench import (
    agreement,
    contenders,
    contest,
    crowd,
    idle,
    layout,
    main,
    page,
    startup,
    statistic,
    targets,
    users,
    wall,
    witnessing,
)
from bench.scenarios import HTTP, HTTP2, HTTPS, MEMCACHED, SCENARIOS


def run_of(cpu_us, **more):
    return {
        "cpu_us": cpu_us,
        "user_us": cpu_us / 10,
        "system_us": cpu_us * 0.9,
        "rate_hz": 1e6 / cpu_us,
        "rss_mib": 5.0,
        "p99_ms": None,
        "thread_us": None,
        "other_cpus": 0.01,
        "failed": 0,
    } | more


def result(ratio=0.7, rounds=9):
    rows = [{"sysdyno": run_of(ratio * (10 + drift), thread_us=5.0), "wrk": run_of(10.0 + drift)} for drift in range(rounds)]
    machine = {"cpu": "A", "cpus": 2, "memory_gib": None, "kernel": "K", "virtualisation": "none seen"}
    return {
        "date": "2026-01-01 00:00 UTC",
        "command": "bench/run",
        "machine": machine | {"idle": "not said", "load_average": 0.0},
        "versions": {"sysdyno": "0.1.0", "wrk": "4"},
        "options": {"rounds": rounds, "seconds": 3},
        "absent": ["weighttp"],
        "back_ends": ["epoll"],
        "scenarios": {"keepalive": {"seconds": 3, "rounds": rows, "summary": contest.summarise(rows, ["sysdyno", "wrk"])}},
    }


class Targets(unittest.TestCase):
    def target(self, name):
        return next(target for target in targets.TARGETS if target.id == name)

    def judged(self, name, values):
        return targets.judge(self.target(name), statistic.median_of(values))

    def test_met_and_missed_by_how_much(self):
        self.assertEqual(self.judged("wrk", [0.7] * 9), "met")
        self.assertEqual(self.judged("wrk", [0.88] * 9), "missed by 10%")
        self.assertEqual(self.judged("scaling", [1.9] * 9), "met")
        self.assertEqual(self.judged("scaling", [1.62] * 9), "missed by 10%")
        self.assertEqual(self.judged("slip", [500.0] * 9), "missed: 10.0 × the limit")
        self.assertEqual(self.judged("wrk", []), "not measured")

    def test_an_interval_that_holds_the_limit_is_told(self):
        self.assertEqual(self.judged("wrk", [0.7] * 5 + [0.9] * 4), "met, but the interval reaches beyond")
        self.assertEqual(self.judged("wrk", [0.7] * 4 + [0.9] * 5), "missed by 12%, but the interval reaches it")
        self.assertEqual(self.judged("scaling", [1.9] * 5 + [1.7] * 4), "met, but the interval reaches beyond")

    def test_each_finds_its_figure(self):
        measured = result()
        self.assertAlmostEqual(self.target("wrk").find(measured)["median"], 0.7)
        self.assertAlmostEqual(self.target("user").find(measured)["median"], 0.98)
        for name in ("weighttp", "connect", "idle", "scaling", "slip"):
            self.assertIsNone(self.target(name).find(measured))
        estimate = statistic.median_of([1.0])
        measured["slip"] = {"summary": {"sysdyno (uring), constant": {"slip_us_p99": estimate}}}
        self.assertIs(self.target("slip").find(measured), estimate)
        measured["idle"] = {"summary": {"epoll": {"rss_mib": estimate}}}
        self.assertIs(self.target("idle").find(measured), estimate)


    def test_handshakes_per_cpu_second_are_the_more_the_less_each_costs(self):
        rows = [{"sysdyno": run_of(cost), "openssl s_time": run_of(100.0)} for cost in (80, 100, 125, 160, 50, 200)]
        part = {"summary": contest.summarise(rows, ["sysdyno", "openssl s_time"])}
        estimate = self.target("handshake").find({"scenarios": {"handshake": part}})
        self.assertAlmostEqual(estimate["median"], (1.0 + 0.8) / 2)
        self.assertEqual((estimate["interval"]["low"], estimate["interval"]["high"]), (0.5, 2.0))


class Page(unittest.TestCase):
    def test_every_name_in_the_template_is_filled(self):
        text = page.markdown(result())
        self.assertNotIn("{{", text)
        self.assertIn("| wrk | 14.00 |", text)
        self.assertIn("0.700 … 0.700", text)
        self.assertIn("sysdyno: 5.00 of 9.80 µs", text)

    def test_a_value_is_not_taken_for_a_name(self):
        self.assertEqual(page.fill("{{a}} {{b}}", {"a": "{{b}}", "b": "2"}), "{{b}} 2")

    def test_what_speaks_against_the_figures_stands_first(self):
        measured = result(rounds=2)
        measured["scenarios"]["keepalive"]["summary"]["tools"]["wrk"]["other_cpus"]["median"] = 0.4
        cautions = " ".join(page.cautions(measured))
        for words in ("Only 2 rounds", "up to 0.40 CPUs", "Left out: few"):
            self.assertIn(words, cautions)

    def test_a_bar_in_a_cell_does_not_split_it(self):
        table = layout.Table("a", "b")
        table.add("x|y", 1)
        self.assertIn("x\\|y", table.markdown())


class Rounds(unittest.TestCase):
    def test_a_tool_that_failed_in_a_round_is_compared_in_the_others_and_told(self):
        measured = result()
        part = measured["scenarios"]["keepalive"]
        part["rounds"][0].pop("wrk")
        part["rounds"][1].pop("sysdyno")
        part["summary"] = contest.summarise(part["rounds"], ["sysdyno", "wrk", "ab"])
        self.assertEqual(part["summary"]["tools"]["wrk"]["ratio"]["count"], 7)
        self.assertNotIn("ab", part["summary"]["tools"])
        self.assertIn("keepalive: wrk failed in 1 rounds.", page.cautions(measured))


class Commands(unittest.TestCase):
    def commands(self, scenario):
        """What is typed for each tool that takes part."""
        load = contenders.Load(scenario, "127.0.0.1", 8080, 3, 1000, "/cert.pem")
        everyone = (SYSDYNO, *contenders.OTHERS)
        return {contender.name: command for contender in everyone if (command := contender.command(load))}

    def test_every_tool_is_told_a_scenario_that_it_knows_and_no_other(self):
        plain = {"sysdyno", "wrk", "weighttp", "ab", "h2load", "httperf", "oha", "hey"}
        taking_part = {
            "keepalive": plain,
            "few": plain,
            "many": plain - {"httperf"},
            "connect": plain - {"h2load"},
            "large": plain,
            "h2": {"sysdyno", "h2load"},
            "tls": {"sysdyno", "wrk", "h2load"},
            "handshake": {"sysdyno", "wrk", "openssl s_time"},
            "memcached": {"sysdyno", "memcaslap"},
        }
        for scenario in SCENARIOS:
            self.assertEqual(set(self.commands(scenario)), taking_part[scenario.id], scenario.id)

    def test_every_tool_is_told_where_the_server_is(self):
        for scenario in SCENARIOS:
            for name, command in self.commands(scenario).items():
                self.assertIn("8080", " ".join(command), name)

    def test_each_protocol_is_said_to_both_sides_alike(self):
        by_id = {scenario.id: self.commands(scenario) for scenario in SCENARIOS}
        self.assertIn("http://127.0.0.1:8080/", by_id["h2"]["h2load"])
        self.assertIn("-m32", by_id["h2"]["h2load"])
        self.assertEqual(by_id["h2"]["sysdyno"][-4:], ["--http2", "prior", "--streams", "32"])
        self.assertIn("https://127.0.0.1:8080/", by_id["tls"]["wrk"])
        self.assertIn("--h1", by_id["tls"]["h2load"])
        self.assertIn("/cert.pem", by_id["handshake"]["openssl s_time"])
        self.assertIn("--no-keepalive", by_id["handshake"]["sysdyno"])

    def test_both_sides_of_memcached_have_keys_of_the_same_number_and_size(self):
        own, other = (self.commands(SCENARIOS[-1])[name] for name in ("sysdyno", "memcaslap"))
        self.assertIn("--win_size=1k", other)
        self.assertEqual(own[own.index("--mc-keys") + 1], str(64 * 1024))
        lines = pathlib.Path(contenders.MEMCASLAP).read_text().splitlines()
        sizes = [own[own.index(option) + 1] for option in ("--mc-key-size", "--mc-value-size")]
        self.assertEqual([lines[lines.index(name) + 1].split()[0] for name in ("key", "value")], sizes)
        self.assertEqual(lines[lines.index("cmd") + 1 :], ["0 0", "1 1"])
        self.assertIn("100%", own)

    def test_keys_are_stored_once_by_the_seed_of_every_run(self):
        load = contenders.Load(SCENARIOS[-1], "127.0.0.1", 8080, 3, 1000)
        measured, before = self.commands(SCENARIOS[-1])["sysdyno"], contenders.preload("sysdyno")(load)
        self.assertIn("--mc-no-preload", measured)
        self.assertNotIn("--mc-no-preload", before)
        for option in ("--seed", "--mc-keys", "--mc-key-size", "--mc-value-size"):
            self.assertEqual(before[before.index(option) + 1], measured[measured.index(option) + 1], option)
        self.assertIsNone(contenders.preload("sysdyno")(load._replace(scenario=SCENARIOS[0])))


SYSDYNO = contenders.Contender(
    "sysdyno", "sysdyno", contenders.sysdyno_command("sysdyno", "epoll"), None, speaks=(HTTP, HTTPS, HTTP2, MEMCACHED)
)


class Established(unittest.TestCase):
    def test_a_connection_counts_once_by_its_client_end(self):
        text = (
            "  sl  local_address rem_address   st tx_queue rx_queue\n"
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
            "   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000\n"
            "   2: 0100007F:1F90 0100007F:9C40 01 00000000:00000000\n"
            "   3: 0100007F:9C41 0100007F:1F90 06 00000000:00000000\n"
        )
        counter = idle.Established(8080)
        try:
            self.assertEqual(counter.count(text), 1)
        finally:
            counter.stop()


class Idle(unittest.TestCase):
    def test_memory_of_fewer_connections_is_no_measurement(self):
        rows = [{"rss_mib": 20.0, "connections": count, "failed": 0} for count in (10_000, 9_999)]
        self.assertEqual(idle.summarise({"epoll": rows})["epoll"]["rss_mib"]["count"], 1)
        self.assertIsNone(idle.summarise({"epoll": rows[1:]})["epoll"]["rss_mib"])


class Wall(unittest.TestCase):
    def test_every_tool_is_told_the_end_and_the_connections(self):
        for connections, users, batch in ((64, "1", 64), (1, "1", 1), (20_000, "200", 100)):
            order = wall.Order("http://h/", connections, 5)
            self.assertEqual(wall.sysdyno("s", None)(order)[3:5], ["--connections", str(connections)])
            self.assertIn(f"-c{connections}", wall.wrk(order))
            command = wall.k6(order)
            self.assertEqual(command[command.index("--vus") + 1], users)
            self.assertIn(f"BATCH={batch}", command)
            self.assertEqual(command[command.index("--duration") + 1], "5s")

    def test_a_number_of_requests_is_for_those_that_know_one(self):
        order = wall.Order("http://h/", 1, 0, 10)
        self.assertIsNone(wall.wrk(order))
        self.assertEqual(wall.k6(order)[wall.k6(order).index("--iterations") + 1], "10")
        self.assertEqual(wall.sysdyno("s", "epoll")(order)[-4:], ["--requests", "10", "--io", "epoll"])

    def test_the_start_is_what_was_not_asked_for(self):
        cell = {"beside_ms": 90.0, "cpu_ms": 20.0, "other_cpus": 0.0}
        rows = [{"sysdyno": {"second": cell, "ten": cell}, "wrk": {"second": cell | {"beside_ms": 5.0}}}] * 6
        measured = result() | {"startup": {"rounds": rows, "summary": startup.summarise(rows)}}
        self.assertIsNone(measured["startup"]["summary"]["wrk"]["ten_beside_ms"])
        target = next(target for target in targets.TARGETS if target.id == "startup")
        self.assertEqual(target.find(measured)["median"], 90.0)
        self.assertIn("| wrk | 5 | 5 … 5 | 20 | – | – | – | 0.00 |", page.markdown(measured))

    def test_a_crowd_has_its_worst_counts_and_the_load_beside_alone(self):
        row = {column: 1.0 for column in ("seconds", "user_seconds", "system_seconds", "rss_mib", "stopped_ms", "other_cpus")}
        rows = [
            {"none": {"stopped_ms": 0.5}, "sysdyno": row | {"connections": count, "requests": 9, "failed": 1}}
            for count in (20_000, 19_000)
        ]
        summary = crowd.summarise(rows)
        self.assertEqual((summary["sysdyno"]["connections"], summary["sysdyno"]["failed"]), (19_000, 2))
        text = page.markdown(result() | {"crowd": {"rounds": rows, "summary": summary}})
        self.assertIn("| none | – | – | – | – | 0 | – | – | – | – |", text)
        self.assertIn("| sysdyno | 1.0 | 1.0 | 1.0 | 1.0 | 1 | 19,000 | 9 | 2 | 1.00 |", text)

    def test_sockets_in_use_are_those_of_tcp(self):
        text = "sockets: used 40300\nTCP: inuse 40012 orphan 0 tw 3 alloc 40015 mem 9\nUDP: inuse 2 mem 0\n"
        self.assertEqual(crowd.Inuse.sockets(text), 40_012)


class Users(unittest.TestCase):
    def row(self, operations, met=7, verdict="VALID"):
        rules = {"mix": {"met": met, "of": 7}}
        return {"rss_mib": 90.0, "operations": operations, "failed": 0, "verdict": verdict, "reasons": [], "rules": rules}

    def test_memory_counts_only_if_every_user_had_begun(self):
        rows = [self.row(count) for count in (200_000, 99_999)]
        summary = users.summarise({"epoll": rows})["epoll"]
        self.assertEqual((summary["rss_mib"]["count"], summary["operations"]), (1, 99_999))
        self.assertIsNone(users.summarise({"epoll": rows[1:]})["epoll"]["rss_mib"])

    def test_rules_are_the_worst_of_all_rounds(self):
        summary = users.summarise({"epoll": [self.row(1), self.row(1, met=5)]})["epoll"]
        self.assertEqual(summary["rules"], {"mix": {"met": 5, "of": 7}})
        self.assertTrue(users.is_met(self.row(1)))
        self.assertFalse(users.is_met(self.row(1, met=6)) or users.is_met(self.row(1, verdict="SUSPECT")))

    def test_operations_are_those_begun_and_rules_are_counted_by_name(self):
        rule = {"rule": "mix", "passed": True, "sentence": "x"}
        operations = [{"measured": {"started_count": count}} for count in (3, 4)]
        session = {"operations": operations, "rate_hz": 2.0, "rules": [rule, rule | {"passed": False, "sentence": "y"}]}
        found = users.of_document({"session": session})
        self.assertEqual((found["operations"], found["rules"]), (7, {"mix": {"met": 1, "of": 2}}))
        self.assertEqual(found["broken"], ["y"])


class Options(unittest.TestCase):
    def test_single_parts_can_be_chosen(self):
        self.assertEqual(main.parse(["--only", "h2,users"]).only, ["h2", "users"])
        self.assertEqual(main.parse([]).only, list(main.PARTS))


class Agreement(unittest.TestCase):
    def row(self, own_us=(30, 40, 60), wire_us=(20, 30, 50), **more):
        times = dict(zip(("p50", "p90", "p99"), (None if value is None else value * 1000 for value in own_us)))
        document = {
            "counts": {"written": 100, "ok": 100},
            "service_time_ns": times,
            "generator": {"io": "epoll", "timer_error_ns": {"p50": 1000}},
            "verdict": {"status": "VALID"},
        }
        wire = [wire_us[0] * 1000] * 50 + [wire_us[1] * 1000] * 40 + [wire_us[2] * 1000] * 10
        seen = {"requests": 100, "service_ns": wire, "lost": 0, "damage": None} | more
        row = agreement.compare(document, {"other_cpus": 0.0}, seen)
        return agreement.join(witnessing.MODES[0], [row])

    def test_within_the_limit_at_p50_and_p99(self):
        self.assertTrue(self.row()["agrees"])
        self.assertTrue(self.row(own_us=(30, 400, 60))["agrees"])
        self.assertFalse(self.row(own_us=(30, 40, 71))["agrees"])
        self.assertFalse(self.row(own_us=(-1, 40, 60))["agrees"])
        self.assertEqual(agreement.exit_code([self.row()]), 0)
        self.assertEqual(agreement.exit_code([self.row(), self.row(own_us=(30, 40, 71))]), 1)

    def test_a_capture_that_is_not_whole_is_void(self):
        for more in ({"damage": "cannot pair"}, {"lost": 1}, {"lost": None}, {"requests": 99}, {"service_ns": [20_000] * 99}):
            row = self.row(**more)
            self.assertIsNone(row["agrees"])
            self.assertEqual(agreement.exit_code([row]), 3)
        self.assertIn("percentiles", self.row(own_us=(30, 40, None))["void"])

    def test_the_page_is_whole(self):
        rows = [self.row(), self.row(lost=3)]
        document = result() | {"rows": rows, "seconds": 5, "rounds": 3}
        text = witnessing.markdown(document)
        self.assertNotIn("{{", text)
        self.assertIn("1 of 2 judged comparisons agree", text)
        self.assertIn("the capture lost 3 packets", text)
