"""Small fits whose reports many tests look at; nobody may change them."""

import numpy as np
import pytest

from manyview import LMVSC, Views
from manyview.report import build_summary
from manyview.report import summary as facts_of_a_report


@pytest.fixture(scope="session")
def fitted(blobs):
    """Give views with names, their true groups, and a model fitted to them."""
    groups = np.arange(240) % 4
    views = Views(dict(zip(("colour", "shape"), blobs(240, 4, (6, 8)), strict=True)), target=groups)
    return views, groups, LMVSC(4, n_repeats=1, random_state=0).fit(views)


@pytest.fixture(scope="session")
def summary(fitted):
    views, _, model = fitted
    return build_summary(model, views, ids=[f"thing {i}" for i in range(240)])


@pytest.fixture
def quick_map(monkeypatch):
    """Place points without t-SNE, where a test does not look at their places."""
    monkeypatch.setattr(
        facts_of_a_report, "lay_out", lambda embedding, placed, *, seed: embedding[:, :2]
    )
