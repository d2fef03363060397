"""``manyview inspect``: facts, likely problems, what a fit would do and cost."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from manyview.cli.diagnosis import describe_view

from .conftest import VIEWS


def test_facts_of_every_view(files, run):
    result = run("inspect", *VIEWS, "--id-column", "id", "-k", "3", "--json", "-q", "--no-cost")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert [(v["name"], v["n_rows"], v["n_columns"]) for v in facts["views"]] == [
        ("colour", 90, 3), ("shape", 90, 5), ("words", 90, 4),
    ]  # fmt: skip
    assert facts["plan"]["n_anchors"] == [30]
    assert all(view["problems"] == [] for view in facts["views"])


def test_what_a_fit_would_cost(files, run):
    result = run("inspect", *VIEWS, "--id-column", "id", "-k", "3", "--json", "-q")
    cost = json.loads(result.stdout)["cost"]
    assert cost["total_seconds"] > 0
    assert cost["bytes"] > 90 * 12 * 8
    assert set(cost["scaling"]) == {"colour", "shape", "words"}
    assert set(cost["scaling"].values()) <= {"normal-scores", "hellinger"}


def test_a_page_for_people(files, run):
    result = run("inspect", "plain.npy", "-k", "3")
    assert result.exit_code == 0, result.stderr
    assert "fit -k 3 would use" in result.stdout
    assert "it would take about" in result.stdout


def test_what_fit_would_refuse_is_said(files, run):
    np.save("holes.npy", np.where(np.eye(20, 3) > 0, np.nan, 1.5))
    result = run("inspect", "holes.npy", "-k", "3")
    assert result.exit_code == 0
    assert "3 missing values: fit refuses them unless you say --impute mean" in result.stdout
    assert "fit would refuse" in result.stdout
    assert "fit would refuse: n_samples=20" in run("inspect", "holes.npy", "-k", "30").stdout


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


def test_columns_that_look_like_ids_and_labels():
    table = np.column_stack([np.arange(50), np.arange(50) % 3, np.linspace(0, 1, 50)])
    problems = describe_view("v", table, ("ID", "Label", "size"))["problems"]
    assert "column 'ID' looks like ids: name it with --id-column ID" in problems
    assert "column 'Label' looks like labels: name it with --label-column Label" in problems


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


def test_a_fit_that_chooses_the_number_of_clusters(files, run):
    result = run("inspect", "plain.npy", "-k", "auto", "--json", "-q")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["problem"] is None
    assert facts["plan"]["n_clusters"] == "auto"
    assert facts["cost"]["total_seconds"] > 0
