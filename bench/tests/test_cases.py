"""Numbers that people wrote into a page of docs/cases are the ones that were measured: each is found in the page's JSON."""

import gzip
import itertools
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "docs/cases"

MEASURED = re.compile(r"<!-- measured ([\w-]+):.*?<!-- measured: end -->", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`|!\[.*?\]\(.*?\)", re.DOTALL)

NUMBER = r"(?P<about>(?:about|over|almost|more than) )?(?P<sign>[×÷] )?(?P<number>\d[\d,]*(?:\.\d+)?)"
UNIT = r"(?P<unit>%| ?µs| ?ms| s\b| times\b|/s\b| requests per second| req/s| per second)?"
WRITTEN = re.compile(rf"(?<![\w.,]){NUMBER}{UNIT}")
NS = {"µs": 1e3, "ms": 1e6, "s": 1e9}
RATES = ("/s", "requests per second", "req/s", "per second")
ROUNDED = 0.2
"""`about` and the like stand for this much. House value."""


def kind_of(match):
    """`time`, `rate`, `factor`, `share`, or `None` for what was not measured: counts, versions, codes."""
    unit = (match["unit"] or "").strip()
    if unit in NS:
        return "time"
    if unit in RATES:
        return "rate"
    if match["sign"] or unit == "times":
        return "factor"
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
        if match["about"]:
            half = max(half, ROUNDED * value)
        scale = NS.get((match["unit"] or "").strip(), 1)
        yield kind, (value - half) * scale, (value + half) * scale, match[0].strip()


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


def shares_of(factor):
    return (abs(1 - factor), factor)


def measured(compared):
    """Every measured value that a page may speak of, by kind. Times in ns, shares in percent."""
    pool = {"time": [], "rate": [], "factor": [], "share": []}
    kinds = {"ns": "time", "hz": "rate", "ratio": "share"}
    for metric in (metric for operation in compared["operations"] for metric in operation["metrics"]):
        medians = [side["median"] for side in metric["sides"] if side["median"]]
        scale = 100 if metric["unit"] == "ratio" else 1
        pool.setdefault(kinds.get(metric["unit"], "other"), []).extend(scale * median for median in medians)
        factors = [one / other for one, other in itertools.permutations(medians, 2)]
        found = [effect["effect"] for effect in metric["effects"] if effect["effect"]]
        bounds = [one[name] for one in found if one["scale"] == "ratio" for name in ("point", "low", "high") if one[name]]
        pool["factor"] += factors + bounds + [1 / bound for bound in bounds]
        pool["share"] += [100 * share for bound in bounds for share in shares_of(bound)]
    for times in compared.get("profiles", {}).values():
        pool["time"] += [1e3 * us for us in times.values()]
        kernel = sum(us for name, us in times.items() if not name.endswith("program"))
        pool["share"].append(100 * kernel / sum(times.values()))
        pool["share"] += [100 * one for one in kernel_shares(times)]
    for kind, value in numbers_in(texts_of(compared)):
        pool[kind].append(value)
    return pool


def kernel_shares(times):
    """Of each program's time in a profile, the part that is not its own code."""
    programs = {name.split(":")[0] for name in times}
    for program in programs:
        own = {name: us for name, us in times.items() if name.startswith(f"{program}:")}
        yield 1 - own.get(f"{program}: program", 0) / sum(own.values())


def pages():
    for path in sorted(CASES.glob("*.md")):
        text = path.read_text()
        names = MEASURED.findall(text)
        if names:
            yield path, names, MEASURED.sub("", text)


class Pages(unittest.TestCase):
    """Pages that experiments are written into."""

    def test_every_number_with_a_unit_was_measured_or_is_in_the_experiment(self):
        missing = []
        for path, names, text in pages():
            files = [json.loads(gzip.decompress((CASES / f"{name}.json.gz").read_bytes())) for name in names]
            pools = [measured(compared) for compared in files]
            given = [(kind, value) for name in names for kind, value in numbers_in(given_by(name))]
            for kind, low, high, words in written(text):
                known = [value for pool in pools for value in pool[kind]]
                known += [value for other, value in given if other == kind]
                if not any(low <= value <= high for value in known):
                    missing.append(f"{path.name}: {words}")
        self.assertEqual(missing, [])

    def test_a_number_that_was_not_measured_is_found(self):
        path, names, _ = next(pages())
        pool = measured(json.loads(gzip.decompress((CASES / f"{names[0]}.json.gz").read_bytes())))
        ((kind, low, high, _),) = written("p99 is 123.456 ms")
        self.assertFalse(any(low <= value <= high for value in pool[kind]), path)

    def test_rounded_numbers_are_read_with_their_precision(self):
        cases = {"46 ms": ("time", 45.49e6, 46.51e6), "8.2 µs": ("time", 8149, 8251), "× 2.35": ("factor", 2.3449, 2.3551)}
        for text, expected in cases.items():
            kind, low, high, _ = next(written(text))
            self.assertEqual((kind, round(low, 4), round(high, 4)), expected)
        self.assertEqual(list(written("Linux 5.4 answers 403 to 300 connections")), [])


def given_by(name):
    """The texts of an experiment and of the files beside it that it names."""
    path = ROOT / "experiments" / f"{name}.toml"
    if not path.exists():
        return
    text = path.read_text()
    yield text
    for lab in re.findall(r'"(labs/[\w-]+\.toml)"', text):
        yield (ROOT / "experiments" / lab).read_text()


if __name__ == "__main__":
    unittest.main()
