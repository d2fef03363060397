"""Sums in a fixed tree, and tiles."""

import threading
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from manyview.engines.base import (
    TILE_ROWS,
    TreeSum,
    meanwhile,
    n_tiles,
    one_thread_per_product,
    run_side_by_side,
    thread_pool,
)


def parts_of(n, seed=0):
    """Numbers of very different size, whose sum depends on the order of adding."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-12, 12, (n, 3))


def tree_sum(parts, order):
    total = TreeSum()
    for number in order:
        total.add(number, parts[number])
    return total.result()


class TestTreeSum:
    @given(n=st.integers(1, 70), seed=st.integers(0, 1000))
    def test_the_order_of_arrival_does_not_change_a_bit(self, n, seed):
        parts = parts_of(n, seed)
        order = np.random.default_rng(seed).permutation(n).tolist()
        assert np.array_equal(tree_sum(parts, order), tree_sum(parts, range(n)))

    @given(n=st.integers(1, 70), cuts=st.sets(st.integers(0, 70)), seed=st.integers(0, 1000))
    def test_blocks_summed_beforehand_do_not_change_a_bit(self, n, cuts, seed):
        parts = parts_of(n, seed)
        edges = sorted({0, n, *(cut for cut in cuts if cut < n)})
        blocks = []
        for start, end in pairwise(edges):
            block = TreeSum()
            for number in range(start, end):
                block.add(number, parts[number])
            blocks.append(block.parts())
        total = TreeSum()
        for block in np.random.default_rng(seed).permutation(len(blocks)):
            for (level, number), part in blocks[block].items():
                total.add(number, part, level=level)
        assert np.array_equal(total.result(), tree_sum(parts, range(n)))

    @given(n=st.integers(1, 70), cut=st.integers(0, 70), seed=st.integers(0, 1000))
    def test_sums_in_place_do_not_change_a_bit(self, n, cut, seed):
        parts = parts_of(n, seed)
        total, other = TreeSum(in_place=True), TreeSum(in_place=True)
        for number in range(n):
            (total if number < cut else other).add(number, parts[number].copy())
        total.take(other)
        assert other.parts() == {}
        assert np.array_equal(total.result(), tree_sum(parts, range(n)))

    def test_parts_are_left_as_they_are_unless_asked(self):
        parts = parts_of(16)
        before = parts.copy()
        tree_sum(parts, range(16))
        assert np.array_equal(parts, before)

    @given(n=st.integers(1, 70))
    def test_every_part_is_counted_once(self, n):
        assert tree_sum([2**i for i in range(n)], range(n)) == 2**n - 1

    def test_the_tests_numbers_would_show_another_order(self):
        parts = parts_of(64)
        assert not np.array_equal(sum(parts[::-1]), tree_sum(parts, range(64)))

    def test_parts_may_be_anything_that_adds(self):
        assert tree_sum(["a", "b", "c", "d", "e"], [4, 2, 0, 3, 1]) == "abcde"

    def test_few_parts_wait_when_they_come_in_order(self):
        total = TreeSum()
        waiting = []
        for number in range(1000):
            total.add(number, 1)
            waiting.append(len(total.parts()))
        assert max(waiting) <= 10  # the binary digits of 1000

    def test_nothing_to_sum_is_an_error(self):
        with pytest.raises(ValueError, match="nothing to sum"):
            TreeSum().result()


class TestTiles:
    @pytest.mark.parametrize(
        ("n_rows", "expected"),
        [(1, 1), (TILE_ROWS, 1), (TILE_ROWS + 1, 2), (3 * TILE_ROWS, 3), (581_012, 142)],
    )
    def test_count(self, n_rows, expected):
        assert n_tiles(n_rows) == expected


class TestThreads:
    def test_products_use_one_thread_inside_and_what_they_used_before_after(self):
        before = [pool["num_threads"] for pool in threadpool_info()]
        with one_thread_per_product():
            inside = [pool["num_threads"] for pool in threadpool_info()]
        assert inside == [1] * len(before)
        assert [pool["num_threads"] for pool in threadpool_info()] == before

    def test_so_they_do_in_another_thread_once_the_first_has_left(self):
        def look():
            with one_thread_per_product():
                inside.append([pool["num_threads"] for pool in threadpool_info()])

        before, inside = [pool["num_threads"] for pool in threadpool_info()], []
        look()
        for _ in range(2):
            other = threading.Thread(target=look)
            other.start()
            other.join()
        assert inside == [[1] * len(before)] * 3
        assert [pool["num_threads"] for pool in threadpool_info()] == before

    def test_so_they_do_until_the_last_of_two_threads_has_left(self):
        def blas():
            return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

        def stay():
            with one_thread_per_product():
                has_entered.set()
                may_leave.wait()

        before, has_entered, may_leave = blas(), threading.Event(), threading.Event()
        other = threading.Thread(target=stay)
        other.start()
        has_entered.wait()
        with one_thread_per_product():
            may_leave.set()
            other.join()
            assert blas() == [1] * len(before)
        assert blas() == before

    def test_a_pool_has_no_more_threads_than_asked_for(self):
        with thread_pool(3) as pool:
            idents = set(pool.map(lambda _: threading.get_ident(), range(50)))
        assert 1 <= len(idents) <= 3

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_tasks_side_by_side_answer_in_their_order(self, n_jobs):
        tasks = [partial(divmod, number, 3) for number in range(20)]
        assert run_side_by_side(tasks, n_jobs) == [divmod(number, 3) for number in range(20)]

    def test_one_thread_is_the_callers(self):
        assert run_side_by_side([threading.get_ident] * 3, 1) == [threading.get_ident()] * 3


class TestMeanwhile:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_a_task_gives_what_it_returns_whenever_asked(self, n_jobs):
        with meanwhile(lambda: [7], n_jobs) as found:
            inside = found()
        assert inside == found() == [7]

    def test_it_runs_beside_what_happens_inside(self):
        has_started = threading.Event()
        with meanwhile(has_started.set, 2):
            assert has_started.wait(10)

    def test_on_one_thread_it_runs_when_asked(self):
        seen = []
        with meanwhile(lambda: seen.append(threading.get_ident()), 1) as found:
            assert seen == []
        found()
        assert seen == [threading.get_ident()]

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_its_error_is_raised_where_it_is_asked_for(self, n_jobs):
        with meanwhile(lambda: 1 // 0, n_jobs) as found:
            pass
        with pytest.raises(ZeroDivisionError):
            found()

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_an_error_inside_is_raised_once_the_task_is_over(self, n_jobs):
        is_over = threading.Event()
        with pytest.raises(KeyError, match="inside"), meanwhile(is_over.set, n_jobs):
            raise KeyError("inside")
        assert is_over.is_set() == (n_jobs > 1)
