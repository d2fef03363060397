"""What to be wary of, told by the model, the report and the command line."""

import json

import numpy as np
import pytest

from manyview import LMVSC, load
from manyview.errors import CautionWarning
from manyview.explain.cautions import about_sizes, cautions_of_advice, cautions_of_labels

X = np.concatenate([np.random.default_rng(0).normal(size=(60, 3)), np.full((2, 3), 50.0)])


def test_sizes_that_are_as_they_should_be_say_nothing():
    assert list(about_sizes({0: 50, 1: 40, 2: 60})) == []


def test_rows_in_no_cluster_and_labels_to_come_are_left_out():
    assert cautions_of_labels(np.repeat([0, 1, -1], 40), 2) == []
    assert cautions_of_labels(object(), 2) == []


def test_of_advice_warnings_and_what_is_about_clusters_is_kept():
    advice = [
        {"level": "warning", "section": "map", "title": "A", "text": "a."},
        {"level": "note", "section": "clusters", "title": "B", "text": "b."},
        {"level": "note", "section": "run", "title": "C", "text": "c."},
    ]
    assert cautions_of_advice(advice) == ["A. a.", "B. b."]


def test_a_fit_warns_and_keeps_what_it_warned_of(tmp_path):
    with pytest.warns(CautionWarning, match="Cluster [01] is tiny"):
        model = LMVSC(2, n_repeats=1, random_state=0).fit(X)
    assert len(model.cautions_) == 1 and "is tiny" in model.cautions_[0]
    model.save(tmp_path / "m.mv")
    assert load(tmp_path / "m.mv").cautions_ == model.cautions_


@pytest.mark.slow
def test_the_report_adds_its_own(tmp_path):
    model = LMVSC(2, n_repeats=1, random_state=0).fit(np.random.default_rng(1).normal(size=(90, 4)))
    before = list(model.cautions_)
    model.report(tmp_path / "r.html", np.random.default_rng(1).normal(size=(90, 4)))
    assert model.cautions_[: len(before)] == before and len(model.cautions_) > len(before)


def test_the_command_line_tells_them(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from manyview.cli.group import manyview as command_line

    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    arguments = [
        "fit",
        "x.npy",
        "-k",
        "2",
        "-o",
        "out",
        "--n-repeats",
        "1",
        "--no-report",
        "--json",
    ]
    result = CliRunner().invoke(command_line, arguments)
    assert "is tiny. Fewer than 5 rows each." in result.stderr
    assert result.stderr.count("Caution: ") == 1
    assert len(json.loads(result.stdout)["cautions"]) == 1
