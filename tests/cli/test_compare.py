"""``manyview compare``: agreement, moves, a picture."""

import csv
import json

import numpy as np
import pytest

from .conftest import is_one_line


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(
        "leaf,cluster\n" + "".join(f"l{i},{i // 5}\n" for i in range(15))
    )
    moved = {3: 0, 14: 9}
    rows = (f"l{i},{moved.get(i, [2, 1, 0][i // 5])},0.5\n" for i in reversed(range(15)))
    (tmp_path / "b.csv").write_text("leaf,cluster,confidence\n" + "".join(rows))
    return tmp_path


def test_moves_are_told_in_the_numbers_of_the_first(here, run):
    facts = json.loads(run("compare", "a.csv", "b.csv", "--json", "-q").stdout)
    assert facts["moves"] == [{"from": 0, "to": 2, "rows": 1}, {"from": 2, "to": 3, "rows": 1}]
    assert facts["numbers"] == {"2": 0, "1": 1, "0": 2, "9": 3}
    assert facts["same"] == pytest.approx(13 / 15)


def test_a_table_a_picture_and_a_list(here, run):
    result = run("compare", "a.csv", "b.csv", "-o", "moves.svg", "--moved", "moved.csv")
    assert "15 rows in 3 and 4 clusters: 86.7% are in the same cluster, 2 moved" in result.stdout
    assert "from  to  rows\n   0   2     1\n" in result.stdout
    assert (here / "moves.svg").read_text().rstrip().endswith("</svg>")
    with (here / "moved.csv").open() as file:
        assert list(csv.reader(file)) == [["id", "from", "to"], ["l3", "0", "2"], ["l14", "2", "3"]]


def test_folders_and_models_of_fits_are_compared(fitted, run):
    result = run("compare", fitted, fitted / "model.mv", "--json")
    facts = json.loads(result.stdout)
    assert (facts["same"], facts["moves"]) == (1.0, []), result.stderr
    assert "of a model, with the ids of its rows" in result.stderr


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("c.npy", "has 15 labels but c.npy has 3"),
        ("d.csv", "labels must be numbers of clusters; got 'x0'"),
        ("e.csv", "labels must be numbers of clusters; got ''"),
    ],
)
def test_what_cannot_be_compared_is_one_line(here, run, second, message):
    np.save("c.npy", np.arange(3))
    (here / "d.csv").write_text("leaf,label\n" + "".join(f"l{i},x{i % 3}\n" for i in range(15)))
    (here / "e.csv").write_text(
        "leaf,label\n" + "".join(f"l{i},{i or 5}\n" for i in range(14)) + "l14,\n"
    )
    first = "b.npy" if second == "c.npy" else "a.csv::cluster"
    np.save("b.npy", np.arange(15) % 4)
    result = run("compare", first, second, "-q", code=2)
    assert is_one_line(result.stderr) and message in result.stderr


@pytest.mark.parametrize("second", ["b.csv", "b.csv::cluster", "folder"])
def test_what_is_read_is_never_written_over(here, run, second):
    (here / "folder").mkdir()
    (here / "folder" / "labels.csv").write_text((here / "b.csv").read_text())
    path = here / ("folder/labels.csv" if second == "folder" else "b.csv")
    before = path.read_text()
    result = run("compare", "a.csv", second, "--moved", path, "--force", code=2)
    assert "is read by this command" in result.stderr
    assert path.read_text() == before


def test_ids_in_the_list_of_moves_are_no_formulas(here, run):
    for name, clusters in (("c.csv", "0011"), ("d.csv", "0010")):
        lines = (f"{'=' * (i == 3)}r{i},{cluster}\n" for i, cluster in enumerate(clusters))
        (here / name).write_text("id,cluster\n" + "".join(lines))
    run("compare", "c.csv", "d.csv", "--moved", "moved.csv")
    assert (here / "moved.csv").read_text() == "id,from,to\n'=r3,1,0\n"


def test_outliers_are_no_cluster_and_numbers_are_in_order(here, run):
    np.save("c.npy", np.repeat([-1, 2, 9, 10], 4))
    np.save("d.npy", np.repeat([-1, 10, 2, 9], 4))
    result = run("compare", "c.npy", "d.npy")
    assert "16 rows in 3 and 3 clusters: 100.0%" in result.stdout
    assert "rows without a cluster (-1): 4 and 4\n" in result.stdout
    assert "2 is 9, 9 is 10, 10 is 2\n" in result.stdout
