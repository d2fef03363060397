"""Tools: they add what they find to the object they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import manyview
from manyview.estimator import LMVSC
from manyview.views import annotated
from manyview.views.container import Views

__all__ = ["lmvsc"]


def lmvsc(
    data: Any,
    n_clusters: int | str,
    *,
    use_rep: str | Sequence[str] | Mapping[str, str] | None = None,
    key_added: str = "manyview",
    random_state: int = 0,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """Cluster cells that are described in several ways, and write the clusters to ``obs``.

    Raw counts may be passed as they are: whether square roots of shares within a cell, logarithms, or
    logarithms less their mean in each cell suit them is tried on a few cells. Normalised and scaled
    matrices work as well. Cells that a modality lacks are clustered by what they have.

    Parameters
    ----------
    data : MuData or AnnData
        Its modalities are the views; of an AnnData, ``X`` or what ``use_rep`` names. An object that is
        backed by a file stays there, and is read block by block.
    n_clusters : int or "auto"
        Number of clusters.
    use_rep : str, sequence of str or mapping, optional
        The matrices to use: ``"X"``, a key of ``obsm``, or ``"layers/NAME"``. Of an AnnData one, or
        several as views. Of a MuData one for all modalities, or a mapping from modalities (those left
        out are not used) to matrices. By default every ``X``.
    key_added : str, default="manyview"
        Where results go: ``obs[key_added]``, ``obsm["X_" + key_added]``, ``uns[key_added]``.
    random_state : int, default=0
        Seed.
    copy : bool, default=False
        Leave ``data`` as it is, and return an annotated copy.
    **settings
        Other parameters of :class:`~manyview.LMVSC`.

    Returns
    -------
    AnnData, MuData or None
        The copy, if one was asked for. ``obs[key_added]`` holds the clusters, as categories "0", "1",
        ...; ``obsm["X_" + key_added]`` the embedding; ``uns[key_added]`` what the fit used and chose.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from manyview import datasets, sc
    >>> rna, protein = datasets.make_views(200, 3, (30, 8), random_state=0).arrays
    >>> cells = anndata.AnnData(rna, obsm={"protein": protein})
    >>> sc.tl.lmvsc(cells, 3, use_rep=["X", "protein"])
    >>> cells.obs["manyview"].cat.categories.tolist(), cells.obsm["X_manyview"].shape[0]
    (['0', '1', '2'], 200)
    """
    is_backed = getattr(data, "isbacked", False)
    if is_backed and getattr(data, "is_view", False):
        raise ValueError(
            "This is a slice of an object that is backed by a file, to which nothing can be added. "
            "Pass data.to_memory() of it, or the whole object."
        )
    views = _read_views(data, use_rep)
    if copy and is_backed:
        raise ValueError(
            "copy=True would read everything of an object that is backed by a file. With copy=False "
            "the annotations are added in memory and the file is left as it is."
        )
    data = data.copy() if copy else data
    model = LMVSC(n_clusters, random_state=random_state, **settings).fit(views)
    import pandas as pd  # AnnData cannot be without it

    names = [str(cluster) for cluster in range(model.n_clusters_)]
    data.obs[key_added] = pd.Categorical.from_codes(np.asarray(model.labels_), names)
    data.obsm[f"X_{key_added}"] = np.asarray(model.embedding_)
    data.uns[key_added] = _describe(model, use_rep, random_state, settings)
    return data if copy else None


def _read_views(data: Any, use_rep: Any) -> Views:
    if annotated.has_modalities(data):
        if use_rep is not None and not isinstance(use_rep, str | Mapping):
            raise TypeError(
                "Of a MuData, use_rep is one name for all modalities, or a mapping such as "
                f"{{'rna': 'X_pca', 'protein': 'X'}}; got {use_rep!r}."
            )
        return Views(dict(annotated.read_modalities(data, use_rep or "X")))
    if not annotated.is_annotated(data):
        raise TypeError(
            f"sc.tl.lmvsc takes an AnnData or a MuData; got {type(data).__name__}. LMVSC().fit takes "
            "arrays and data frames."
        )
    if isinstance(use_rep, Mapping):
        raise TypeError("Of an AnnData, use_rep is a name or a list of names.")
    keys = ["X"] if use_rep is None else [use_rep] if isinstance(use_rep, str) else list(use_rep)
    if not keys:
        raise ValueError("use_rep is empty: name at least one matrix, or leave it out.")
    return Views({key: annotated.read_matrix(data, key) for key in keys})


def _describe(model: LMVSC, use_rep: Any, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the fit used and chose, of types that h5ad and h5mu files can hold."""
    return {
        "params": {
            "n_clusters": int(model.n_clusters_),
            "use_rep": "X" if use_rep is None else repr(use_rep),
            "random_state": int(seed),
            **{name: repr(value) for name, value in settings.items()},
        },
        "view_names": np.array(model.view_names_, dtype=object),
        "view_weights": np.asarray(model.view_weights_),
        "scaling": np.array([str(kind) for kind in model.scaling_], dtype=object),
        "singular_values": np.asarray(model.singular_values_),
        "choices": np.array(
            [f"{c['parameter']} = {c['value']!r}: {c['why']}" for c in model.choices_], dtype=object
        ),
        "manyview_version": manyview.__version__,
    }
