"""The order of rows says nothing: sorted by class, as files are, or shuffled, scores are the same."""

from __future__ import annotations

import numpy as np
import pytest

from manyview import LMVSC, Views, baselines
from manyview.datasets import make_views
from manyview.metrics import nmi
from manyview.reproduce.methods import SINGLE_VIEW
from manyview.reproduce.tensor import cluster_by_tensor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SLOW = ("E3SC", "MLRSSC", "MSCIAS")
K, SEEDS = 4, range(3)


@pytest.fixture(scope="module")
def views() -> Views:
    """Clusters that overlap, so that scores are far from 1, one class after the other."""
    made = make_views(120, K, (30, 30, 30), separation=5.0, noise=2.0, random_state=0)
    order = np.argsort(made.target, kind="stable")
    return Views([X[order] - X.min() for X in made.arrays], target=made.target[order])


def fit_ours(views, seed):
    model = LMVSC(K, n_anchors=20, scaling="standard", random_state=seed)
    return model.fit(views).labels_


def fit_published(variant):
    def fit(views, seed):
        model = LMVSC.as_published(K, 20, 0.1, variant=variant, random_state=seed)
        return model.fit(views).labels_

    return fit


def fit_baseline(name):
    options = {"view": 0} if name in SINGLE_VIEW else {}

    def fit(views, seed):
        return getattr(baselines, name)(K, random_state=seed, **options).fit_predict(views)

    return fit


def score_orders(fit, views):
    """NMI of every seed in the order of the file, and of as many shuffles."""
    filed = [nmi(views.target, fit(views, seed)) for seed in SEEDS]
    orders = [np.random.default_rng(seed).permutation(len(views)) for seed in SEEDS]
    mixed = [
        nmi(views.target[order], fit(views[order], seed))
        for seed, order in zip(SEEDS, orders, strict=True)
    ]
    return filed, mixed


def gap_and_spread(filed, mixed):
    """How far the means are apart, and three standard errors of that, or what two rows change."""
    errors = np.sqrt((np.var(filed, ddof=1) + np.var(mixed, ddof=1)) / len(filed))
    return abs(np.mean(filed) - np.mean(mixed)), max(3 * errors, 0.03)


@pytest.mark.parametrize(
    "fit",
    [
        pytest.param(fit_ours, id="LMVSC"),
        *(pytest.param(fit_published(v), id=v) for v in ("paper", "released")),
        *(
            pytest.param(fit_baseline(name), id=name, marks=[pytest.mark.slow] * (name in SLOW))
            for name in baselines.names()
        ),
    ],
)
def test_scores_do_not_depend_on_the_order_of_rows(fit, views):
    gap, spread = gap_and_spread(*score_orders(fit, views))
    assert gap <= spread


def test_a_fourier_transform_along_the_rows_is_caught(views):
    def fit(views, seed):
        return cluster_by_tensor(views.arrays, K, seed=seed)

    gap, spread = gap_and_spread(*score_orders(fit, views))
    assert gap > 2 * spread
