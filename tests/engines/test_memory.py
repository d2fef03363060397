"""Rows in memory: sampled, mapped and summed over tiles, on any number of threads."""

import pickle
import threading
from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from manyview.engines import Dask, Memory, choose_engine
from manyview.engines.base import TILE_ROWS, Run
from manyview.engines.progress import SilentProgress

N_ROWS = 5 * TILE_ROWS + 77


def open_rows(arrays, n_jobs=1, block_rows=TILE_ROWS, progress=None):
    return Memory(block_rows).open(arrays, Run(n_jobs, progress or SilentProgress()))


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(N_ROWS, 3)) * 10.0 ** rng.integers(-9, 9, (N_ROWS, 1))
    return [dense, sparse.random_array((N_ROWS, 40), density=0.05, rng=rng).tocsr()]


def column_sums(tile, first_row):
    return np.concatenate([block.sum(axis=0) for block in tile])


def first_columns(tile, first_row):
    return tile[0][:, :2] + first_row


class Copies:
    """How many of them there are, and were at most."""

    def __init__(self):
        self.n_alive = self.most = 0
        self.lock = threading.RLock()


class Large:
    """A sum whose copies are counted."""

    def __init__(self, copies):
        self.copies = copies
        with copies.lock:
            copies.n_alive += 1
            copies.most = max(copies.most, copies.n_alive)

    def __add__(self, other):
        return Large(self.copies)

    def __iadd__(self, other):
        return self

    def __del__(self):
        with self.copies.lock:
            self.copies.n_alive -= 1


class CountingProgress:
    def __init__(self):
        self.stages, self.done, self.finished = [], 0, 0

    def start(self, stage, total):
        self.stages.append((stage, total))

    def advance(self, steps=1):
        self.done += steps

    def finish(self):
        self.finished += 1


class TestMapReduce:
    def test_fewer_rows_than_a_tile(self):
        rows = open_rows([np.arange(6.0).reshape(3, 2)], n_jobs=2)
        assert rows.map_reduce(column_sums, stage="sums").tolist() == [6.0, 9.0]

    # Three a thread, in blocks of four tiles; one that is finished; one for each digit of 16 blocks.
    @pytest.mark.parametrize(("n_jobs", "most"), [(1, 3 + 4), (2, 6 + 1 + 4)])
    def test_few_sums_are_there_at_a_time(self, n_jobs, most):
        rows = open_rows([np.zeros((64 * TILE_ROWS, 1))], n_jobs=n_jobs, block_rows=4 * TILE_ROWS)
        copies = Copies()
        rows.map_reduce(lambda tile, first: Large(copies), stage="sums")
        assert copies.most <= most

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_what_a_worker_raises_comes_out(self, arrays, n_jobs):
        def fail(tile, first_row):
            raise ZeroDivisionError(f"tile at {first_row}")

        with pytest.raises(ZeroDivisionError, match="tile at"):
            open_rows(arrays, n_jobs=n_jobs).map_reduce(fail, stage="sums")

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_no_thread_is_left_after_a_failure(self, arrays, n_jobs):
        def fail_late(tile, first_row):
            return 1 / (first_row - 2 * TILE_ROWS)

        before = threading.active_count()
        with pytest.raises(ZeroDivisionError):
            open_rows(arrays, n_jobs=n_jobs).map_reduce(fail_late, stage="sums")
        assert threading.active_count() == before


class TestMapRows:
    @pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
    def test_the_type_and_shape_are_those_of_the_function(self, arrays, dtype):
        result = open_rows(arrays, n_jobs=2).map_rows(
            lambda tile, first: np.arange(first, first + len(tile[0])).astype(dtype), stage="rows"
        )
        assert result.dtype == dtype
        assert np.array_equal(result, np.arange(N_ROWS))

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("wrong", [0, 3])
    def test_what_a_worker_raises_comes_out(self, arrays, n_jobs, wrong):
        def fail(tile, first_row):
            return np.full(len(tile[0]), 1 / (first_row - wrong * TILE_ROWS))

        with pytest.raises(ZeroDivisionError):
            open_rows(arrays, n_jobs=n_jobs).map_rows(fail, stage="rows")


