"""``manyview inspect``: facts, likely problems, what a fit would do and cost."""

import json

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC
from manyview.cli.diagnosis import describe_view

from .conftest import VIEWS, is_one_line


def test_facts_of_every_view(files, run):
    result = run("inspect", *VIEWS, "--id-column", "id", "-k", "3", "--json", "-q", "--no-cost")
    facts = json.loads(result.stdout)
    assert [(v["name"], v["n_rows"], v["n_columns"]) for v in facts["views"]] == [
        ("colour", 90, 3), ("shape", 90, 5), ("words", 90, 4),
    ]  # fmt: skip
    assert facts["plan"]["n_anchors"] == [30]
    assert all(view["problems"] == [] for view in facts["views"])


def test_what_a_fit_would_cost(files, run):
    result = run("inspect", *VIEWS, "--id-column", "id", "-k", "3", "--json", "-q")
    facts = json.loads(result.stdout)
    cost = facts["cost"]
    assert facts["plan"]["n_anchors"] == [30]
    assert cost["total_seconds"] > 0
    assert cost["bytes"] > 90 * 12 * 8
    assert set(cost["scaling"]) == {"colour", "shape", "words"}
    assert set(cost["scaling"].values()) == {"standard"}  # the clusters are evident


def test_a_page_for_people(files, run):
    result = run("inspect", "plain.npy", "-k", "3")
    assert "fit -k 3 would use" in result.stdout
    assert "it would take about" in result.stdout


def test_what_fit_would_refuse_is_said(files, run):
    np.save("holes.npy", np.where(np.eye(20, 3) > 0, np.nan, 1.5))
    result = run("inspect", "holes.npy", "-k", "3")
    assert "3 missing values: fit refuses them, so fill them in first" in result.stdout
    assert "fit would refuse" in result.stdout
    assert "Imputer" not in result.stdout


def test_a_number_of_clusters_that_cannot_be_is_refused_unless_it_is_ours(files, run):
    np.save("few.npy", np.eye(5))
    for k in (0, 6):
        result = run("inspect", "few.npy", "-k", k, "-q", code=2)
        assert result.stdout == ""
        assert is_one_line(result.stderr) and "-k must" in result.stderr
    result = run("inspect", "few.npy")
    assert "fit would refuse: -k must not exceed the number of samples; got 10" in result.stdout


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (np.full(50, 7.0), "1 constant column(s) say nothing: 'x'"),
        (np.r_[np.inf, np.zeros(49)], "1 infinite values: fit refuses them"),
        (np.arange(50) * 1e6, "columns of very different scale"),
    ],
)
def test_likely_problems(column, problem):
    other = np.random.default_rng(0).normal(size=50)
    facts = describe_view("v", np.column_stack([column, other]), ("x", "y"))
    assert any(text.startswith(problem) for text in facts["problems"])


@pytest.mark.parametrize(
    ("n_lacking", "problem"),
    [(20, "20 of 60 sampled rows lack this view"), (60, "no row has this view")],
)
def test_rows_without_a_view(files, run, n_lacking, problem):
    whole = np.random.default_rng(0).normal(size=(60, 3))
    np.save("whole.npy", whole)
    np.save("part.npy", np.where(np.arange(60)[:, None] < n_lacking, np.nan, whole))
    result = run("inspect", "whole.npy", "part.npy", "-k", "3")
    assert f"part: {problem}\n" in result.stdout
    assert "whole: " not in result.stdout


@pytest.mark.parametrize(("value", "greatest"), [(1.0, 1.0), (np.inf, None)])
def test_facts_are_json_where_values_are_infinite(files, run, value, greatest):
    np.save("odd.npy", np.where(np.arange(20) % 2, value, np.inf)[:, None])
    result = run("inspect", "odd.npy", "-k", "2", "--json", "-q")
    facts = json.loads(result.stdout, parse_constant=pytest.fail)
    assert facts["views"][0]["greatest"] == greatest
    run("inspect", "odd.npy", "-k", "2")


def test_repeated_rows_and_single_columns():
    facts = describe_view("v", np.repeat([[1.0], [2.0]], 10, axis=0), None)
    assert facts["repeated_rows"] == pytest.approx(0.9)
    assert "a single column: clusters will be ranges of it" in facts["problems"]


def test_sparse_views():
    table = np.zeros((40, 6))
    table[np.arange(40), np.arange(40) % 5] = 1 + np.arange(40)
    dense, thin = (describe_view("v", x, None) for x in (table, sparse.csr_array(table)))
    assert thin["is_sparse"] and not dense["is_sparse"]
    for key in ("zeros", "constant_columns", "missing", "repeated_rows"):
        assert thin[key] == dense[key]


def test_a_sample_stands_for_many_rows():
    table = np.random.default_rng(0).normal(size=(30_000, 2))
    facts = describe_view("v", table, None)
    assert (facts["n_rows"], facts["sampled_rows"]) == (30_000, 20_000)


def test_the_anchors_foretold_are_those_of_the_fit(files, run):
    words = sparse.random_array((600, 500), density=0.01, rng=0, format="csr")
    sparse.save_npz("text.npz", words)
    result = run("inspect", "text.npz", "-k", "3")
    assert "fit -k 3 would use 60 anchors a view" in result.stdout
    run("fit", "text.npz", "-k", "3", "-o", "text", "--no-report")
    choices = json.loads((files / "text" / "summary.json").read_text())["fit"]["choices"]
    assert [c["value"] for c in choices if c["parameter"] == "n_anchors"] == [60]
    assert "would use about " in run("inspect", "text.npz", "-k", "3", "--no-cost").stdout


def test_more_clusters_than_rows_to_compile_with_are_not_refused(files, run, monkeypatch):
    monkeypatch.setattr("manyview.cli.diagnosis._COMPILING_ROWS", 20)
    assert "would refuse" not in run("inspect", "plain.npy", "-k", "30").stdout


def test_a_fit_that_chooses_the_number_of_clusters(files, run):
    result = run("inspect", "plain.npy", "-k", "auto", "--json", "-q")
    facts = json.loads(result.stdout)
    assert facts["problem"] is None
    assert facts["plan"]["n_clusters"] == "auto"
    assert facts["cost"]["total_seconds"] > 0


@pytest.mark.parametrize("command", ["inspect", "fit"])
def test_a_model_is_no_data_and_what_to_do_with_it_is_told(tmp_path, run, blobs, command):
    LMVSC(3, n_repeats=1, random_state=0).fit(blobs()).save(tmp_path / "groups.mv")
    more = ["-k", "3", "-o", tmp_path / "out"] if command == "fit" else []
    result = run(command, tmp_path / "groups.mv", *more, code=2)
    assert is_one_line(result.stderr)
    assert "is a model that manyview saved, not data" in result.stderr
    assert "'manyview predict groups.mv VIEW...'" in result.stderr
