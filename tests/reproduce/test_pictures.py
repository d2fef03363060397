"""Places of rows in the plane, by t-SNE."""

import pytest

from manyview.reproduce.cells import Cell
from manyview.reproduce.pictures import GRID, place_rows
from manyview.reproduce.problems import Data, load


@pytest.mark.parametrize("of", ["raw", "default", "released"])
def test_places_are_of_the_rows_that_were_asked_for(small_msrc, of):
    settings = {"of": of, "points": 35, "n_anchors": 8, "alpha": 0.01}
    line = place_rows(load(Data("msrcv1")), Cell(Data("msrcv1"), "t-SNE", settings))
    assert 35 <= len(line["points"]) == len(line["classes"]) < 60  # some of every class
    assert all(0 <= place <= GRID for point in line["points"] for place in point)
