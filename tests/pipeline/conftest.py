"""What tests of the pipeline share: a fitted model, and its file."""

import pytest

from manyview import LMVSC


@pytest.fixture(scope="session")
def fitted(blobs):
    """One fitted model for all tests that change none."""
    cheap = {"n_jobs": 1, "n_repeats": 1, "scaling": "standard"}
    return LMVSC(3, random_state=0, **cheap).fit(blobs())


@pytest.fixture
def saved(fitted, tmp_path):
    """The path of a saved model."""
    path = tmp_path / "model.mv"
    fitted.save(path)
    return path
