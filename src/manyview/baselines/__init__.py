"""The methods that multi-view clustering is compared with, one published method a file.

Each is a scikit-learn estimator with the same input rules: ``fit`` takes one 2-D array, or a list,
a dict or ``Views`` of several. Methods for one view take ``view=``, or run on each view in turn
with :func:`fit_each_view`. Sparse views stay sparse; ``SubspaceMVSC`` alone refuses them. A fitted
method has ``labels_``, ``n_iter_``, ``n_features_in_``, ``n_views_`` and ``view_names_``. Those that
came after LMVSC (``SMVSC``, ``AIMC``, ``IMVCCBG``, ``OMSC``, ``EOMSC``, ``FastMICE``) have ``predict``,
and all of these but the last do with samples that lack views. Other packages add methods by entry
points in the group ``manyview.baselines``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from manyview.baselines.base import fit_each_view
from manyview.machine import find_plugins, load_plugin

if TYPE_CHECKING:
    from manyview.baselines.aimc import AIMC
    from manyview.baselines.amgl import AMGL
    from manyview.baselines.e3sc import E3SC
    from manyview.baselines.eomsc import EOMSC
    from manyview.baselines.fastmice import FastMICE
    from manyview.baselines.imvccbg import IMVCCBG
    from manyview.baselines.kmeans import KMeans
    from manyview.baselines.lsc import LSC
    from manyview.baselines.mlrssc import MLRSSC
    from manyview.baselines.mscias import MSCIAS
    from manyview.baselines.omsc import OMSC
    from manyview.baselines.smvsc import SMVSC
    from manyview.baselines.spectral_knn import SpectralKNN
    from manyview.baselines.sscomp import SSCOMP
    from manyview.baselines.subspace_mvsc import SubspaceMVSC
    from manyview.baselines.umap_kmeans import UMAPKMeans

__all__ = [
    "AIMC",
    "AMGL",
    "E3SC",
    "EOMSC",
    "IMVCCBG",
    "LSC",
    "MLRSSC",
    "MSCIAS",
    "OMSC",
    "SMVSC",
    "SSCOMP",
    "FastMICE",
    "KMeans",
    "SpectralKNN",
    "SubspaceMVSC",
    "UMAPKMeans",
    "fit_each_view",
    "names",
]

_MODULES = {
    "KMeans": "kmeans",
    "LSC": "lsc",
    "SSCOMP": "sscomp",
    "E3SC": "e3sc",
    "AMGL": "amgl",
    "MLRSSC": "mlrssc",
    "MSCIAS": "mscias",
    "SubspaceMVSC": "subspace_mvsc",
    "SMVSC": "smvsc",
    "AIMC": "aimc",
    "IMVCCBG": "imvccbg",
    "OMSC": "omsc",
    "EOMSC": "eomsc",
    "FastMICE": "fastmice",
    "SpectralKNN": "spectral_knn",
}

_OPTIONAL = {"UMAPKMeans": "umap_kmeans"}
"""Methods that need a package which manyview does without."""


def names() -> list[str]:
    """Names of the methods, those of the LMVSC paper first, those that other packages add last.

    ``UMAPKMeans`` needs a package of its own and is not among them.

    Examples
    --------
    >>> from manyview.baselines import names
    >>> names()[:3]
    ['KMeans', 'LSC', 'SSCOMP']
    """
    return list(_MODULES | find_plugins("manyview.baselines"))


def __getattr__(name: str) -> Any:
    # Loaded on first use, so that one method does not load what another needs.
    modules = _MODULES | _OPTIONAL
    if name in modules:
        return getattr(importlib.import_module(f"manyview.baselines.{modules[name]}"), name)
    if not name.startswith("_") and name in (others := find_plugins("manyview.baselines")):
        return load_plugin(others[name])
    raise AttributeError(f"module 'manyview.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
