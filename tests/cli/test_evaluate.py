"""``manyview evaluate``: rows matched by id, all scores, and what is refused."""

import json

import numpy as np
import pytest

from manyview import metrics

from .conftest import is_one_line

TRUE = [0, 0, 1, 1, 2, 2]
FOUND = [1, 1, 0, 0, 0, 2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ids = list("abcdef")
    write(tmp_path / "true.csv", "label", zip(ids, TRUE, strict=True))
    write(tmp_path / "found.csv", "cluster", zip(ids[::-1], FOUND[::-1], strict=True))
    write(tmp_path / "fewer.csv", "cluster", zip(ids[:4], FOUND[:4], strict=True))
    np.save("true.npy", np.array(TRUE))
    np.save("found.npy", np.array(FOUND))
    np.save("short.npy", np.array(FOUND[:3]))
    (tmp_path / "rows.csv").write_text(
        "row,cluster\n" + "".join(f"{i},{c}\n" for i, c in enumerate(FOUND))
    )
    return tmp_path


def write(path, name, rows):
    path.write_text(f"id,{name}\n" + "".join(f"{i},{v}\n" for i, v in rows))


@pytest.mark.parametrize(
    ("true", "found"),
    [
        ("true.csv", "found.csv"),
        ("true.npy", "found.npy"),
        ("true.npy", "rows.csv"),
        ("true.csv::label", "found.csv::cluster"),
    ],
)
def test_all_scores_of_matched_rows(here, run, true, found):
    result = run("evaluate", true, found, "--json", "-q")
    assert json.loads(result.stdout) == {
        "n_rows": 6, "n_classes": 3, "n_clusters": 3, **metrics.scores(TRUE, FOUND),
    }  # fmt: skip


@pytest.mark.parametrize("order", [("true", "found"), ("found", "true")])
def test_ids_have_the_name_that_the_other_file_gives_them(here, run, order):
    rows = {"true": ("species", TRUE), "found": ("cluster", FOUND)}
    for name, (column, values) in rows.items():
        lines = [f"{i},{v}\n" for i, v in zip("abcdef", values, strict=True)]
        lines = lines if name == "true" else lines[::-1]
        (here / f"{name}.csv").write_text(f"customer,{column}\n" + "".join(lines))
    result = run("evaluate", *(f"{name}.csv" for name in order), "--json")
    assert json.loads(result.stdout)["ari"] == pytest.approx(metrics.ari(TRUE, FOUND))
    assert "true.csv: 6 labels from 'species', ids from 'customer'." in result.stderr


def test_a_table_for_people(here, run):
    result = run("evaluate", "true.csv", "found.csv")
    assert result.stdout.startswith("6 rows, 3 classes, 3 clusters\naccuracy        0.8333\n")
    assert "inverse purity" in result.stdout
    assert "Rows are matched by id" in result.stderr


def test_common_rows_only_if_asked(here, run):
    result = run("evaluate", "true.csv", "fewer.csv", code=2)
    assert "2 ids of true.csv are not in fewer.csv" in result.stderr
    assert "4 rows" in run("evaluate", "true.csv", "fewer.csv", "--join", "inner").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("true.npy", "short.npy"), "has 6 labels but short.npy has 3"),
        (("true.csv", "found.npy"), "only true.csv has ids"),
        (("true.csv", "nothere.csv"), "There is no file nothere.csv"),
        (("true.csv::odd", "found.csv"), "no 'odd' with one value a row"),
        (("true.csv", "found.csv", "--id-column", "idd"), "--id-column must name"),
    ],
)
def test_what_does_not_fit_is_one_line(here, run, arguments, message):
    result = run("evaluate", *arguments, code=2)
    assert is_one_line(result.stderr.splitlines()[-1] + "\n") and message in result.stderr


def test_by_place_if_asked(here, run):
    result = run("evaluate", "true.csv", "found.npy", "--join", "order", "--json")
    known, found = np.load("true.npy"), np.load("found.npy")
    assert json.loads(result.stdout)["accuracy"] == pytest.approx(metrics.accuracy(known, found))


@pytest.mark.parametrize("values", [["a", "a", "b", "b", "", ""], [0, 0, 1, 1, np.nan, np.nan]])
def test_rows_without_a_label_are_left_out(here, run, values):
    if isinstance(values[0], str):
        write(here / "some.csv", "label", zip("abcdef", values, strict=True))
        result = run("evaluate", "some.csv", "found.csv", "--json")
    else:
        np.save("some.npy", np.array(values))
        result = run("evaluate", "some.npy", "found.npy", "--json")
    assert json.loads(result.stdout) == {
        "n_rows": 4, "n_classes": 2, "n_clusters": 2, **metrics.scores(values[:4], FOUND[:4]),
    }  # fmt: skip
    assert "2 rows without a label" in result.stderr


def test_clusters_of_a_fit_are_scored(fitted, run):
    result = run("evaluate", "labels.csv", "out/labels.csv", "--json", "-q")
    assert json.loads(result.stdout)["accuracy"] == 1.0


def test_advice_can_be_followed_as_it_is_written(here, run):
    (here / "deep").mkdir()
    (here / "deep" / "two.csv").write_text("id,kind,colour\na,1,2\n")
    result = run("evaluate", "deep/two.csv", "found.csv", code=2)
    assert "choose with deep/two.csv::NAME" in result.stderr
    (here / "deep" / "other.csv").write_text("id,label\nz,1\n")
    for join in ("exact", "inner"):
        result = run("evaluate", "deep/other.csv", "found.csv", "--join", join, code=2)
        assert "--join outer" not in result.stderr  # there is no such choice here
