"""LMVSC as users meet it, as it was published, and as it is read from a file."""

from manyview.estimator.lmvsc import LMVSC
from manyview.estimator.loading import load
from manyview.estimator.published import PublishedLMVSC

__all__ = ["LMVSC", "PublishedLMVSC", "load"]
