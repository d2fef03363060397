"""Columns of a table as they are."""

import numpy as np

from manyview.sources.table import Table

TABLE = Table({"kind": np.array(["a", "b", "c"]), "size": np.arange(3.0)}, {"kind": ("c", "a")})


def test_rows_and_columns_are_selected_as_of_an_array():
    assert TABLE[[2, 0]].columns["kind"].tolist() == ["c", "a"]
    assert TABLE[np.array([True, False, True])].shape == (2, 2)
    assert list(TABLE[:, [1]].columns) == ["size"]
    assert TABLE[1:].orders == TABLE.orders


def test_a_copy_is_of_its_own():
    TABLE.copy().columns["size"][0] = 9
    assert TABLE.columns["size"][0] == 0
