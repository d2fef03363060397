"""Data sets: real ones by name, an embedded one, and made ones.

``load(name)`` looks in the folder named by ``MANYVIEW_DATA``, then in the user's cache, then
downloads. ``digits_views()`` needs nothing.
"""

from manyview.datasets.digits import digits_views
from manyview.datasets.lookup import load
from manyview.datasets.noise import PAPER_NOISE_LEVELS, noisy_views
from manyview.datasets.registry import DatasetInfo, Source, info, names
from manyview.datasets.synthetic import make_subspaces, make_views
from manyview.datasets.uneven import make_uneven

__all__ = [
    "PAPER_NOISE_LEVELS",
    "DatasetInfo",
    "Source",
    "digits_views",
    "info",
    "load",
    "make_subspaces",
    "make_uneven",
    "make_views",
    "names",
    "noisy_views",
]
