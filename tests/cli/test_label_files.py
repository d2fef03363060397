"""Labels of the same rows from two places."""

import json

import pytest

from .conftest import is_one_line

TRUE = [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("name", ["leaf", "label", "Unnamed: 0"])
@pytest.mark.parametrize("confidence", [False, True])
def test_our_own_files_are_matched_whatever_their_ids_are_called(tmp_path, run, name, confidence):
    more = (",confidence", ",0.5") if confidence else ("", "")
    for file, order in (("one.csv", "abcdef"), ("two.csv", "fedcba")):
        rows = "".join(f"{i},{TRUE['abcdef'.index(i)]}{more[1]}\n" for i in order)
        (tmp_path / file).write_text(f"{name},cluster{more[0]}\n{rows}")
    result = run("evaluate", tmp_path / "one.csv", tmp_path / "two.csv", "--json")
    assert json.loads(result.stdout)["accuracy"] == 1.0, result.stderr
    assert f"ids from {name!r}" in result.stderr


def test_files_in_different_orders_are_not_matched_by_place(tmp_path, run):
    for file, order in (("one.csv", "ab"), ("two.csv", "ba")):
        (tmp_path / file).write_text("id,label\n" + "".join(f"{i},{i}\n" for i in order))
    result = run(
        "evaluate", tmp_path / "one.csv", tmp_path / "two.csv", "--join", "order", "-q", code=2
    )
    assert is_one_line(result.stderr)
    assert "in different orders: row 0 is 'a' and 'b'" in result.stderr


def test_the_folder_of_a_fit_stands_for_its_labels(fitted, run):
    result = run("evaluate", "labels.csv", fitted, "--json")
    assert json.loads(result.stdout)["n_rows"] == 90, result.stderr
