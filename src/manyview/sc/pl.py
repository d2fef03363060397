"""Plots: scanpy's own, of what the tools added. They need scanpy."""

from __future__ import annotations

from typing import Any

__all__ = ["confidence", "say", "umap"]


def umap(data: Any, *, key: str = "manyview", **options: Any) -> Any:
    """A map of the cells by scanpy's UMAP, coloured by cluster.

    The UMAP is computed from the neighbours that the clustering wrote, unless ``obsm["X_umap"]`` exists.

    Parameters
    ----------
    data : AnnData or MuData
        Cells that :func:`manyview.sc.tl.lmvsc` has clustered, with ``key_added=key``.
    key : str, default="manyview"
        The name of the clustering.
    **options
        Passed on to ``scanpy.pl.embedding``.
    """
    return _embedding(data, [key], options)


def confidence(data: Any, *, key: str = "manyview", **options: Any) -> Any:
    """Two maps of the cells: how probable each one's cluster is, and how odd each one is.

    Parameters
    ----------
    data, key, **options
        As in :func:`umap`.
    """
    return _embedding(data, [f"{key}_confidence", f"{key}_outlier_score"], options)


def say(data: Any, *, key: str = "manyview", **options: Any) -> Any:
    """A map for each modality: how much it speaks for the cluster that each cell is in.

    Parameters
    ----------
    data, key, **options
        As in :func:`umap`.
    """
    return _embedding(data, [c for c in data.obs if str(c).startswith(f"{key}_say_")], options)


def _embedding(data: Any, colors: list[str], options: dict[str, Any]) -> Any:
    try:
        import scanpy
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("Plots are scanpy's: pip install scanpy.") from error
    if not colors or (lacking := sorted(set(colors) - set(data.obs))):
        what = "no modality's say" if not colors else f"no {lacking[0]!r}"
        raise KeyError(f"There is {what} in obs: call sc.tl.lmvsc first, with neighbors.")
    if "X_umap" not in data.obsm:
        if "neighbors" not in data.uns:
            raise ValueError("There are no neighbours to map: call sc.tl.lmvsc with neighbors=15.")
        scanpy.tl.umap(data)
    return scanpy.pl.embedding(data, basis="umap", color=colors, **options)
