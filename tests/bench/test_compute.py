import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from manyview import datasets
from manyview.bench.cells import Cell
from manyview.bench.compute import Computer, measure
from manyview.bench.data import Rows
from manyview.bench.methods import as_methods


def test_a_line_has_scores_costs_and_warnings():
    views = datasets.make_views(30, 3, (4,), random_state=0)

    def fit():
        warnings.warn("not settled", UserWarning, stacklevel=1)
        return views.target, {"n_found": 3}

    line = measure(views, fit)
    assert (line["status"], line["n_found"], line["n_rows"]) == ("done", 3, 30)
    assert line["scores"]["accuracy"] == 1.0
    assert line["warnings"] == ["not settled"]
    assert line["seconds"] >= 0 and line["cpu_seconds"] >= 0
    assert line["largest_cluster"] == np.bincount(views.target).max() / 30


def test_want_of_memory_is_a_result():
    def fit():
        raise MemoryError("needs 9 TB")

    views = datasets.make_views(30, 3, (4,), random_state=0)
    assert measure(views, fit) == {"status": "refused", "reason": "needs 9 TB"}


def test_a_setting_of_none_is_given_too():
    given = []

    def label(views, n_clusters, seed, settings):
        given.append(settings)
        return views.target

    views = datasets.make_views(30, 3, (4,), random_state=0)
    method = SimpleNamespace(name="A", settings={"m": 1}, labels=label, is_ours=False)
    computer = Computer([method], {"d": views})
    cells = [Cell(Rows("d"), "A", {"m": 1, "most": None})]
    computer.prepare(cells)
    assert [line["status"] for line in computer.compute(cells)] == ["done"]
    assert given == [{"most": None}]


def test_rows_of_one_class_are_refused():
    views = datasets.make_views(30, 3, (4,), random_state=0)
    computer, cells = Computer(as_methods("KMeans"), {"d": views}), [Cell(Rows("d", 1), "KMeans")]
    computer.prepare(cells)
    with pytest.raises(ValueError, match="'d' has one class"):
        list(computer.compute(cells))
