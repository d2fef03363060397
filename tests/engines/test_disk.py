"""Rows in files: within a memory limit, results beside, and faults told in one clear error."""

import errno
import gc
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, Views
from manyview.engines import Disk, choose_engine
from manyview.engines.base import TILE_ROWS, Run
from manyview.errors import ReadError, WriteError
from manyview.readers import read_view
from manyview.sources.npy import open_npy

N_TILES = 10
N_ROWS = N_TILES * TILE_ROWS - 99
N_COLUMNS = 4


@pytest.fixture(name="X", scope="module")
def make_rows():
    return np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))


@pytest.fixture
def path(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


def a_run(n_jobs=2):
    return Run(n_jobs)


@pytest.fixture
def large_blocks(monkeypatch):
    """Blocks of eight tiles, where memory allows: as of many more rows than these."""
    monkeypatch.setattr("manyview.engines.memory.n_block_tiles", lambda n_rows: 8)


def open_rows(path, memory_limit="50 MB", run=None, **options):
    return Disk(memory_limit, **options).open([read_view(str(path)).parts[0].rows], run or a_run())


def first_rows(tile, first):
    return tile[0]


class Watched:
    """A source that counts the rows which were read and not yet given back."""

    is_sparse, feature_names, band_rows = False, None, 1

    def __init__(self, X):
        self._X, self.shape, self.dtype = X, X.shape, X.dtype
        self.where, self.row_bytes = "'memory'", X[:1].nbytes
        self.n_alive = self.most = 0
        self._lock = threading.Lock()

    def read(self, start, stop):
        rows = Rows(self._X[start:stop])
        with self._lock:
            self.n_alive += 1
            self.most = max(self.most, self.n_alive)
        rows.on_free = self
        return rows

    def take(self, rows):
        return self._X[rows]

    def fingerprint(self):
        return {}


class Rows(np.ndarray):
    """Rows that tell their source when they are freed; parts of them keep them alive."""

    on_free = None

    def __new__(cls, array):
        return array.copy().view(cls)

    def __del__(self):
        if self.on_free is not None:
            with self.on_free._lock:
                self.on_free.n_alive -= 1


class TestLimit:
    @pytest.mark.parametrize("n_jobs", [1, 2, 3])
    def test_few_blocks_are_there_at_a_time(self, X, n_jobs):
        source = Watched(X)

        def slowly(tile, first):
            time.sleep(0.005)
            return float(tile[0].sum())

        Disk("50 MB").open([source], a_run(n_jobs)).map_reduce(slowly, stage="sums")
        assert 1 < source.most <= n_jobs + 2
        gc.collect()
        assert source.n_alive == 0

    @pytest.mark.usefixtures("large_blocks")
    def test_blocks_are_smaller_where_memory_is_less(self, path):
        sizes = {}
        for limit in ("3 MB", "4 MB", "1 GB"):
            rows = open_rows(path, limit, a_run(1))
            sizes[limit] = rows._block_tiles()
        assert sizes == {"3 MB": 3, "4 MB": 5, "1 GB": 8}

    def test_too_little_names_what_would_do(self, path):
        with pytest.raises(
            ValueError, match=r"memory limit of 1.0 MB is too small .*at least 1.1 MB"
        ):
            open_rows(path, "1 MB")
        open_rows(path, "1.1 MB")

    def test_large_chunks_count(self, tmp_path, X):
        zarr = pytest.importorskip("zarr")
        zarr.create_array(tmp_path / "x.zarr", data=X, chunks=(N_ROWS, N_COLUMNS))
        with pytest.raises(ValueError, match="smaller chunks"):
            open_rows(tmp_path / "x.zarr", "2 MB")

    def test_a_sample_must_fit(self, path):
        rows = open_rows(path, "2 MB")
        with pytest.raises(ValueError, match=r"a sample of 30000 rows takes .* at least 3.9 MB"):
            rows.sample_rows(np.arange(30_000))

    @pytest.mark.usefixtures("large_blocks")
    def test_a_large_result_is_not_refused_after_the_work(self, path, X, caplog):
        run = a_run(2)
        engine = Disk("1.1 MB")
        with run.resources:
            rows = engine.open([open_npy(path)], run)
            wide = rows.map_rows(lambda tile, first: np.tile(tile[0], 8), stage="wide")
            assert isinstance(wide, np.memmap)
            source = Watched(np.asarray(wide))
            opened = engine.open([source], run)
            sums = opened.map_reduce(lambda tile, first: tile[0].sum(axis=0), stage="sums")
            sample = opened.sample_rows(np.arange(0, N_ROWS, 2)).arrays[0]
        assert np.allclose(sums, np.tile(X.sum(axis=0), 8))
        assert np.array_equal(sample, np.tile(X[::2], 8))
        assert source.most <= 2  # one at a time, though the last may not be freed yet
        assert "a sample of 20431 rows takes 5.3 MB" in caplog.text

    @pytest.mark.parametrize("limit", [0, -5, "lots", "12 parsecs", True, float("nan"), "GB", [1]])
    def test_what_is_no_size_is_refused(self, path, limit):
        with pytest.raises(ValueError, match="memory_limit must be a positive number of bytes"):
            open_rows(path, limit)

    @pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
    def test_memory_does_not_grow_with_the_rows(self, tmp_path):
        code = (
            "import sys, resource, numpy as np\n"
            "from manyview.engines import Disk\n"
            "from manyview.engines.base import Run\n"
            "from manyview.sources.npy import open_npy\n"
            "run = Run(2)\n"
            "rows = Disk('20 MB').open([open_npy(__import__('pathlib').Path(sys.argv[1]))], run)\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "rows.map_reduce(lambda tile, first: tile[0].sum(axis=0), stage='sums')\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
        )
        path = tmp_path / "large.npy"
        np.save(path, np.ones((250_000, 64), np.float32))  # 64 MB
        done = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
        )
        assert int(done.stdout) < 30_000  # kB


