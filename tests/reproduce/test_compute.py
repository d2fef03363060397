"""Cells -> results: work is shared, and results belong to their cells."""

import pytest

from manyview.bench.cells import Cell
from manyview.reproduce import methods
from manyview.reproduce.compute import Computer, batches
from manyview.reproduce.problems import Data

DATA = Data("msrcv1")


def published(alpha, m=8, seed=0):
    return Cell(DATA, methods.RELEASED, {"n_anchors": m, "alpha": alpha}, seed)


def test_published_cells_that_share_anchors_are_one_batch():
    cells = [published(alpha, m) for m in (8, 12) for alpha in (0.1, 1.0)]
    cells += [Cell(DATA, methods.AS_TEXT, cells[0].settings), Cell(DATA, "KMeans")]
    assert [len(batch) for batch in batches(cells)] == [2, 2, 1, 1]


def test_results_belong_to_their_cells_whatever_the_order(small_msrc):
    cells = [published(1.0), published(0.1)]
    computer = Computer()
    lines = {line["number"]: line for line in computer.compute(cells)}
    for number, cell in enumerate(cells):
        (alone,) = computer.compute([cell])
        assert lines[number]["scores"] == alone["scores"]


@pytest.mark.parametrize("method", [methods.DEFAULT, "KMeans", "SSCOMP", "TBGL"])
def test_a_fit_has_all_scores_seconds_and_memory(small_msrc, method):
    view = 0 if method in methods.SINGLE_VIEW else None
    settings = {"n_repeats": 1, "n_anchors": 10} if method == methods.DEFAULT else {}
    (line,) = Computer().compute([Cell(DATA, method, settings, 0, view)])
    assert line["status"] == "done" and line["n_rows"] == 210 and line["seconds"] > 0
    assert {"accuracy", "nmi", "purity", "inverse_purity", "ari"} <= set(line["scores"])


def test_memory_that_is_wanting_is_a_refusal(small_msrc, monkeypatch):
    def refuse(self, views):
        raise MemoryError("needs 9 GB")

    monkeypatch.setattr("manyview.baselines.AMGL.fit_predict", refuse)
    (line,) = Computer().compute([Cell(DATA, "AMGL")])
    assert line == {"status": "refused", "reason": "needs 9 GB"}
