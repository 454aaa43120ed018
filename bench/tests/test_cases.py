"""Numbers that people wrote into a page of docs/cases are the ones that were measured: each is found in the page's JSON.

A percentage of two digits is often found by chance, since every effect and the bounds of its interval count; times, rates, and factors
seldom are.
"""

import collections
import gzip
import json
import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "docs/cases"

MEASURED = re.compile(r"<!-- measured ([\w-]+):.*?<!-- measured: end -->", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`|!\[.*?\]\(.*?\)", re.DOTALL)

NUMBER = r"(?P<about>(?:about|over|almost|more than) )?(?P<sign>[×÷] )?(?P<number>\d[\d,]*(?:\.\d+)?)"
UNIT = r"(?P<unit>%| ?µs| ?ms| s\b| times\b|/s\b| (?:requests|operations) per second| req/s| per second)?"
WRITTEN = re.compile(rf"(?<![\w.,]){NUMBER}{UNIT}")
NS = {"µs": 1e3, "ms": 1e6, "s": 1e9}
RATES = ("/s", "requests per second", "operations per second", "req/s", "per second")
ROUNDED = {"about": (0.9, 1.1), "over": (1, 1.25), "more than": (1, 1.25), "almost": (0.8, 1)}
"""What these words stand for, as factors. House values."""


def kind_of(match):
    """What a number is, `None` where it was not measured: counts, versions, codes. A rounded factor is an estimate, never a bound of
    its interval."""
    unit = (match["unit"] or "").strip()
    if unit in NS:
        return "time"
    if unit in RATES:
        return "rate"
    if match["sign"] or unit == "times":
        return "estimate" if match["about"] else "factor"
    return "share" if unit == "%" else None


def written(text):
    """(kind, lowest, highest, words) of each number of a text that has a unit of measurement."""
    for match in WRITTEN.finditer(CODE.sub(" ", text)):
        kind = kind_of(match)
        if kind is None:
            continue
        digits = match["number"].replace(",", "")
        value, decimals = float(digits), len(digits.partition(".")[2])
        half = 0.51 * 10**-decimals
        if "." not in digits and len(digits.rstrip("0")) < len(digits):
            half = max(half, 0.51 * 10 ** (len(digits) - len(digits.rstrip("0"))))
        low, high = value - half, value + half
        if match["about"]:
            low, high = (factor * value for factor in ROUNDED[match["about"].strip()])
        scale = NS.get((match["unit"] or "").strip(), 1)
        yield kind, low * scale, high * scale, match[0].strip()


def numbers_in(texts):
    """What sentences of the program say with a unit, by kind."""
    for text in texts:
        for kind, low, high, _ in written(text):
            yield kind, (low + high) / 2


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)


def measured(compared):
    """Every measured value that a page may speak of, by kind. Times in ns, shares in percent."""
    pool = collections.defaultdict(list)
    kinds = {"ns": "time", "hz": "rate", "ratio": "share"}
    if compared["schema"].startswith("sysdyno.autotune"):
        return tuned(compared)
    for metric in (metric for operation in compared["operations"] for metric in operation["metrics"]):
        medians = [side["median"] for side in metric["sides"] if side["median"]]
        scale = 100 if metric["unit"] == "ratio" else 1
        pool[kinds.get(metric["unit"], "other")] += [scale * median for median in medians]
        found = [effect["effect"] for effect in metric["effects"] if effect["effect"]]
        bounds = [one[name] for one in found if one["scale"] == "ratio" for name in ("point", "low", "high") if one[name]]
        pool["factor"] += bounds + [1 / bound for bound in bounds]
        points = [one["point"] for one in found if one["scale"] == "ratio"]
        pool["estimate"] += points + [1 / point for point in points]
        pool["share"] += [100 * share for bound in bounds for share in (bound, abs(1 - bound))]
    for times in compared.get("profiles", {}).values():
        pool["time"] += [1e3 * us for us in times.values()]
        kernel = sum(us for name, us in times.items() if not name.endswith("program"))
        pool["share"].append(100 * kernel / sum(times.values()))
        pool["share"] += [100 * one for one in kernel_shares(times)]
    for one in compared.get("outsiders", {}).values():
        rows = [one["load"], *one["targets"]]
        pool["time"] += [row[name] for row in rows for name in ("p50", "p99", "max") if row[name]]
        pool["time"] += [window[name] for window in one["windows"] for name in ("after_ns", "length_ns")]
        pool["share"] += [100 * row["lost_count"] / row["sent_count"] for row in one["targets"] if row["sent_count"]]
    for split in compared.get("splits", {}).values():
        pool["share"] += [100 * ratio for link in split["links"] for ratio in [link["predicted_ratio"], *link["sent_ratios"]] if ratio is not None]
        pool["share"] += [100 * split["chance"][name] for name in ("one_link_ratio", "busiest_mean_ratio") if split["chance"]]
    variants = (compared.get("matrix") or {}).get("variants", [])
    for board in (one["scoreboard"] for one in variants if one.get("scoreboard")):
        pool["rate"] += [board[name] for name in ("planned_hz", "rate_hz") if board[name]]
        pool["share"] += [100 * board["rate_hz"] / board["planned_hz"]] if board["planned_hz"] else []
        for operation in board["operations"]:
            pool["time"] += [operation[name] for name in ("mean_ns", "percentile_ns", "max_ns") if operation[name]]
            pool["share"] += [100 * operation[name] for name in ("mix_ratio", "mix_target_ratio") if operation[name]]
    for kind, value in numbers_in(texts_of(compared)):
        pool[kind].append(value)
    return pool


def tuned(compared):
    """The same of an autotune, whose metric is a rate."""
    pool = collections.defaultdict(list)
    effects = [compared["outcome"], *(one["effect"] for one in compared["tried"])]
    bounds = [effect[name] for effect in effects if effect for name in ("point", "low", "high")]
    pool["factor"] = bounds + [1 / bound for bound in bounds]
    pool["estimate"] = [effect["point"] for effect in effects if effect]
    pool["rate"] = [compared["before"], *([compared["before"] * compared["outcome"]["point"]] if compared["outcome"] else [])]
    for kind, value in numbers_in(texts_of(compared)):
        pool[kind].append(value)
    return pool


def kernel_shares(times):
    """Of each program's time in a profile, the part that is not its own code."""
    programs = {name.split(":")[0] for name in times}
    for program in programs:
        own = {name: us for name, us in times.items() if name.startswith(f"{program}:")}
        yield 1 - own.get(f"{program}: program", 0) / sum(own.values())


def experiments():
    """The text of each experiment with that of its lab, by the name that its results carry."""
    found = {}
    for path in sorted((ROOT / "experiments").glob("*.toml")):
        text = path.read_text()
        name = tomllib.loads(text).get("name", path.stem)
        labs = re.findall(r'"(labs/[\w-]+\.toml)"', text)
        found[name] = "\n".join([text, *((path.parent / lab).read_text() for lab in labs)])
    return found


def pages():
    """(name, experiments, text outside of what was measured) of each page that experiments are written into."""
    for path in sorted(CASES.glob("*.md")):
        text = path.read_text()
        names = MEASURED.findall(text)
        if names:
            yield path.name, names, MEASURED.sub("", text)


def unmeasured(text, names):
    """The numbers of a text that are neither in the results nor in the files of these experiments."""
    pool, given = measured_by(names), experiments()
    for kind, value in numbers_in(given[name] for name in names):
        pool[kind].append(value)
    return [words for kind, low, high, words in written(text) if not any(low <= value <= high for value in pool[kind])]


def measured_by(names):
    pool = collections.defaultdict(list)
    for name in names:
        compared = json.loads(gzip.decompress((CASES / f"{name}.json.gz").read_bytes()))
        for kind, values in measured(compared).items():
            pool[kind] += values
    return pool


class Pages(unittest.TestCase):
    """Pages that experiments are written into."""

    def test_every_number_with_a_unit_was_measured_or_is_in_the_experiment(self):
        for page, names, text in pages():
            with self.subTest(page):
                self.assertEqual(unmeasured(text, names), [])

    def test_a_number_that_was_changed_is_found(self):
        texts = {page: (text, names) for page, names, text in pages()}
        for page, right, wrong in [
            ("backlog-limits.md", "44 ms", "54 ms"),
            ("generator-limits.md", "18.9 µs", "19.8 µs"),
            ("wordpress-cache.md", "over 2,000 times", "over 5,000 times"),
            ("irq-spread.md", "312 µs", "412 µs"),
        ]:
            text, names = texts[page]
            self.assertIn(right, text)
            self.assertEqual(len(unmeasured(text.replace(right, wrong), names)), 1, wrong)

    def test_rounded_numbers_are_read_with_their_precision(self):
        cases = {"46 ms": ("time", 45.49e6, 46.51e6), "8.2 µs": ("time", 8149, 8251), "× 2.35": ("factor", 2.3449, 2.3551)}
        for text, expected in cases.items():
            kind, low, high, _ = next(written(text))
            self.assertEqual((kind, round(low, 4), round(high, 4)), expected)
        self.assertEqual(list(written("Linux 5.4 answers 403 to 300 connections")), [])


if __name__ == "__main__":
    unittest.main()
