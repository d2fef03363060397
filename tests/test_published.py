"""Published figures, and those this library claims: means over seeds on the real data."""

from __future__ import annotations

import numpy as np
import pytest

from manyview import LMVSC, metrics

pytestmark = pytest.mark.slow


def mean_score(make, views, score, n_seeds):
    return np.mean([score(views.target, make(seed).fit(views).labels_) for seed in range(n_seeds)])


@pytest.mark.parametrize(
    ("name", "n_clusters", "least"),
    [("hdigit", 10, 0.93), ("scene15", 15, 0.44), ("leaves100", 100, 0.93)],
)
def test_the_defaults_reach_what_is_claimed_without_labels(data, name, n_clusters, least):
    nmi = mean_score(
        lambda seed: LMVSC(n_clusters, random_state=seed), data(name), metrics.nmi, n_seeds=2
    )
    assert nmi >= least


def test_the_released_script_is_reproduced_on_handwritten(data):
    views = data("handwritten")
    scores = []
    for seed in range(40):
        model = LMVSC.as_published(10, 10, 0.01, variant="released", random_state=seed)
        scores.append(metrics.accuracy(views.target, model.fit(views).labels_))
    assert min(scores) < 0.9165 <= max(scores)  # the paper's figure: a lucky seed
    # Forty seeds of other random streams gave .829, with a standard deviation of .05.
    assert abs(np.mean(scores) - 0.829) <= 3 * 0.05 * (2 / 40) ** 0.5
