"""Results of an earlier run: replaced whole by those of the next, or left as they are."""

import os

import numpy as np
import pytest

from manyview.cli import staging
from manyview.cli.fit import FILES
from manyview.cli.inputs import Inputs
from manyview.machine import Lock

from .conftest import FIT, VIEWS


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def fail_to_write(monkeypatch, name):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(name, full)


class TestFailedRuns:
    @pytest.mark.parametrize(
        "writer",
        ["manyview.cli.results.write_label_lines", "numpy.save", "manyview.LMVSC.save",
         "os.replace"],
    )  # fmt: skip
    def test_leave_the_old_results_and_name_the_file(self, fitted, run, monkeypatch, writer):
        before = contents(fitted)
        with monkeypatch.context() as patch:
            fail_to_write(patch, writer)
            result = run(*FIT, "-o", "out", "--force", "--seed", 1, code=1)
        assert "out" in result.stderr and "No space left on device" in result.stderr
        assert "as it was" in result.stderr
        assert contents(fitted) == before


class TestKilledRuns:
    def test_after_the_end_of_writing_the_next_command_moves_the_rest(self, fitted, run):
        """As of a run that was killed between the renaming of the folder and the last move."""
        new = fitted / ".finished"
        new.mkdir()
        os.rename(fitted / "model.mv", new / "model.mv")
        (new / "files.json").write_text(
            '{"written": ["model.mv", "summary.json"], "replaced": ["model.mv", "labels.csv"]}'
        )
        run("predict", "out", *VIEWS, "--id-column", "id")
        assert (fitted / "model.mv").exists() and not (fitted / "labels.csv").exists()
        assert not new.exists()

    def test_before_it_nothing_has_changed(self, fitted, run):
        (fitted / ".unfinished").mkdir()
        (fitted / ".unfinished" / "model.mv").write_bytes(b"half")
        run(*FIT, "-o", "out", "--force", "--no-report", "-q")
        assert not (fitted / ".unfinished").exists()

    def test_names_outside_the_folder_are_not_followed(self, tmp_path):
        folder = tmp_path / "out"
        (folder / ".finished").mkdir(parents=True)
        (tmp_path / "mine.txt").write_text("mine")
        (folder / ".finished" / "files.json").write_text(
            '{"written": [], "replaced": ["../mine.txt"]}'
        )
        staging.settle(folder)
        assert (tmp_path / "mine.txt").read_text() == "mine"


class TestLocks:
    def test_another_run_is_refused_with_who_and_since_when(self, files, run):
        (files / "out").mkdir()
        lock = Lock(files / "out" / ".lock")
        result = run(*FIT, "-o", "out", "--no-report", code=1)
        assert f"(process {os.getpid()}, for " in result.stderr
        lock.close()
        assert not list((files / "out").iterdir())

    def test_what_a_killed_run_left_keeps_nobody_out(self, files, run):
        (files / "out").mkdir()
        (files / "out" / ".lock").write_text("1 1.0")
        run(*FIT, "-o", "out", "--no-report")
        assert {file.name for file in (files / "out").iterdir()} == {*FILES} - {"report.html"}

    @pytest.mark.parametrize("content", ["mine", "1 2 3", "12"])
    def test_a_file_of_the_user_in_its_place_stays(self, files, run, content):
        (files / "out").mkdir()
        (files / "out" / ".lock").write_text(content)
        result = run(*FIT, "-o", "out", "--no-report", code=2)
        assert "did not write" in result.stderr
        assert (files / "out" / ".lock").read_text() == content


class TestInputs:
    @pytest.mark.parametrize(
        ("kept", "read"), [(None, ()), ("pid", ("pid",)), (["a", "b"], ("a", "b"))]
    )
    def test_ids_are_read_from_records_of_earlier_versions(self, files, kept, read):
        record = Inputs(texts=(str(files / VIEWS[0]),)).record({}) | {"id_column": kept}
        assert Inputs.from_record(record).id_column == read

    @pytest.mark.parametrize("output", ["colour.csv", "./colour.csv", "plain.npy"])
    def test_are_never_written_over(self, fitted, run, output):
        before = (fitted.parent / output).read_bytes()
        views = ("plain.npy",) if output == "plain.npy" else VIEWS
        result = run("predict", "out", *views, "-o", output, "--force", code=2)
        assert "is read by this command" in result.stderr
        assert (fitted.parent / output).read_bytes() == before

    def test_a_model_is_not_written_over_by_its_report(self, fitted, run):
        result = run("report", "out", "-o", "out/model.mv", "--force", code=2)
        assert "is read by this command" in result.stderr

    def test_results_that_are_read_are_not_replaced(self, fitted, run):
        before = np.load(fitted / "embedding.npy")
        result = run("fit", "out/embedding.npy", "-k", 2, "-o", "out", "--force", code=2)
        assert "is read by this command" in result.stderr
        assert np.array_equal(np.load(fitted / "embedding.npy"), before)


class TestCheckpoints:
    LIMITS = ("--engine", "disk", "--no-report", "-q")

    def test_one_of_another_fit_is_replaced_by_force_only(self, files, run, monkeypatch):
        with monkeypatch.context() as patch:
            fail_to_write(patch, "manyview.cli.results.write_label_lines")
            run("fit", "plain.npy", "-k", 3, "-o", "out", *self.LIMITS, code=1)
        other = ("fit", "plain.npy", "-k", 2, "-o", "out", *self.LIMITS)
        run(*other, code=2)
        run(*other, "--force")
        assert np.load(files / "out" / "labels.npy").max() == 1
        assert not (files / "out" / "checkpoint").exists()
