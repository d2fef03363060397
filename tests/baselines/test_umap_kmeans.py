import os
import sys

import numpy as np
import pytest

from manyview import datasets
from manyview.baselines import UMAPKMeans
from manyview.metrics import accuracy


@pytest.mark.skipif("MANYVIEW_UMAP" not in os.environ, reason="umap compiles for a minute")
def test_clusters_are_found_on_the_map_and_the_same_seed_gives_the_same_labels():
    pytest.importorskip("umap")
    views = datasets.make_views(90, 3, (6, 9), separation=9.0, random_state=0)
    model = UMAPKMeans(3, n_neighbors=10, random_state=0).fit(views)
    assert accuracy(views.target, model.labels_) > 0.95
    assert model.embedding_.shape == (90, 2)
    np.testing.assert_array_equal(
        UMAPKMeans(3, n_neighbors=10, random_state=0).fit_predict(views), model.labels_
    )


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ModuleNotFoundError, match=r"manyview\[umap\]"):
        UMAPKMeans(2).fit(np.eye(8))
