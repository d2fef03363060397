"""A fit that was interrupted goes on from where it was, and only that fit does."""

import os
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from manyview import LMVSC
from manyview.engines import Disk, checkpoint
from manyview.engines.base import TILE_ROWS, Run
from manyview.engines.checkpoint import remove_checkpoint
from manyview.errors import CheckpointError, MemoryLimitError, WriteError
from manyview.sources.npy import open_npy

N_TILES = 12
N_ROWS = N_TILES * TILE_ROWS - 5


class StoppedError(Exception):
    """What ends a call before its time."""


@pytest.fixture
def save_always(monkeypatch):
    monkeypatch.setattr(checkpoint, "_SAVE_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint, "_SAVE_SHARE", 1e9)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(N_ROWS, 3)))
    return tmp_path / "x.npy"


class Session:
    """Calls on rows with a checkpoint, as one fit makes them; counts the tiles worked on."""

    def __init__(self, path, n_jobs=1, **options):
        self.run = Run(n_jobs, identity={"random_state": "0"})
        folder = path.parent / "checkpoint"
        self.rows = Disk("100 MB", checkpoint=folder, **options).open([open_npy(path)], self.run)
        self.tiles = []

    def counting(self, function, *, stop_at=None):
        def count(tile, first):
            if stop_at is not None and first >= stop_at * TILE_ROWS:
                raise StoppedError
            self.tiles.append(first // TILE_ROWS)
            return function(tile, first)

        return count

    def __enter__(self):
        self.run.resources.__enter__()
        return self

    def __exit__(self, *error):
        return self.run.resources.__exit__(*error)


def sums(tile, first):
    return tile[0].sum(axis=0)


def doubled(tile, first):
    return 2.0 * tile[0]


@pytest.mark.usefixtures("save_always")
@pytest.mark.parametrize("n_jobs", [1, 2])
class TestCalls:
    def test_a_sum_goes_on_where_it_stopped(self, path, n_jobs):
        with pytest.raises(StoppedError), Session(path, n_jobs) as first:
            first.rows.map_reduce(first.counting(sums, stop_at=7), stage="sums")
        with Session(path, n_jobs) as second:
            result = second.rows.map_reduce(second.counting(sums), stage="sums")
        with Session(path.with_name("x.npy"), n_jobs) as third:
            again = third.rows.map_reduce(third.counting(sums), stage="sums")
        expected = Disk().open([open_npy(path)], Run(1))
        assert np.array_equal(result, expected.map_reduce(sums, stage="sums"))
        assert np.array_equal(result, again)
        assert sorted(second.tiles) == list(range(7, N_TILES))
        assert third.tiles == []

    def test_mapped_rows_go_on_where_they_stopped(self, path, n_jobs):
        with pytest.raises(StoppedError), Session(path, n_jobs) as first:
            first.rows.map_rows(first.counting(doubled, stop_at=7), stage="rows")
        assert not list(path.parent.rglob("*rows.npy"))
        with Session(path, n_jobs) as second:
            result = second.rows.map_rows(second.counting(doubled), stage="rows")
        assert np.array_equal(result, 2.0 * np.load(path))
        assert sorted(second.tiles) == list(range(7, N_TILES))

    def test_derived_rows_are_not_made_again(self, path, n_jobs):
        made = []

        def slowly_doubled(tile, start):  # rows that are cheap to make are not worth storing
            time.sleep(0.02)
            return 2.0 * tile[0]

        def stop(session):
            derived = session.rows.derive(slowly_doubled)
            derived.map_reduce(lambda tile, start: tile.sum(axis=0), stage="sums")
            derived.map_rows(session.counting(lambda tile, start: tile, stop_at=5), stage="rows")

        with pytest.raises(StoppedError), Session(path, n_jobs) as first:
            stop(first)
        with Session(path, n_jobs) as second:
            derived = second.rows.derive(lambda tile, start: made.append(start))
            derived.map_reduce(lambda tile, start: tile.sum(axis=0), stage="sums")
            result = derived.map_rows(lambda tile, start: tile, stage="rows")
        assert np.array_equal(result, 2.0 * np.load(path))
        assert made == []

    def test_a_sample_is_taken_once(self, path, n_jobs):
        with Session(path, n_jobs) as first:
            expected = first.rows.sample_rows(np.arange(0, N_ROWS, 100)).arrays[0]
        with Session(path, n_jobs) as second:
            second.rows._columns = None  # nothing to read from
            again = second.rows.sample_rows(np.arange(0, N_ROWS, 100)).arrays[0]
        assert np.array_equal(expected, again)


def _stopping(session):
    return session.counting(doubled, stop_at=7)


class TestFolder:
    def test_nothing_large_is_left_but_results(self, path):
        with Session(path) as session:
            derived = session.rows.derive(doubled)
            derived.map_rows(lambda tile, start: tile, stage="rows")
        left = {file.name for file in (path.parent / "checkpoint").iterdir()}
        assert left == {"fit.json", "0000.done", "0000-rows.npy"}

    def test_another_process_is_kept_out(self, path):
        with Session(path), pytest.raises(CheckpointError, match="Another fit is using"):
            Session(path)

    @pytest.mark.parametrize("name", ["0000.done", "fit.json"])
    def test_damage_is_named(self, path, name):
        with Session(path) as session:
            session.rows.map_reduce(sums, stage="sums")
        damaged = path.parent / "checkpoint" / name
        damaged.write_bytes(damaged.read_bytes()[:20])
        with pytest.raises(CheckpointError, match=f"{name}' is damaged"), Session(path) as session:
            session.rows.map_reduce(sums, stage="sums")

    @pytest.mark.usefixtures("save_always")
    @pytest.mark.parametrize(
        ("harm", "is_whole"),
        [
            *product(["cut", "empty"], [True, False]),
            *product(["gone", "other shape", "other type"], [False]),
        ],
    )
    def test_damaged_rows_are_named(self, path, harm, is_whole):
        function = (lambda session: doubled) if is_whole else _stopping
        with suppress(StoppedError), Session(path) as session:
            session.rows.map_rows(function(session), stage="rows")
        (rows,) = (path.parent / "checkpoint").glob("*rows.npy*")
        if harm == "gone":
            rows.unlink()
        elif harm in ("cut", "empty"):
            os.truncate(rows, rows.stat().st_size // 2 if harm == "cut" else 0)
        else:
            other = np.zeros((N_ROWS, 3), "f4") if harm == "other type" else np.zeros((N_ROWS, 4))
            with rows.open("wb") as file:
                np.save(file, other)
        message = rf"{rows.name}' is damaged \(.*Remove the folder to start again"
        with pytest.raises(CheckpointError, match=message), Session(path) as session:
            session.rows.map_rows(doubled, stage="rows")

    def test_a_start_that_was_cut_short_is_made_again(self, path):
        (path.parent / "checkpoint").mkdir()
        (path.parent / "checkpoint" / ".fit.json.123.part").write_text('{"format')
        with Session(path) as session:
            session.rows.map_reduce(sums, stage="sums")
        left = {file.name for file in (path.parent / "checkpoint").iterdir()}
        assert left == {"fit.json", "0000.done"}

    def test_what_a_killed_process_was_writing_is_removed(self, path):
        with Session(path) as session:
            session.rows.map_reduce(sums, stage="sums")
        half = path.parent / "checkpoint" / ".0001.part.123.part"
        half.write_bytes(b"half")
        Session(path)
        assert not half.exists()

    def test_a_folder_of_another_format_is_refused(self, path):
        with Session(path) as session:
            session.rows.map_reduce(sums, stage="sums")
        description = path.parent / "checkpoint" / "fit.json"
        description.write_text(description.read_text().replace('"format": 3', '"format": 1'))
        with pytest.raises(CheckpointError, match="other version of the checkpoint's format"):
            Session(path)

    def test_calls_in_another_order_are_refused(self, path):
        with Session(path) as session:
            session.rows.map_reduce(sums, stage="sums")
        message = "stage 'sums', not 'others'"
        with pytest.raises(CheckpointError, match=message), Session(path) as session:
            session.rows.map_reduce(sums, stage="others")

    def test_a_folder_with_something_else_is_refused(self, path):
        (path.parent / "checkpoint").mkdir()
        (path.parent / "checkpoint" / "thesis.txt").touch()
        with pytest.raises(CheckpointError, match=r"not a checkpoint, but holds 'thesis.txt'"):
            Session(path)

    def test_the_lock_of_a_bare_folder_goes_last(self, path, monkeypatch):
        removed, unlink = [], Path.unlink

        def noting(file, **options):
            removed.append(file.name)
            unlink(file, **options)

        monkeypatch.setattr(Path, "unlink", noting)
        with Session(path):
            pass
        assert removed[-2:] == ["fit.json", "lock"]

    def test_a_lock_of_the_user_stays(self, path):
        (path.parent / "checkpoint").mkdir()
        (path.parent / "checkpoint" / "lock").write_text("mine")
        with pytest.raises(CheckpointError, match="has a file 'lock' that manyview did not write"):
            Session(path)
        assert (path.parent / "checkpoint" / "lock").read_text() == "mine"

    def test_a_file_in_its_place_is_refused(self, path):
        (path.parent / "checkpoint").touch()
        with pytest.raises(WriteError, match=r"Could not write a checkpoint.*Disk\(checkpoint="):
            Session(path)

    def test_not_with_a_folder_for_results(self, path, tmp_path):
        with pytest.raises(ValueError, match="a checkpoint or a folder, not both"):
            Session(path, folder=tmp_path)


def make_model(**changes):
    cheap = {"n_anchors": 8, "n_repeats": 1, "scaling": "standard"}
    return LMVSC(**{"n_clusters": 3, "random_state": 0, **cheap, **changes})


class TestFit:
    @pytest.fixture
    def path(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(TILE_ROWS + 99, 3))
        np.save(tmp_path / "x.npy", X)
        return tmp_path / "x.npy"

    @pytest.fixture
    def fit(self, path):
        def fit(**changes):
            engine = Disk("50 MB", checkpoint=path.parent / "checkpoint")
            return make_model(**changes, engine=engine).fit(path)

        return fit

    def test_again_gives_the_same_at_once(self, fit, path):
        first = fit()
        again = fit(n_jobs=1)  # which changes no result
        memory = make_model(engine="memory").fit(path)
        assert np.array_equal(first.labels_, memory.labels_)
        assert np.array_equal(again.labels_, memory.labels_)
        assert np.array_equal(again.embedding_, memory.embedding_)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_clusters": 4}, r"settings \(n_clusters"),
            ({"alpha": 0.5}, r"settings \(alpha\)"),
            ({"random_state": 1}, r"settings \(random_state\)"),
        ],
    )
    def test_other_settings_are_refused_by_name(self, fit, change, message):
        fit()
        with pytest.raises(CheckpointError, match=message):
            fit(**change)

    def test_other_names_of_views_are_refused(self, path):
        engine = Disk("50 MB", checkpoint=path.parent / "checkpoint")
        model = make_model(engine=engine).fit({"a": path})
        with pytest.raises(CheckpointError, match=r"settings \(view_names\)"):
            model.fit({"b": path})

    def test_other_data_are_refused(self, fit, path):
        fit()
        X = np.load(path)
        X[len(X) // 2] += 1
        np.save(path, X)
        with pytest.raises(CheckpointError, match=r"data \(view 0\)"):
            fit()

    def test_the_same_data_written_again_go_on(self, fit, path):
        first = fit()
        np.save(path, np.load(path))
        os.utime(path, (1, 1))
        assert np.array_equal(fit().labels_, first.labels_)

    def test_a_refused_fit_leaves_nothing(self, path):
        engine = Disk("300 kB", checkpoint=path.parent / "checkpoint")
        with pytest.raises(MemoryLimitError):
            make_model(engine=engine, n_jobs=1).fit(path)
        assert [file.name for file in path.parent.iterdir()] == [path.name]

    def test_a_checkpoint_without_progress_is_no_obstacle(self, fit, path):
        fit()
        for file in (path.parent / "checkpoint").iterdir():
            if file.name != "fit.json":
                file.unlink()
        assert len(fit(n_clusters=4).cluster_centers_) == 4

    def test_only_what_a_fit_wrote_is_removed_with_it(self, fit, path):
        fit()
        (path.parent / "checkpoint" / "thesis.txt").write_text("mine")
        remove_checkpoint(path.parent / "checkpoint")
        assert [f.name for f in (path.parent / "checkpoint").iterdir()] == ["thesis.txt"]

    def test_any_other_byte_is_found_or_harmless(self, fit, path):
        """Every part has a checksum: a fit goes on with the same labels, or says what is damaged."""
        np.save(path, np.load(path)[:200])
        expected, rng = fit().labels_.copy(), np.random.default_rng(0)
        folder, refused = path.parent / "checkpoint", 0
        kept = {file: file.read_bytes() for file in folder.iterdir()}
        for file, content in kept.items():
            for place in rng.integers(0, len(content), 3):
                for other, whole in kept.items():
                    other.write_bytes(whole)
                damaged = bytearray(content)
                damaged[place] ^= 1 << int(rng.integers(8))
                file.write_bytes(bytes(damaged))
                try:
                    assert np.array_equal(fit().labels_, expected)
                except CheckpointError:
                    refused += 1
        assert refused >= 2 * len(kept)

    def test_other_arrays_in_memory_are_refused(self, path):
        X = np.load(path)
        model = make_model(n_jobs=1)
        model.set_params(engine=Disk(checkpoint=path.parent / "checkpoint"))
        model.fit(X)
        X[77, 1] += 1e-9
        with pytest.raises(CheckpointError, match=r"data \(view 0\)"):
            model.fit(X)

    def test_another_version_is_refused(self, fit, monkeypatch):
        fit()
        monkeypatch.setattr("manyview.__version__", "99.0")
        with pytest.raises(CheckpointError, match=r"versions \(manyview\)"):
            fit()

    def test_a_seed_is_needed(self, fit):
        with pytest.raises(ValueError, match="A checkpoint needs a random_state"):
            fit(random_state=None)

    def test_predicting_leaves_it_alone(self, fit, path):
        model = fit()
        before = sorted(file.name for file in (path.parent / "checkpoint").iterdir())
        assert np.array_equal(model.predict(path), model.labels_)
        assert sorted(file.name for file in (path.parent / "checkpoint").iterdir()) == before


def test_a_fit_that_filled_the_disk_goes_on_when_there_is_room(path, tmp_path, small_files):
    model = make_model(engine=Disk("50 MB", checkpoint=tmp_path / "fit"))
    with small_files(500_000), pytest.raises(WriteError, match=r"Could not write .*fit"):
        model.fit(path)
    assert list((tmp_path / "fit").glob("*.done"))
    assert not list((tmp_path / "fit").rglob("*.npy"))
    model.fit(path)
    memory = make_model(engine="memory").fit(path)
    assert np.array_equal(model.labels_, memory.labels_)