class TestDerived:
    def test_what_does_not_fit_memory_is_stored_if_it_is_worth_it(self, path):
        calls = Counter()

        def make(tile, first):
            calls[first] += 1
            time.sleep(0.01)
            return tile[0] + 1.0

        run = a_run()
        with run.resources:
            derived = open_rows(path, "2 MB", run).derive(make)
            sums = [derived.map_reduce(lambda t, f: t.sum(), stage="sums") for _ in range(3)]
        assert set(calls.values()) == {1}
        assert len(set(sums)) == 1

    @pytest.mark.usefixtures("large_blocks")
    def test_stored_tiles_that_are_read_count(self, path):
        run = a_run(1)
        with run.resources:
            derived = open_rows(path, "4 MB", run).derive(
                lambda tile, first: (time.sleep(0.01), np.tile(tile[0], 2))[1]
            )
            before = derived._block_tiles()
            sums = [derived.map_reduce(lambda t, f: t.sum(), stage="sums") for _ in range(2)]
            assert (before, derived._block_tiles()) == (5, 2)  # twice as large
        assert sums[0] == sums[1]

    def test_what_is_made_faster_than_stored_is_made_again(self, path):
        calls = Counter()

        class Slow(np.ndarray):
            def reshape(self, *shape):  # called when it is written
                time.sleep(0.02)
                return super().reshape(*shape)

        def make(tile, first):
            calls[first] += 1
            return tile[0].view(Slow)

        run = a_run()
        with run.resources:
            derived = open_rows(path, "2 MB", run).derive(make)
            for _ in range(2):
                derived.map_reduce(lambda t, f: float(t.sum()), stage="sums")
        assert sum(calls.values()) > N_TILES

    def test_what_cannot_be_stored_is_made_again(self, path, caplog):
        class Foreign:
            nbytes = 1 << 30

        calls = Counter()

        def make(tile, first):
            calls[first] += 1
            time.sleep(0.001)
            return Foreign()

        derived = open_rows(path).derive(make)
        for _ in range(2):
            assert derived.map_reduce(lambda t, f: 1, stage="count") == N_TILES
        assert sum(calls.values()) >= 2 * N_TILES - 1
        assert caplog.text.count("computed again when needed") == 1

    def test_it_is_said_once_however_many_threads_find_out(self, path, caplog, monkeypatch):
        class Foreign:
            nbytes = 1 << 30

        both = threading.Barrier(2)

        def refuse(file, number, tile):
            with suppress(threading.BrokenBarrierError):
                both.wait(0.2)
            raise TypeError("no such thing")

        monkeypatch.setattr("manyview.engines.files.TileFile.write", refuse)
        # Saying it takes long enough for the other thread to ask whether it was said.
        with caplog.filtering(lambda record: time.sleep(0.05) or True):
            derived = open_rows(path).derive(lambda tile, first: Foreign())
            derived.map_reduce(lambda t, f: 1, stage="count")
        assert caplog.text.count("computed again when needed") == 1

    def test_nothing_is_left_of_it(self, path, tmp_path):
        run, folder = a_run(), tmp_path / "results"
        folder.mkdir()
        with run.resources:
            derived = open_rows(path, "2 MB", run, folder=folder).derive(
                lambda tile, first: (time.sleep(0.01), tile[0])[1]
            )
            derived.map_reduce(lambda t, f: t.sum(), stage="sums")
            assert len(list(folder.iterdir())) == 1
        assert list(folder.iterdir()) == []


