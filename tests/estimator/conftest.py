"""Small views with clear groups, and one way to fit them that costs little."""

import numpy as np
import pytest

from manyview import LMVSC


@pytest.fixture
def views(blobs):
    """90 rows of three clear groups in two views."""
    return blobs()


@pytest.fixture
def groups():
    return np.arange(90) % 3


@pytest.fixture(scope="session")
def fit():
    def fit(X, n_clusters=3, *, sample_weight=None, **options):
        cheap = {"random_state": 0, "n_jobs": 1, "n_repeats": 1, "scaling": "standard"}
        return LMVSC(n_clusters, **{**cheap, **options}).fit(X, sample_weight=sample_weight)

    return fit
