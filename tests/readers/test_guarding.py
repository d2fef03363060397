"""Ids that a spreadsheet would run: written so that it does not, and read as they were."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyview.cli.results import write_labels
from manyview.readers import read_labels, read_view
from manyview.readers.guarding import guard, unguard

ODD = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "'=x", "-5", "+3.5", "''", "'tis", "a"]


@given(st.text())
def test_every_text_comes_back(text):
    assert unguard(np.array([guard(text)])).tolist() == np.array([text]).tolist()


@pytest.mark.parametrize("text", ODD)
def test_nothing_starts_like_a_formula_but_numbers(text):
    written = guard(text)
    assert not written.startswith(("=", "@", "+", "-")) or float(written) == float(text)


def test_labels_in_csv_have_their_ids_back(tmp_path):
    path = tmp_path / "labels.csv"
    write_labels(path, np.arange(len(ODD)), np.array(ODD), "id", confidence=np.ones(len(ODD)))
    assert read_labels(str(path)).ids.tolist() == ODD
    with path.open(newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    assert not any(c.startswith(("=", "@")) for c in cells)


def test_so_have_views(tmp_path):
    lines = [f'"{guard(text)}",{i}' for i, text in enumerate(ODD)]
    (tmp_path / "a.csv").write_text("id,x\n" + "\n".join(lines) + "\n")
    assert read_view(str(tmp_path / "a.csv"), id_column="id").ids.tolist() == ODD
