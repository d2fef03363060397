"""Tools: they add what they find to the object they are given."""

from __future__ import annotations

import ast
import os
import tempfile
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

import manyview
from manyview.errors import CautionWarning, warn_user
from manyview.estimator import LMVSC, load
from manyview.sc.genes import keep_known, keep_variable
from manyview.sc.neighbors import (
    exact_neighbours,
    join_pieces,
    linked_neighbours,
    look_at_cells,
    refuse_too_many,
    write_neighbours,
)
from manyview.sc.scaling import settle_scaling
from manyview.stages.counts import are_counts
from manyview.stages.sampling import spread_evenly
from manyview.views import annotated
from manyview.views.container import Views
from manyview.wording import count

__all__ = ["lmvsc", "lmvsc_predict", "subcluster"]

_COUNTED = ("lognorm", "tf-idf", "clr")
_FEW = 100  # rows that tell whether values are counts


def lmvsc(
    data: Any,
    n_clusters: int | str,
    *,
    use_rep: str | Sequence[str] | Mapping[str, str] | None = None,
    batch_key: str | None = None,
    use_hvg: bool | int | None = None,
    key_added: str = "manyview",
    neighbors: int | None = 15,
    exact_neighbors: bool = False,
    random_state: Any = 0,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """Cluster cells that are described in several ways, and write the clusters to ``obs``.

    Raw counts may be passed as they are: genes, peaks and proteins are recognised by their values, and
    scaled as suits them. Normalised and scaled matrices work as well. Cells that a modality lacks are
    clustered by what they have.

    Parameters
    ----------
    data : MuData or AnnData
        Its modalities are the views; of an AnnData, ``X`` or what ``use_rep`` names. An object that is
        backed by a file stays there, and is read block by block.
    n_clusters : int or "auto"
        Number of clusters.
    use_rep : str, sequence of str or mapping, optional
        The matrices to use: ``"X"``, ``"raw"`` (that of ``data.raw``, with all its genes), a key of
        ``obsm``, or ``"layers/NAME"``. Of an AnnData one, or several as views. Of a MuData one for all
        modalities, or a mapping from modalities (those left out are not used) to matrices. By default
        every ``X``.
    batch_key : str, optional
        A column of ``obs`` that says which batch, donor or study each cell is from: the ``groups`` of
        :meth:`LMVSC.fit <manyview.LMVSC.fit>`. ``uns[key_added]["batch_mixing"]`` is how little
        clusters tell of batches then: from 0, if one follows from the other, to 1. Cells must have all
        modalities.
    use_hvg : bool or int, optional
        How many genes to use of a modality that counts them: the most variable among those of about the
        same mean, chosen in one pass over the cells. By default 2000 where there are more than 5000;
        True is 2000, False all. Counts are divided by the total of all genes even so: the total of
        the genes left out is one more column, "all other genes".
    key_added : str, default="manyview"
        Where results go: ``obs[key_added]``, ``obsm["X_" + key_added]``, ``uns[key_added]``.
    neighbors : int or None, default=15
        How many neighbours of each cell ``obsp`` and ``uns["neighbors"]`` get, where scanpy's UMAP,
        Leiden and PAGA look for them: those that share its anchors most. None leaves both as they are,
        and saves another pass over the cells: no modality's say is written either.
    exact_neighbors : bool, default=False
        Take the nearest cells in the embedding instead; for at most 50 000 cells.
    random_state : int, generator or None, default=0
        Seed, as in :class:`~manyview.LMVSC`.
    copy : bool, default=False
        Leave ``data`` as it is, and return an annotated copy.
    **settings
        Other parameters of :class:`~manyview.LMVSC`.

    Returns
    -------
    AnnData, MuData or None
        The copy, if one was asked for. ``obs[key_added]`` holds the clusters, as categories "0", "1",
        ...; ``obs[key_added + "_confidence"]`` how probable they are; ``obs[key_added +
        "_outlier_score"]`` how odd cells are; ``obs[key_added + "_say_" + modality]`` each modality's
        say ("_" stands for "/", which files cannot have in names); ``obsm["X_" + key_added]`` the
        embedding; ``obsp`` and ``uns["neighbors"]`` the neighbours;
        ``uns[key_added]`` what the fit used and chose, and the model, as the bytes of its file. All
        are written at the end: what fails leaves ``data`` as it was.

    Examples
    --------
    >>> import anndata
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
    _check_names(key_added)
    _check_neighbours(neighbors, views.n_rows, is_exact=exact_neighbors)
    data = data.copy() if copy else data
    batch = None if batch_key is None else _read_batch(data, batch_key)
    shared = {name: settings[name] for name in ("scaling", "engine", "n_jobs") if name in settings}
    whole, views = views, keep_variable(views, use_hvg, **shared)
    kinds, why = settle_scaling(
        whole,
        settings.get("scaling", "auto"),
        has_batches=batch is not None,
        fewer_genes=views is not whole,
    )
    given = {**settings, "scaling": kinds}
    model = LMVSC(n_clusters, random_state=random_state, **given).fit(views, groups=batch)
    columns = _cluster_columns(key_added, model, model.labels_, model.confidence_)
    columns[f"{key_added}_outlier_score"] = np.asarray(model.outlier_score_)
    told = _describe(model, use_rep, random_state, settings, why)
    if batch_key is not None:
        told |= {"batch_key": batch_key, "batch_mixing": model.batch_mixing_}
    if neighbors is not None:
        said, graph = look_at_cells(model.model_, model.prepare_rows(views, batch))
        names = _say_names(key_added, model.view_names_)
        columns |= dict(zip(names, said.T, strict=True))
        n_neighbors = min(neighbors, views.n_rows - 1)
        if exact_neighbors:
            found = exact_neighbours(np.asarray(model.embedding_), n_neighbors)
        else:
            seed = int(random_state) if isinstance(random_state, Integral) else 0
            found = linked_neighbours(graph, n_neighbors, seed=seed)
        found = join_pieces(found, np.asarray(model.embedding_))
    _write(data, key_added, columns, model.embedding_)
    data.uns[key_added] = told
    if neighbors is not None:
        write_neighbours(data, found, key_added, count=n_neighbors)
    return data if copy else None


def lmvsc_predict(data: Any, reference: Any, *, key_added: str = "manyview") -> None:
    """Label cells by the model that :func:`lmvsc` left in another object.

    Parameters
    ----------
    data : MuData or AnnData
        New cells, with the modalities and columns that were fitted; their order does not matter where
        they have names.
    reference : MuData, AnnData or LMVSC
        What was clustered, or a model.
    key_added : str, default="manyview"
        Where the reference has its results, and where those of ``data`` go: ``obs[key_added]``,
        ``obs[key_added + "_confidence"]``, ``obsm["X_" + key_added]``. If the reference was clustered
        with a ``batch_key``, ``data.obs`` must have that column too; cells of a batch that the reference
        does not have are scaled as all of its cells together, with a warning.

    Examples
    --------
    >>> import anndata
    >>> from manyview import datasets, sc
    >>> (rna,) = datasets.make_views(200, 3, (30,), random_state=0).arrays
    >>> old, new = anndata.AnnData(rna[:150]), anndata.AnnData(rna[150:])
    >>> sc.tl.lmvsc(old, 3)
    >>> sc.tl.lmvsc_predict(new, old)
    >>> new.obs["manyview"].cat.categories.tolist()
    ['0', '1', '2']
    """
    model, found = reference, {}
    if not isinstance(reference, LMVSC):
        if not hasattr(reference, "uns"):
            raise TypeError(
                "reference must be an AnnData or MuData that sc.tl.lmvsc has clustered, or a model; got "
                f"{type(reference).__name__}."
            )
        found = reference.uns.get(key_added, {})
        if "model" not in found:
            raise KeyError(
                f"The reference has no model in uns[{key_added!r}]; cluster it with sc.tl.lmvsc first."
            )
        model = _unpack(found["model"])
    views, batch = _read_as_fitted(data, found, model)
    if list(views.names) == ["X"] and "X" not in model.view_names_ and model.n_views_ > 1:
        raise TypeError(
            f"The model knows modalities, {list(model.view_names_)}, but the new cells are an AnnData. "
            f"Say which of them it is: mudata.MuData({{{model.view_names_[0]!r}: cells}}), for example."
        )
    _warn_of_other_values(views, model, found.get("choices", ()))
    labels, confidence = model.predict_with_confidence(views, groups=batch)
    columns = _cluster_columns(key_added, model, labels, confidence)
    _write(data, key_added, columns, model.transform(views, groups=batch))


def subcluster(
    data: Any,
    cluster: str | Sequence[str],
    n_clusters: int | str = "auto",
    *,
    key: str = "manyview",
    key_added: str | None = None,
    use_rep: str | Sequence[str] | Mapping[str, str] | None = None,
    random_state: int = 0,
    **settings: Any,
) -> None:
    """Cluster the cells of one or several clusters anew, by themselves.

    Parameters
    ----------
    data : MuData or AnnData
        With clusters in ``obs[key]``.
    cluster : str or sequence of str
        The clusters whose cells are taken.
    n_clusters : int or "auto", default="auto"
        How many to make of them.
    key : str, default="manyview"
        Where the clusters are.
    key_added : str, optional
        Where the new ones go: "3,0", "3,1", ... for parts of cluster "3", and all others as they were.
        ``key + "_sub"`` by default.
    use_rep
        As in :func:`lmvsc`; by default what the clusters were made from, with batches removed as well.
    random_state, **settings
        As in :class:`~manyview.LMVSC`.

    Examples
    --------
    >>> import anndata
    >>> from manyview import datasets, sc
    >>> (rna,) = datasets.make_views(300, 4, (30,), random_state=0).arrays
    >>> cells = anndata.AnnData(rna)
    >>> sc.tl.lmvsc(cells, 2)
    >>> sc.tl.subcluster(cells, "1", 2)
    >>> sorted(cells.obs["manyview_sub"].unique())
    ['0', '1,0', '1,1']
    """
    import pandas as pd

    is_one = cluster is None or np.isscalar(cluster)
    chosen = [str(each) for each in ([cluster] if is_one else cluster)]
    if not chosen:
        raise ValueError("cluster is empty: name at least one of the clusters.")
    clusters = _read_column(data, key)
    known = clusters.notna().to_numpy()
    old = clusters[known].astype(str)
    if unknown := sorted(set(chosen) - set(old)):
        raise ValueError(f"obs[{key!r}] has no cluster {unknown[0]!r}; it has {sorted(set(old))}.")
    new = clusters.astype(object).to_numpy(copy=True)  # cells without a cluster keep none
    new[known] = old
    is_chosen = np.isin(new, chosen)
    if use_rep is None:
        found = data.uns.get(key, {})
        fitted = _unpack(found["model"]) if "model" in found else None
        views, batch = _read_as_fitted(data, found, fitted)
        if fitted is not None and batch is not None:
            views = fitted.prepare_rows(views, batch)
            settings = {"scaling": "energy", **settings}
        elif fitted is not None:  # some of the genes may look like anything
            kinds = [kind if kind in _COUNTED else "auto" for kind in fitted.scaling_]
            settings = {"scaling": kinds, **settings}
    else:
        views = _read_views(data, use_rep)
    views = views[np.flatnonzero(is_chosen)]
    kinds, _ = settle_scaling(views, settings.pop("scaling", "auto"))
    model = LMVSC(n_clusters, scaling=kinds, random_state=random_state, **settings).fit(views)
    name = ",".join(chosen)
    new[is_chosen] = [f"{name},{label}" for label in np.asarray(model.labels_)]
    data.obs[key_added or f"{key}_sub"] = pd.Categorical(new)


def _read_as_fitted(data: Any, found: Mapping[str, Any], model: LMVSC | None) -> tuple[Views, Any]:
    """What clusters with these results in ``uns`` were made from, ``X`` without any; and the batches."""
    views = _read_views(data, _read_use_rep(found["params"]) if "params" in found else None)
    if model is not None:
        views = keep_known(
            views, dict(zip(model.view_names_, model.feature_names_per_view_, strict=True))
        )
    key = found.get("batch_key")
    return views, None if key is None else _read_batch(data, str(key))


def _warn_of_other_values(views: Views, model: LMVSC, choices: Iterable[str]) -> None:
    """Warn where raw counts were fitted, and new cells come with something else."""
    fitted = [text for text in map(str, choices) if text.startswith("scaling") and "counts" in text]
    few = views[spread_evenly(views.n_rows, _FEW)].load()
    for name, kind in zip(model.view_names_, model.scaling_, strict=True):
        was_counted = any(text.startswith(f"scaling = {{{name!r}: {kind!r}}}") for text in fitted)
        if was_counted and name in few.names and not are_counts(few[name]):
            warn_user(
                f"View {name!r} was fitted to raw counts, but that of the new cells holds other "
                "numbers, or only zeros. Labels may be wrong: pass raw counts.",
                CautionWarning,
            )


def _read_column(data: Any, key: str) -> Any:
    if isinstance(key, Hashable) and key in data.obs:
        return data.obs[key]
    message = f"There is no {key!r} in obs, which has {sorted(map(str, data.obs))}."
    for name, part in data.mod.items() if annotated.has_modalities(data) else ():
        if isinstance(key, Hashable) and key in part.obs:
            message += (
                f" Modality {name!r} has it: data.obs[{key!r}] = data[{name!r}].obs[{key!r}]."
            )
            break
    raise KeyError(message)


def _read_batch(data: Any, key: str) -> Any:
    batch = _read_column(data, key)
    if batch.isna().any():
        raise ValueError(
            f"obs[{key!r}] is missing for {count(int(batch.isna().sum()), 'cell')}. Leave them out, or "
            "fill in a batch."
        )
    return batch.to_numpy().astype(str)


def _check_names(key: str) -> None:
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(
            f"key_added must be a name without '/', which files cannot hold; got {key!r}."
        )


def _check_neighbours(number: Any, n_cells: int, *, is_exact: bool) -> None:
    is_count = isinstance(number, Integral) and not isinstance(number, bool)
    if number is not None and not (is_count and number >= 1):
        raise ValueError(f"neighbors must be None or a whole number from 1 on; got {number!r}.")
    if number is not None and is_exact:
        refuse_too_many(n_cells)


def _say_names(key: str, views: Sequence[str]) -> list[str]:
    """The columns for what views say: no two the same, and such as h5ad files can have."""
    names = [f"{key}_say_{name.replace('/', '_')}" for name in views]
    return [
        name if names.count(name) == 1 else f"{name}_{number}" for number, name in enumerate(names)
    ]


def _cluster_columns(key: str, model: LMVSC, labels: Any, confidence: Any) -> dict[str, Any]:
    import pandas as pd  # AnnData cannot be without it

    names = [str(cluster) for cluster in range(model.n_clusters_)]
    clusters = pd.Categorical.from_codes(np.asarray(labels), names)
    return {key: clusters, f"{key}_confidence": np.asarray(confidence)}


def _write(data: Any, key: str, columns: Mapping[str, Any], embedding: Any) -> None:
    for name, column in columns.items():
        data.obs[name] = column
    data.obsm[f"X_{key}"] = np.asarray(embedding)


def _pack(model: LMVSC) -> Any:
    """The bytes of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mv"
        model.save(path)
        return np.frombuffer(path.read_bytes(), np.uint8)


def _unpack(content: Any) -> LMVSC:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mv")
        Path(path).write_bytes(np.asarray(content, np.uint8).tobytes())
        return load(path)


def _read_use_rep(params: Mapping[str, Any]) -> Any:
    written = params["use_rep"]
    return None if written == "X" else ast.literal_eval(written)


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
    keys = ["X"] if use_rep is None else [use_rep] if isinstance(use_rep, str) else use_rep
    keys = list(keys) if isinstance(keys, Iterable) and not isinstance(keys, Mapping) else [keys]
    if not all(isinstance(key, str) for key in keys):
        raise TypeError(f"Of an AnnData, use_rep is a name or a list of names; got {use_rep!r}.")
    if not keys or len(set(keys)) < len(keys):
        raise ValueError(
            "use_rep must name at least one matrix, and none of them twice, or be left out; got "
            f"{use_rep!r}."
        )
    return Views({key: annotated.read_matrix(data, key) for key in keys})


def _plain(use_rep: Any) -> Any:
    if isinstance(use_rep, Mapping):
        return {str(name): str(key) for name, key in use_rep.items()}
    return use_rep if isinstance(use_rep, str) else [str(key) for key in use_rep]


def _describe(
    model: LMVSC, use_rep: Any, seed: Any, settings: Mapping[str, Any], why: Mapping[str, str]
) -> dict[str, Any]:
    """What the fit used and chose, of types that h5ad and h5mu files can hold.

    ``why`` tells of views whose scaling was settled before.
    """
    kinds = dict(zip(model.view_names_, model.scaling_, strict=True))
    chosen = [
        *({"parameter": "scaling", "value": {name: kinds[name]}, "why": why[name]} for name in why),
        *(
            each
            for each in model.choices_
            if each["parameter"] != "scaling" or not set(each["value"]) & set(why)
        ),
    ]
    return {
        "params": {
            "n_clusters": int(model.n_clusters_),
            "use_rep": "X" if use_rep is None else repr(_plain(use_rep)),
            "random_state": int(seed) if isinstance(seed, Integral) else repr(seed),
            **{name: repr(value) for name, value in settings.items()},
        },
        "view_names": np.array(model.view_names_, dtype=object),
        "view_weights": np.asarray(model.view_weights_),
        "scaling": np.array([str(kind) for kind in model.scaling_], dtype=object),
        "singular_values": np.asarray(model.singular_values_),
        "choices": np.array(
            [f"{each['parameter']} = {each['value']!r}: {each['why']}" for each in chosen],
            dtype=object,
        ),
        "manyview_version": manyview.__version__,
        "model": _pack(model),
    }
