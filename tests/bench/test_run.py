"""A bench runs what is missing, in a process of its own."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

from manyview import Views, bench, datasets


class FromNotebook(ClusterMixin, BaseEstimator):
    """Labels by the sign of the first column; slow, greedy or failing on request."""

    def __init__(self, n_clusters=2, seconds=0.0, n_bytes=0, fails=False):
        self.n_clusters = n_clusters
        self.seconds = seconds
        self.n_bytes = n_bytes
        self.fails = fails

    def fit(self, X, y=None):
        import time

        time.sleep(self.seconds)
        np.ones(self.n_bytes, np.uint8)
        if self.fails:
            raise RuntimeError("it broke")
        self.labels_ = (X[:, 0] > 0).astype(int)
        return self


@pytest.fixture(scope="module")
def views():
    made = datasets.make_views(60, 2, (4, 5), separation=9.0, random_state=0)
    order = np.argsort(made.target, kind="stable")
    return Views([X[order] for X in made.arrays], target=made.target[order])


@pytest.mark.slow
def test_own_method_own_data_limits_and_going_on(views, results_file):
    FromNotebook.__module__ = "__main__"  # as in a notebook: sent as it is, not by its name
    methods = {
        "mine": FromNotebook(),
        "slow": FromNotebook(seconds=60.0),
        "greedy": FromNotebook(n_bytes=3 * 10**9),
        "broken": FromNotebook(fails=True),
        "KMeans": "KMeans",
    }
    told = []
    found = bench.compare(
        methods, {"made": views}, seeds=2, results=results_file, max_seconds=3.0,
        memory_limit=10**9, tell=told.append,
    )  # fmt: skip
    why = {name: found.figure(name, "made").why for name in methods}
    assert why["mine"] == why["KMeans"] == ""
    assert why["slow"] == "stopped after 3 s"
    assert why["broken"] == "RuntimeError: it broke"
    assert "llocate" in why["greedy"]
    assert found.figure("KMeans", "made").mean > 0.9
    assert len(told) == 9  # who was stopped is not tried with another seed
    lines = [json.loads(text) for text in results_file.read_text().splitlines()]
    orders = {line["data"]["shuffled"] for line in lines}
    assert orders == {0, 1}
    assert {"peak_bytes", "commit", "cpu", "versions", "warnings"} <= lines[0].keys()

    told.clear()
    some = {name: methods[name] for name in ("mine", "slow", "KMeans")}
    again = bench.compare(
        some, {"made": views}, seeds=2, results=results_file, max_seconds=3.0, tell=told.append
    )
    assert told == []
    assert again.table() == bench.Results.from_file(results_file).select(list(some)).table()


@pytest.mark.slow
def test_a_method_that_has_changed_is_run_again_where_that_is_asked_for(views, results_file):
    told = []
    how = {"seeds": 1, "results": results_file, "tell": told.append}
    methods = {"mine": FromNotebook(), "other": FromNotebook()}
    bench.compare(methods, {"made": views}, **how)
    told.clear()
    found = bench.compare(methods, {"made": views}, **how, again=["mine"])
    assert told == ["made: mine, seed 0"]
    assert [line["method"] for line in found.lines] == ["mine", "other"]
    with pytest.raises(ValueError, match=r"again.*'min'"):
        bench.compare(methods, {"made": views}, **how, again=["min"])


@pytest.mark.slow
def test_labels_choose_settings_where_they_are_asked_to(views):
    method = bench.Method("mine", FromNotebook(), lambda k: [{"seconds": 0.01 * k}])
    found = bench.compare(method, {"made": views}, seeds=1, tuned=True, shuffle=False)
    assert [line["protocol"] for line in found.lines] == ["label-free", "label-tuned"]
    assert found.lines[1]["settings"] == {"seconds": 0.02}
    assert "shuffled" not in found.lines[0]["data"]


def test_no_fit_starts_after_the_end_of_a_run(views, monkeypatch):
    monkeypatch.setattr("time.monotonic", iter([0.0, *[100.0] * 20]).__next__)
    found = bench.compare("KMeans", {"made": views}, seeds=1, total_seconds=5)
    assert found.lines == []


@pytest.mark.slow
def test_a_file_with_other_settings_rows_and_views_gives_what_was_asked_for(views, results_file):
    def run(method, data=views, **how):
        return bench.compare(
            {"mine": method}, {"made": data}, seeds=1, results=results_file, **how
        ).lines

    grid = bench.Method("mine", FromNotebook(), lambda k: [{"seconds": 0.02}])
    assert [line["protocol"] for line in run(grid, tuned=True)] == ["label-free", "label-tuned"]
    for method, rows in ((FromNotebook(seconds=0.01), 60), (FromNotebook(seconds=0.02), 40)):
        (line,) = run(method, max_rows=rows)
        assert (line["settings"]["seconds"], line["n_rows"]) == (method.seconds, rows)
    (line,) = run(FromNotebook(seconds=0.02))  # the grid's, which was fixed beforehand here
    assert line["protocol"] == "label-free"
    (line,) = run(FromNotebook(), Views([-X[:50] for X in views.arrays], target=views.target[:50]))
    assert line["n_rows"] == 50


SCRIPT = """
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from manyview import bench, datasets

print("run")

class Mine(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.labels_ = (X[:, 0] > 0).astype(int)
        return self

data = {"made": datasets.make_views(60, 2, (4,), separation=9.0, random_state=0)}
print(bench.compare({"mine": Mine()}, data, seeds=1).lines[0]["status"])
"""


@pytest.mark.slow
def test_a_script_needs_no_guard_and_is_run_once(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["run", "done"], done.stderr


@pytest.mark.slow
def test_nothing_goes_on_when_a_bench_is_killed(tmp_path):
    path = tmp_path / "script.py"
    busy = '        print("fitting", flush=True)\n        __import__("time").sleep(3600)\n'
    path.write_text(SCRIPT.replace("        self.labels_", busy + "        self.labels_"))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, path], **pipes, text=True) as script:
        assert "fitting\n" in script.stderr  # read until it comes
        script.kill()
        script.communicate(timeout=60)  # its output ends when no process has it any more
