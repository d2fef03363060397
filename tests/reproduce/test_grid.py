"""The grid gives what single fits give, and does shared work once."""

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, Views, datasets
from manyview.pipeline import graphs
from manyview.reproduce import grid
from manyview.reproduce.grid import fit_grid

ALPHAS = [0.01, 10.0]


def make(kind):
    views = datasets.make_views(160, 4, (5, 30), random_state=1)
    if kind == "sparse":
        arrays = [sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0)) for X in views.arrays]
        return Views(arrays, target=views.target)
    return views


@pytest.mark.parametrize(("kind", "seed"), [("dense", 0), ("sparse", 3)])
def test_labels_are_those_of_single_fits(kind, seed):
    views = make(kind)
    for fit in fit_grid(views, 4, 12, ALPHAS, seed=seed):
        model = LMVSC.as_published(4, 12, fit.alpha, variant=fit.variant, random_state=seed)
        np.testing.assert_array_equal(fit.labels, model.fit(views).labels_)


def test_real_labels_are_those_of_single_fits(data):
    views = data("handwritten")[::2]
    fits = {(f.alpha, f.variant): f for f in fit_grid(views, 10, 10, [0.01, 10.0], seed=0)}
    for (alpha, variant), fit in fits.items():
        model = LMVSC.as_published(10, 10, alpha, variant=variant, random_state=0).fit(views)
        assert np.mean(fit.labels == model.labels_) > 0.999  # products are rounded elsewhere


def test_anchors_and_products_are_made_once_for_all_alphas(monkeypatch):
    counts = {"anchors": 0, "products": 0, "tiles": 0}

    def count(module, name, key):
        original = getattr(module, name)

        def counting(*arguments, **options):
            counts[key] += 1
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, counting)

    count(graphs, "litekmeans", "anchors")
    count(grid, "_multiply", "products")
    count(grid._Solved, "__call__", "tiles")
    fits = list(fit_grid(make("dense"), 4, 12, ALPHAS))
    assert len(fits) == 4
    # Two variants of two views, one tile each: products once a view, problems solved once an alpha.
    assert counts == {"anchors": 4, "products": 4, "tiles": 4}


def test_seconds_count_shared_work_in_full_but_spent_seconds_only_once():
    fits = list(fit_grid(make("dense"), 4, 12, ALPHAS, variants=["paper"]))
    shared = {(f.stage_seconds["anchors"], f.stage_seconds["products"]) for f in fits}
    assert len(shared) == 1
    total = sum(sum(f.stage_seconds.values()) for f in fits)
    assert sum(f.spent_seconds for f in fits) < total
    last = fits[-1]  # the second alpha: nothing but the graph and what comes after it
    after = {s: t for s, t in last.stage_seconds.items() if s not in ("anchors", "products")}
    assert "graph" in after and last.spent_seconds == pytest.approx(sum(after.values()))
