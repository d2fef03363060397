"""Made views that tests of several baselines cluster."""

import pytest

from manyview import datasets


@pytest.fixture(scope="session")
def apart():
    """Three clusters far apart, in two views."""
    return datasets.make_views(150, 3, (8, 10), separation=9.0, random_state=0)


@pytest.fixture(scope="session")
def overlapping():
    """Four clusters that reach into each other, in three views."""
    return datasets.make_views(200, 4, (12, 9, 20), separation=4.0, noise=2.0, random_state=0)