class TestSample:
    def test_all_rows_are_not_copied(self, arrays):
        sample = open_rows(arrays).sample_rows(np.arange(N_ROWS))
        assert sample.arrays[0] is arrays[0]

    def test_derived_rows_are_not_sampled(self, arrays):
        derived = open_rows(arrays).derive(first_columns)
        with pytest.raises(TypeError, match="original rows"):
            derived.sample_rows(np.arange(3))


class TestDerived:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_each_tile_is_computed_once_while_there_is_room(self, arrays, n_jobs):
        calls = Counter()

        def count(tile, first_row):
            calls[first_row] += 1
            return tile[0]

        derived = open_rows(arrays, n_jobs=n_jobs).derive(count)
        for _ in range(3):
            derived.map_reduce(lambda tile, first: tile.sum(axis=0), stage="sums")
        derived.map_rows(lambda tile, first: tile, stage="rows")
        assert calls == {i * TILE_ROWS: 1 for i in range(6)}

    def test_tiles_are_computed_when_needed_not_before(self, arrays):
        calls = []
        open_rows(arrays).derive(lambda tile, first: calls.append(first))
        assert calls == []

    def test_not_everything_is_kept_when_tiles_are_huge(self, arrays):
        class Huge:
            nbytes = 1 << 40

        calls = Counter()

        def make(tile, first_row):
            calls[first_row] += 1
            return Huge()

        derived = open_rows(arrays).derive(make)
        for _ in range(2):
            derived.map_reduce(lambda tile, first: 1, stage="sums")
        assert sum(calls.values()) > 6

    def test_threads_share_a_tile_where_the_other_is_short(self, arrays):
        class Halves:
            """Copies a tile's dense rows in two parts, which wait for each other if it is whole."""

            meeting = threading.Barrier(2, timeout=20)

            def __call__(self, tile, first_row):
                return self.join([part() for part in self.parts(tile, first_row)])

            def parts(self, tile, first_row):
                return [lambda: self.copy(tile[0][:2048]), lambda: self.copy(tile[0][2048:])]

            def copy(self, rows):
                if len(rows) == TILE_ROWS // 2:
                    self.meeting.wait()
                return rows.copy()

            def join(self, parts):
                return np.concatenate(parts)

        few = [arrays[0][: TILE_ROWS + 77]]
        derived = open_rows(few, n_jobs=2).derive(Halves())
        total = derived.map_reduce(lambda tile, first_row: len(tile), stage="x")
        assert total == TILE_ROWS + 77


class TestProgress:
    @pytest.mark.parametrize(("n_jobs", "n_tiles"), [(1, 1), (2, 2), (3, 100)])
    def test_every_tile_is_reported(self, arrays, n_jobs, n_tiles):
        progress = CountingProgress()
        open_rows(arrays, n_jobs, n_tiles * TILE_ROWS, progress).map_reduce(
            column_sums, stage="sums"
        )
        assert progress.stages == [("sums", 6)]
        assert progress.done == 6
        assert progress.finished == 1

    def test_a_stage_ends_after_a_failure_too(self, arrays):
        progress = CountingProgress()
        with pytest.raises(ZeroDivisionError):
            open_rows(arrays, progress=progress).map_reduce(lambda t, f: 1 / 0, stage="sums")
        assert progress.finished == 1


class TestChoice:
    def test_an_engine_is_used_as_it_is(self):
        engine = Memory()
        assert choose_engine(engine, ()) is engine

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(ValueError, match=r"engine must be 'auto', .* got 'spark'"):
            choose_engine("spark", ())


def test_settings_of_an_engine_are_shown_and_survive_copies():
    assert repr(Memory()) == "Memory()"
    assert repr(Memory(track_memory=True)) == "Memory(track_memory=True)"
    copied = pickle.loads(pickle.dumps(Dask(track_memory=True)))
    assert repr(copied) == "Dask(track_memory=True)"


def test_the_class_of_an_engine_is_no_engine():
    with pytest.raises(TypeError, match="or an engine object; got <class"):
        choose_engine(Memory, ())
