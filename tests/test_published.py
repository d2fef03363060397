"""Published figures, and those this library claims: means over seeds on the real data."""

from __future__ import annotations

import numpy as np
import pytest

from manyview import LMVSC, metrics

pytestmark = pytest.mark.slow


def score_seeds(make, views, score, seeds):
    return [score(views.target, make(seed).fit(views).labels_) for seed in seeds]


@pytest.mark.parametrize(
    ("name", "n_clusters", "n_seeds", "least"),
    [("hdigit", 10, 1, 0.93), ("scene15", 15, 2, 0.44), ("leaves100", 100, 2, 0.93)],
)
def test_the_defaults_reach_what_is_claimed_without_labels(data, name, n_clusters, n_seeds, least):
    nmi = score_seeds(
        lambda seed: LMVSC(n_clusters, random_state=seed), data(name), metrics.nmi, range(n_seeds)
    )
    assert np.mean(nmi) >= least


def test_the_released_script_is_reproduced_on_handwritten(data):
    scores = score_seeds(
        lambda seed: LMVSC.as_published(10, 10, 0.01, variant="released", random_state=seed),
        data("handwritten"),
        metrics.accuracy,
        range(16, 28),  # of the first forty seeds, these have the two lucky ones
    )
    assert min(scores) < 0.9165 <= max(scores)  # the paper's figure: a lucky seed
    # Forty seeds of other random streams gave .829, with a standard deviation of .05.
    assert abs(np.mean(scores) - 0.829) <= 3 * 0.05 * (1 / len(scores) + 1 / 40) ** 0.5
