"""Intervals of medians against the tables of the sign test."""

import random
import unittest

from bench import statistic


class MedianInterval(unittest.TestCase):
    def test_ranks_are_those_of_the_sign_test(self):
        # Ranks from the left and true levels, from the binomial distribution with p = 1/2.
        for count, rank, level in ((6, 1, 0.96875), (9, 2, 0.9609), (10, 2, 0.9785), (15, 4, 0.9648), (25, 8, 0.9567)):
            interval = statistic.median_interval(range(1, count + 1))
            self.assertEqual((interval["low"], interval["high"]), (rank, count + 1 - rank))
            self.assertAlmostEqual(interval["level"], level, places=4)

    def test_too_few_values_have_no_interval(self):
        self.assertIsNone(statistic.median_interval([1, 2, 3, 4, 5]))
        self.assertIsNone(statistic.median_interval([]))

    def test_it_holds_the_median_as_often_as_it_says(self):
        draw, held = random.Random(1), 0
        for _ in range(2000):
            interval = statistic.median_interval([draw.expovariate(1) for _ in range(9)])
            held += interval["low"] <= 0.6931 <= interval["high"]
        self.assertGreater(held / 2000, 0.945)
        self.assertLess(held / 2000, 0.98)


class PairedRatio(unittest.TestCase):
    def test_what_changes_from_round_to_round_falls_out(self):
        drift = [1, 5, 2, 9, 3, 4, 7, 8, 6]
        ratio = statistic.paired_ratio([0.8 * value for value in drift], drift)
        self.assertAlmostEqual(ratio["median"], 0.8)
        self.assertAlmostEqual(ratio["interval"]["low"], 0.8)

    def test_rounds_without_a_value_are_left_out(self):
        self.assertEqual(statistic.paired_ratio([None, 1], [1, 2])["count"], 1)
        self.assertIsNone(statistic.paired_ratio([None], [1]))
        self.assertIsNone(statistic.median_of([None, None]))


class Quantile(unittest.TestCase):
    def test_it_is_the_least_value_that_the_share_does_not_exceed(self):
        values = list(range(1, 101))
        for ratio, expected in ((0.5, 50), (0.99, 99), (0.999, 100), (0.0, 1), (1.0, 100)):
            self.assertEqual(statistic.quantile(values, ratio), expected)
