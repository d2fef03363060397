"""``manyview fit``: what it reads, writes and says, and what it refuses."""

import csv
import importlib
import json
import shutil
import signal

import numpy as np
import pytest

from manyview import LMVSC, load
from manyview.cli.display import StageLine
from manyview.cli.inputs import memory_for_views
from manyview.machine import Lock
from manyview.views.files import read_views

from .conftest import FIT, K, N, is_one_line


def read_labels(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file))


def test_three_formats_in_different_order_give_the_groups(fitted):
    header, *rows = read_labels(fitted / "labels.csv")
    assert header == ["id", "cluster", "confidence"]
    assert [row[0] for row in rows] == [f"s{i:02d}" for i in range(N)]
    assert len({(i % K, row[1]) for i, row in enumerate(rows)}) == K
    summary = json.loads((fitted / "summary.json").read_text())["fit"]
    assert summary["scores"]["accuracy"] == 1.0
    assert summary["cluster_sizes"] == [30, 30, 30]


def test_the_files_hold_what_the_library_gives(fitted, files):
    views = read_views(["colour.csv", "shape.parquet", "words.npz"], id_column="id").views[:]
    model = LMVSC(K, random_state=0).fit(views)
    assert np.array_equal(np.load(fitted / "labels.npy"), model.labels_)
    assert np.allclose(np.load(fitted / "embedding.npy"), model.embedding_)
    assert np.array_equal(load(fitted / "model.mv").predict(views), model.labels_)
    names = {path.name for path in fitted.iterdir()}
    assert names == {"labels.csv", "labels.npy", "embedding.npy", "model.mv", "summary.json"}


def test_ids_reach_the_model(fitted):
    series = load(fitted / "model.mv").labels_series()
    assert series.index.tolist() == [f"s{i:02d}" for i in range(N)]


def test_results_go_to_stdout_and_remarks_to_stderr(files, run):
    result = run(*FIT, "--labels", "labels.csv", "-o", "out", "--no-report")
    assert result.stdout.startswith("90 rows in 3 view(s) (colour 3, shape 5, words 4): 3 clusters")
    assert "accuracy 1.000" in result.stdout
    assert "out/model.mv" in result.stdout
    for remark in ("colour.csv: CSV, 90 rows", "in the order of the first file", "ids from 'id'"):
        assert remark in result.stderr
        assert remark not in result.stdout
    quiet = run(*FIT, "-o", "quiet", "--no-report", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout.count("\n") == 2


def test_rows_that_some_files_lack_are_kept_on_request(files, run):
    names = [f"s{i:02d}" for i in range(N)]
    lines = (files / "colour.csv").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("s01", "s07"))]
    (files / "colour.csv").write_text("\n".join(kept) + "\n")
    assert "--join outer" in run(*FIT, "-o", "out", "--no-report", code=2).stderr
    result = run(*FIT, "--join", "outer", "-o", "out", "--no-report")
    assert "2 rows without colour.csv" in result.stderr
    _, *rows = read_labels(files / "out" / "labels.csv")
    assert sorted(row[0] for row in rows) == names
    predicted = run("predict", "out/model.mv", "shape.parquet", "--id-column", "id")
    assert len(predicted.stdout.splitlines()) == N + 1


@pytest.mark.parametrize("place", ["before", "after"])
def test_shared_options_stand_before_or_after_the_command(files, run, place):
    shared = ("--json", "--quiet", "--seed", "7")
    tail = (*FIT[1:], "-o", "out", "--no-report", "--scaling", "log")
    result = run(*shared, "fit", *tail) if place == "before" else run("fit", *tail, *shared)
    facts = json.loads(result.stdout)
    assert facts["seed"] == facts["parameters"]["random_state"] == 7
    assert facts["views"][1] == {
        "name": "shape", "file": "shape.parquet", "n_features": 5, "scaling": "log",
        "weight": pytest.approx(1 / 3),
    }  # fmt: skip
    assert facts["columns"] == {
        "colour": ["red", "green", "blue"], "shape": [f"w{j}" for j in range(5)],
    }  # fmt: skip


