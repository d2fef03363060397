"""How good a clustering is, without labels."""

import numpy as np

from manyview import LMVSC
from manyview.datasets import make_views
from manyview.pipeline.label_free import sampled_silhouette, score_without_labels


def test_the_silhouette_of_one_cluster_is_zero():
    assert sampled_silhouette(np.zeros((5, 2)), np.zeros(5, np.int32)) == 0.0


def test_the_right_number_of_clusters_scores_best():
    views = make_views(240, 3, (4, 5), random_state=0)
    models = [LMVSC(k, n_repeats=1, random_state=0).fit(views) for k in (2, 3, 6)]
    scores = [score_without_labels(model.model_, views) for model in models]
    assert max(scores) == scores[1] <= 1
    assert models[1].score(views) == scores[1]
