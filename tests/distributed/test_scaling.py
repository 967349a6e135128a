"""The simulation of many ranks, against what can be worked out by hand."""

import numpy as np
import pytest
from benchmarks.scaling import NETWORKS, RANKS, Network, Profile, ring, simulated, step_time, table, tree

SLOW = Network("slow", 1e-3, 1e6)
STEP = Profile(step=0.1, ready=[0.04, 0.1], sizes=[10_000, 10_000])


def test_sums_of_two_ranks():
    """A half there and a half back; all of it there and back."""
    assert ring(SLOW, 2, 10_000) == pytest.approx(2 * (1e-3 + 5e-3))
    assert tree(SLOW, 2, 10_000) == pytest.approx(2 * (1e-3 + 10e-3))


def test_a_ring_carries_the_least_bytes_and_a_tree_the_fewest_messages():
    assert ring(Network("", 0, 1.0), 1024, 1.0) == pytest.approx(2 * 1023 / 1024)
    assert tree(Network("", 1.0, np.inf), 1024, 1.0) == 20
    assert ring(Network("", 1.0, np.inf), 1024, 1.0) == 2046


def test_overlap_hides_all_but_the_last_bucket():
    each = ring(SLOW, 2, 10_000)
    assert step_time(STEP, SLOW, 2, "ring") == pytest.approx(0.1 + each)
    assert step_time(STEP, SLOW, 2, "ring", overlap=False) == pytest.approx(0.1 + 2 * each)


def test_one_rank_takes_what_was_measured():
    assert step_time(STEP, SLOW, 1, "ring") == 0.1
    assert step_time(STEP, SLOW, 1, "tree", slowest=1.5) == pytest.approx(0.15)


def test_the_slowest_of_many_is_waited_for():
    fast = Network("fast", 0, 1e30)
    few, many = (simulated(STEP, fast, n, "ring", overlap=True, spread=0.1) for n in (2, 1024))
    # The mean of the largest of 1,024 normal numbers is 3.25, of two 0.56 (H. L. Harter, 1961).
    assert few == pytest.approx(0.1 * np.exp(0.1 * 0.56), rel=0.03)
    assert many == pytest.approx(0.1 * np.exp(0.1 * 3.25), rel=0.03)


def test_the_table_has_every_network_and_way():
    lines = table(STEP, 0.05)
    assert len(lines) == 1 + 4 * len(NETWORKS) and RANKS[-1] == 1024