def test_nothing_is_replaced_without_force(fitted, run):
    before = (fitted / "labels.csv").read_bytes()
    result = run(*FIT, "-o", "out", "--seed", "5", code=2)
    assert is_one_line(result.stderr) and "--force" in result.stderr
    assert (fitted / "labels.csv").read_bytes() == before
    run(*FIT, "-o", "out", "--force", "--no-report")


def test_parameters_reach_the_model(files, run):
    result = run(
        *FIT, "-o", "out", "--no-report", "--json", "-q",
        "--n-anchors", "10,20", "--alpha", "0.1", "--scaling", "standard,unit,none",
        "--fusion", "late", "--view-weights", "1,2,1", "--n-repeats", "1", "--n-neighbors", "3",
        "--n-axes", "none", "--tol", "1e-3", "--anchor-method", "random", "--n-jobs", "1",
    )  # fmt: skip
    parameters = json.loads(result.stdout)["parameters"]
    assert parameters["n_anchors"] == [10, 20]
    assert parameters["scaling"] == ["standard", "unit", None]
    assert parameters["view_weights"] == [1, 2, 1]
    assert parameters["n_repeats"] == 1
    model = load(files / "out" / "model.mv")
    assert model.scaling_ == ["standard", "unit", None]
    assert (model.alpha, model.tol, model.n_neighbors, model.n_axes) == (0.1, 1e-3, 3, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit",), "Missing"),
        (("fit", "colour.csv", "-o", "x"), "Missing option '-k'"),
        (("fit", "colour.csv", "-k", "3"), "Missing option '-o'"),
        (("fit", "-k", "3", "-o", "x"), "Missing argument 'VIEW...'"),
        (("fit", "nothere.csv", "-k", "3", "-o", "x"), "There is no file nothere.csv"),
        (("fit", "colour.csv", "-k", "3", "-o", "x", "--categories", "refuse"), "non-numeric"),
        (("fit", "plain.npy", "-k", "1000", "-o", "x"), "-k must not exceed the number of samples"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(files, run, arguments, message):
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert is_one_line(result.stderr.splitlines()[-1] + "\n")
    assert message in result.stderr


@pytest.mark.parametrize(
    "option", [("-k", "0"), ("--alpha", "-1"), ("--n-repeats", "5000"), ("--n-jobs", "0")]
)
def test_values_are_refused_before_files_are_read(tmp_path, run, option):
    (tmp_path / "damaged.npy").write_bytes(b"")
    result = run(
        "fit", tmp_path / "damaged.npy", "-k", "3", *option, "-o", tmp_path / "out", code=2
    )
    assert f"{option[0]} must be" in result.stderr


def test_more_than_there_is_memory_is_not_loaded(tmp_path, run):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "huge.h5", "w") as file:  # a promise: nothing is in it
        file.create_dataset("x", shape=(10**9, 1000), chunks=(10**4, 10), dtype=float)
    where = (tmp_path / "huge.h5", "-o", tmp_path / "out")
    result = run("fit", "-k", "3", "--engine", "memory", *where, code=2)
    assert is_one_line(result.stderr)
    assert "The views take 8.0 TB in memory" in result.stderr
    assert "Leave out --engine memory" in result.stderr


def test_a_failed_fit_writes_nothing(files, run):
    np.save("holes.npy", np.where(np.eye(90, 2) > 0, np.nan, 1.0))
    result = run("fit", "holes.npy", "-k", "3", "-o", "out", code=2)
    assert "View 'holes' contains NaN" in result.stderr and "Fill in such values" in result.stderr
    assert "Imputer" not in result.stderr
    assert not (files / "out").exists()


def test_one_table_is_split_into_views(files, run):
    result = run(
        "fit", "colour.csv", "--columns", "warm=red", "--columns", "cold=*e*n,blue",
        "--id-column", "id", "-k", "3", "-o", "out", "--no-report", "--json", "-q",
    )  # fmt: skip
    facts = json.loads(result.stdout)
    assert facts["columns"] == {"warm": ["red"], "cold": ["green", "blue"]}


def test_the_same_labels_from_disk_and_from_memory(files, run):
    for engine in ("memory", "disk"):
        result = run(*FIT, "-o", engine, "--no-report", "--engine", engine)
    assert "read from disk block by block" in result.stderr
    a, b = (np.load(files / engine / "labels.npy") for engine in ("memory", "disk"))
    assert np.array_equal(a, b)
    assert not (files / "disk" / "checkpoint").exists()


def test_too_little_memory_is_said_in_options(files, run):
    limits = ("--engine", "disk", "--memory-limit", "1kB")
    result = run("fit", "plain.npy", "-k", "3", "-o", "out", *limits, code=2)
    assert "Raise --memory-limit to that, or use fewer threads with --n-jobs." in result.stderr
    assert not (files / "out").exists()


@pytest.mark.parametrize(("free", "limit"), [(8 << 30, 2 << 30), (0, 256 << 20)])
def test_a_quarter_of_the_free_memory_is_for_views(monkeypatch, free, limit):
    monkeypatch.setattr("manyview.engines.disk.free_memory", lambda: free)
    assert memory_for_views() == limit


@pytest.mark.parametrize(("engine", "code"), [("memory", 0), ("disk", 2)])
def test_a_folder_of_the_user_called_checkpoint_is_left_alone(files, run, engine, code):
    (files / "out" / "checkpoint").mkdir(parents=True)
    (files / "out" / "checkpoint" / "mine.txt").write_text("mine")
    arguments = ("-k", "3", "-o", "out", "--no-report", "--engine", engine)
    run("fit", "plain.npy", *arguments, code=code)
    assert (files / "out" / "checkpoint" / "mine.txt").read_text() == "mine"


def test_names_from_users_are_only_names(files, run):
    odd = "<script>alert(1)<script>"
    result = run("fit", f"{odd}=plain.npy", "-k", "3", "-o", "out")
    assert f"({odd} 4)" in result.stdout
    page = (files / "out" / "report.html").read_text(encoding="utf-8")
    assert odd not in page


def test_the_report_and_its_facts(files, run):
    run(*FIT, "--labels", "labels.csv", "-o", "out", "--json", "-q")
    page = (files / "out" / "report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    facts = json.loads((files / "out" / "summary.json").read_text())
    assert facts["n_clusters"] == K
    assert facts["fit"]["n_rows"] == N


def test_without_the_libraries_of_the_report_the_rest_is_written(files, run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in [n for n in sys.modules if n.startswith("manyview.report")]:
        monkeypatch.delitem(sys.modules, name)
    result = run(*FIT, "-o", "out")
    assert "No report.html" in result.stderr and "pip install" in result.stderr
    assert (files / "out" / "model.mv").exists()
    assert not (files / "out" / "report.html").exists()


def test_verbose_logs_to_stderr(files, run):
    result = run(*FIT, "-o", "out", "--no-report", "-v", "--json")
    assert "info: fitting" in result.stderr
    json.loads(result.stdout)


def test_rows_without_a_label_are_left_out_of_scores_and_report(files, run):
    lines = (files / "labels.csv").read_text().splitlines()
    lines[1:31] = [line.partition(",")[0] + "," for line in lines[1:31]]
    (files / "some.csv").write_text("\n".join(lines))
    result = run(*FIT, "--labels", "some.csv", "-o", "out")
    assert "30 rows without a label" in result.stderr
    facts = json.loads((files / "out" / "summary.json").read_text())
    assert facts["fit"]["scores"]["accuracy"] == 1.0
    (files / "none.csv").write_text("id,label\n" + "".join(f"s{i:02d},\n" for i in range(N)))
    result = run(*FIT, "--labels", "none.csv", "-o", "none", code=2)
    assert "No row has a label" in result.stderr


def test_a_run_that_replaces_another_leaves_nothing_of_it(fitted, run):
    (fitted / "report.html").write_text("of an earlier run")
    (fitted / "mine.txt").write_text("mine")
    result = run(*FIT, "-o", "out", "--no-report", "--force")
    assert not (fitted / "report.html").exists()
    assert "report.html" not in result.stdout
    assert (fitted / "mine.txt").read_text() == "mine"


def test_stopped_in_the_report_the_report_can_be_made_as_promised(files, run, monkeypatch):
    def stop(*arguments, **keywords):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(importlib.import_module("manyview.report"), "build_summary", stop)
        result = run(*FIT, "-o", "out", code=130)
    assert "'manyview report out' makes the report" in result.stderr
    assert "missing: report.html." in result.stderr
    run("report", "out")
    assert (files / "out" / "report.html").exists()


def test_a_second_ctrl_c_does_not_stop_the_tidying_up(files, run, monkeypatch):
    monkeypatch.setattr(Lock, "close", press_after(Lock.close))
    monkeypatch.setattr(LMVSC, "fit", press_after(LMVSC.fit))
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = run(*FIT, "-o", "out", "--n-repeats", "1", code=130)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert result.stderr.endswith("manyview: stopped. Nothing was written to out.\n")
    assert not (files / "out").exists()


def press_after(function):
    """A function after which Ctrl-C is pressed."""

    def call(*arguments):
        function(*arguments)
        signal.raise_signal(signal.SIGINT)

    return call


class TestFolderRemoved:
    """Someone removes the output folder meanwhile: results are whole in a new one, or it is told."""

    @pytest.mark.parametrize("engine", ["memory", "disk"])
    def test_after_the_fit(self, files, run, monkeypatch, engine):
        def fit(model, views):
            found = usual(model, views)
            shutil.rmtree("out")
            return found

        usual = LMVSC.fit
        monkeypatch.setattr(LMVSC, "fit", fit)
        run(*FIT, "-o", "out", "--no-report", "--n-repeats", "1", "--engine", engine)
        assert load("out/model.mv").labels_.tolist() == np.load("out/labels.npy").tolist()
        assert not (files / "out" / ".lock").exists()

    @pytest.mark.parametrize("stage", ["anchors", "labels"])
    def test_while_a_checkpoint_is_written(self, files, run, monkeypatch, stage):
        def start(line, name, total):
            usual(line, name, total)
            if name == stage:
                shutil.rmtree("out", ignore_errors=True)

        usual = StageLine.start
        monkeypatch.setattr(StageLine, "start", start)
        monkeypatch.setattr("manyview.engines.checkpoint._SAVE_SECONDS", 0.0)
        monkeypatch.setattr("manyview.engines.checkpoint._SAVE_SHARE", 1.0)
        result = run(
            *FIT, "-o", "out", "--no-report", "--n-repeats", "1", "--engine", "disk", code=1
        )
        assert "unexpected" not in result.stderr
        assert "out/checkpoint" in result.stderr.splitlines()[-1]
        assert not (files / "out").exists()


@pytest.mark.parametrize("folder", ["out", "a/b/out"])
def test_a_refused_fit_leaves_no_folder_behind(files, run, folder):
    (files / "bad.csv").write_text("id,name\ns01,x\n")
    before = sorted(files.rglob("*"))
    run("fit", "bad.csv", "-k", K, "--id-column", "id", "-o", folder, code=2)
    assert sorted(files.rglob("*")) == before


def test_a_refused_fit_leaves_a_folder_that_was_there(files, run):
    (files / "out").mkdir()
    run("fit", "absent.csv", "-k", K, "-o", "out", code=2)
    assert (files / "out").is_dir()


def test_bad_rows_on_disk_can_be_mended_and_fitted_by_the_same_command(files, run):
    rows, before = np.load("plain.npy"), sorted(files.rglob("*"))
    np.save("plain.npy", np.where(np.arange(N)[:, None] == 5, [0, np.nan, 1, 1], rows))
    command = ("fit", "plain.npy", "-k", K, "-o", "out", "--engine", "disk", "--no-report")
    result = run(*command, code=2)
    assert "contains NaN at row 5" in result.stderr
    assert sorted(files.rglob("*")) == before
    np.save("plain.npy", rows)
    run(*command)


def test_the_checkpoint_outlives_errors_that_refuse_nothing(files, run, monkeypatch):
    def broken(model, views):
        (files / "o" / "checkpoint").mkdir()
        raise ValueError("by chance")

    monkeypatch.setattr("manyview.LMVSC.fit", broken)
    result = run("fit", "plain.npy", "-k", 3, "-o", "o", "--engine", "disk", code=2)
    assert "by chance" in result.stderr
    assert (files / "o" / "checkpoint").exists()