class TestResults:
    def test_small_ones_stay_in_memory(self, path):
        result = open_rows(path).map_rows(first_rows, stage="rows")
        assert type(result) is np.ndarray

    def test_large_ones_are_files_that_go_with_the_array(self, path, X):
        result = open_rows(path, "3 MB").map_rows(first_rows, stage="rows")
        assert isinstance(result, np.memmap)
        file = Path(result.filename)
        assert file.name == "rows.npy"
        part = result[5:]
        del result
        gc.collect()
        assert file.exists()  # a part is still there
        assert np.array_equal(part, X[5:])
        del part
        gc.collect()
        assert not file.parent.exists()

    def test_a_folder_keeps_them_and_writes_over_nothing(self, path, X, tmp_path):
        folder = tmp_path / "results"
        folder.mkdir()
        rows = open_rows(path, "3 MB", folder=folder)
        results = [rows.map_rows(first_rows, stage="rows") for _ in range(2)]
        del results
        gc.collect()
        assert sorted(file.name for file in folder.iterdir()) == ["rows-2.npy", "rows.npy"]
        assert np.array_equal(np.load(folder / "rows.npy"), X)

    def test_a_folder_does_not_keep_what_is_no_result(self, path, X, tmp_path):
        folder = tmp_path / "results"
        folder.mkdir()
        corrected = open_rows(path, "3 MB", folder=folder).map_rows(first_rows, stage="groups")
        assert np.array_equal(corrected, X) and len(list(folder.iterdir())) == 1
        del corrected
        gc.collect()
        assert list(folder.iterdir()) == []

    def test_fits_at_the_same_time_do_not_share_a_file(self, path, X, tmp_path):
        folder = tmp_path / "results"
        folder.mkdir()
        sessions = [open_rows(path, "3 MB", folder=folder)._session for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            outputs = list(pool.map(lambda s: s.new_output(N_ROWS, X[:1], "rows"), sessions))
        names = {output.path.name for output in outputs}
        for output in outputs:
            output.abandon()
        assert names == {"rows.npy", *(f"rows-{number}.npy" for number in range(2, 9))}
        assert list(folder.iterdir()) == []

    def test_a_folder_must_exist(self, path, tmp_path):
        with pytest.raises(ValueError, match="no such folder"):
            open_rows(path, folder=tmp_path / "nowhere")

    def test_a_failure_leaves_nothing_behind(self, path, tmp_path):
        folder = tmp_path / "results"
        folder.mkdir()

        def fail(tile, first):
            return 1 / (first - 5 * TILE_ROWS) * tile[0]

        with pytest.raises(ZeroDivisionError):
            open_rows(path, "3 MB", folder=folder).map_rows(fail, stage="rows")
        assert list(folder.iterdir()) == []


class TestFaults:
    def test_a_file_cut_short_during_the_work_is_named_with_rows(self, path):
        def cut(tile, first):
            if first == 2 * TILE_ROWS:
                os.truncate(path, path.stat().st_size - 8)
            return 1

        rows = open_rows(path, run=a_run(1))
        with pytest.raises(ReadError, match=rf"rows \d+ to \d+ of '{path}': the file was changed"):
            rows.map_reduce(cut, stage="sums")

    def test_a_file_that_is_too_short_is_refused_before_anything_is_read(self, path):
        os.truncate(path, path.stat().st_size - 8)
        with pytest.raises(ReadError, match=r"x.npy' is cut short: 40861 rows of 4 columns need"):
            open_npy(path)

    def test_a_full_disk_is_told_and_nothing_looks_whole(self, path, tmp_path, small_files):
        folder = tmp_path / "results"
        folder.mkdir()
        rows = open_rows(path, "3 MB", folder=folder)
        message = r"Could not write 40861 rows.*are free there.*Disk\(folder=...\)"
        with small_files(1_000_000), pytest.raises(WriteError, match=message):
            rows.map_rows(first_rows, stage="rows")
        assert list(folder.iterdir()) == []

    def test_rows_that_find_no_room_are_made_again(self, path, tmp_path, small_files):
        folder, run = tmp_path / "results", a_run()
        folder.mkdir()
        with small_files(1_000_000), run.resources:
            derived = open_rows(path, "1.2 MB", run, folder=folder).derive(
                lambda tile, first: (time.sleep(0.01), tile[0])[1]
            )
            sums = [derived.map_reduce(lambda t, f: t.sum(), stage="sums") for _ in range(2)]
        assert sums[0] == sums[1]
        assert list(folder.iterdir()) == []

    def test_more_than_is_free_is_told_before_the_work(self, path, monkeypatch):
        usage = type("Usage", (), {"free": 1000})
        monkeypatch.setattr("shutil.disk_usage", lambda folder: usage)
        seen = []

        def count(tile, first):
            seen.append(first)
            return tile[0]

        with pytest.raises(WriteError, match=r"1.4 MB are needed.*1.0 kB are free there"):
            open_rows(path, "3 MB").map_rows(count, stage="rows")
        assert seen == [0]

    @pytest.mark.parametrize("in_folder", [True, False])
    def test_a_first_write_that_fails_leaves_nothing_behind(
        self, path, tmp_path, monkeypatch, in_folder
    ):
        folder = tmp_path / "results"
        folder.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        # Others may fill the disk between the look at what is free and the first write.
        monkeypatch.setattr("manyview.engines.files._write_all", _find_no_room)
        rows = open_rows(path, "3 MB", folder=folder if in_folder else None)
        with pytest.raises(WriteError, match="No space left"):
            rows.map_rows(first_rows, stage="rows")
        assert list(folder.iterdir()) == []


def _find_no_room(file, content):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class TestEstimator:
    def test_files_choose_it(self, path, X):
        assert isinstance(choose_engine("auto", Views(path).arrays), Disk)
        assert not isinstance(choose_engine("auto", Views(X).arrays), Disk)

    def test_repr_says_what_was_set(self):
        assert repr(Disk()) == "Disk()"
        assert repr(Disk("1 GB", folder="here")) == "Disk(memory_limit='1 GB', folder='here')"

    def test_views_of_all_kinds_give_the_labels_of_memory(self, tmp_path):
        h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
        rng = np.random.default_rng(1)
        n = TILE_ROWS + 905
        groups = rng.integers(0, 3, n)
        dense = [(rng.normal(size=(3, 5))[groups] * 2 + rng.normal(size=(n, 5))) for _ in "abc"]
        words = sparse.csr_array(rng.poisson(rng.gamma(0.2, size=(3, 40))[groups]))
        mapped = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", np.float64, dense[0].shape)
        mapped[:] = dense[0]
        sparse.save_npz(tmp_path / "words.npz", words)
        with h5py.File(tmp_path / "b.h5", "w") as file:
            views = {
                "a": mapped,
                "b": file.create_dataset("b", data=dense[1], chunks=(1000, 5)),
                "c": zarr.create_array(tmp_path / "c.zarr", data=dense[2], chunks=(777, 2)),
                "words": str(tmp_path / "words.npz"),
                "again": dense[0],
            }
            lazy = LMVSC(3, n_anchors=12, n_repeats=1, random_state=0).fit(views)
            assert np.array_equal(lazy.predict(views), lazy.labels_)
        arrays = dict(zip(views, [*dense, words, dense[0]], strict=True))
        memory = LMVSC(3, n_anchors=12, n_repeats=1, random_state=0).fit(arrays)
        assert np.array_equal(lazy.labels_, memory.labels_)
        assert np.array_equal(memory.predict(arrays), lazy.labels_)
        assert lazy.view_names_ == ["a", "b", "c", "words", "again"]

    @pytest.mark.parametrize(
        "params",
        [
            {"anchor_method": "kmeans-all", "scaling": None, "alpha": 1.0, "max_iter": 20},
            {"anchor_method": "random", "n_repeats": 2, "view_weights": "agreement"},
            {"scaling": "normal-scores", "fusion": "early", "n_anchors": [8, 12]},
        ],
        ids=lambda params: next(iter(params.values())),
    )
    def test_every_setting_gives_the_labels_of_memory(self, tmp_path, X, params):
        some = X[: TILE_ROWS + 905]
        views = [some, sparse.csr_array(np.where(some > 0.5, some, 0.0))]
        np.save(tmp_path / "dense.npy", views[0])
        sparse.save_npz(tmp_path / "sparse.npz", views[1])
        paths = [tmp_path / "dense.npy", tmp_path / "sparse.npz"]
        model = LMVSC(3, **{"n_anchors": 12, "random_state": 0, "n_repeats": 1, **params})
        expected = model.set_params(engine="memory").fit(views).labels_
        assert np.array_equal(model.set_params(engine=Disk("8 MB")).fit(paths).labels_, expected)

    def test_a_small_limit_does_not_end_a_fit_at_its_labels(self, path, X):
        model = LMVSC(20, n_anchors=40, n_repeats=1, scaling="energy", random_state=0, max_iter=5)
        expected = model.set_params(engine="memory").fit(X).labels_
        assert np.array_equal(model.set_params(engine=Disk("4 MB")).fit(path).labels_, expected)

    def test_a_fitted_model_can_be_saved(self, path, tmp_path, X):
        model = LMVSC(3, n_anchors=12, n_repeats=1, random_state=0, engine=Disk("4 MB")).fit(path)
        assert isinstance(model.embedding_, np.memmap)
        model.save(tmp_path / "m.mv")
        from manyview import load

        assert np.array_equal(load(tmp_path / "m.mv").predict(X), model.labels_)

    def test_wrong_views_are_refused_by_name(self, tmp_path, path, X):
        np.save(tmp_path / "line.npy", X[:, 0])
        np.save(tmp_path / "text.npy", np.array([["a", "b"]]))
        np.save(tmp_path / "short.npy", X[:10])
        (tmp_path / "x.csv").touch()
        for wrong, message in {
            "line.npy": "has shape 40861; a view has two dimensions",
            "text.npy": "does not hold numbers",
            "short.npy": "has 10 rows but",
            "x.csv": "is empty",
            "none.npy": "There is no file",
        }.items():
            with pytest.raises((ValueError, ReadError), match=message):
                LMVSC(3).fit({"good": path, "wrong": tmp_path / wrong})
