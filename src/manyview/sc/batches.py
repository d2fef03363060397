"""Batches: modalities scaled, and what is common to a batch taken off its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.axes import Axes
from manyview.stages.counts import recognise_counts
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import Scaler, fit_scaler
from manyview.views.container import Views
from manyview.views.matching import align_columns, match_views, refuse_other_columns
from manyview.views.selection import find_present
from manyview.wording import first_few

Array = npt.NDArray[np.float64]

_SAMPLE, _ROWS = 20_000, 4096
_AXES = 50  # that wider modalities are turned to
_PROTEINS = 500  # columns, fewer of which may be proteins alone


@dataclass(frozen=True)
class Batches:
    """How modalities are scaled, and the mean of each batch then, which is taken off its cells."""

    names: tuple[str, ...]  # of the batches
    scalers: tuple[Scaler, ...]  # one a view
    means: tuple[Array, ...]  # (b, p) a view
    columns: tuple[Sequence[str] | None, ...]  # names of each view's columns, where it has them

    @classmethod
    def of(cls, views: Views, batch: npt.NDArray[Any], scaling: Any) -> Batches:
        """From all cells; every batch counts by its own cells only, however few they are."""
        refuse_incomplete(views)
        names, codes, sizes = np.unique(batch.astype(str), return_inverse=True, return_counts=True)
        _refuse_alone(names[sizes == 1])
        few = views[spread_evenly(views.n_rows, _SAMPLE)].arrays
        kinds = _kinds_for(few, scaling)
        each = zip(few, views.names, kinds, strict=True)
        scalers = tuple(
            fit_scaler(X, name=name, kind=kind, n_axes=_AXES if X.shape[1] > _AXES else None)
            for X, name, kind in each
        )
        members = sparse.csr_array(
            (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(names), len(codes))
        )
        scaled = [_scale(X, scaler) for X, scaler in zip(views.arrays, scalers, strict=True)]
        means = tuple(members @ rows / sizes[:, None] for rows in scaled)
        return cls(tuple(names.tolist()), scalers, means, tuple(views.feature_names))

    def correct(self, views: Views, batch: npt.NDArray[Any]) -> Views:
        """Scaled cells less their batch's mean; of a batch that is not known, less that of all."""
        fitted = [scaler.name for scaler in self.scalers]
        widths = [len(scaler.shift) for scaler in self.scalers]
        views = align_columns(
            match_views(views, fitted, widths, by_name=True), fitted, self.columns
        )
        refuse_other_columns(views, fitted, widths)
        refuse_incomplete(views)
        places = {name: place for place, name in enumerate(self.names)}
        codes = np.array([places.get(name, len(places)) for name in batch.astype(str)])
        arrays = {}
        for name, X, scaler, means in zip(
            views.names, views.arrays, self.scalers, self.means, strict=True
        ):
            # Scaled rows have mean zero over all cells.
            arrays[name] = _scale(X, scaler) - np.vstack([means, np.zeros(means.shape[1])])[codes]
        return Views(arrays, ids=views.ids)

    def to_dict(self) -> dict[str, Any]:
        """Plain arrays and numbers, as files of cells can hold them."""
        found: dict[str, Any] = {"names": np.array(self.names, dtype=object)}
        each = zip(self.scalers, self.means, self.columns, strict=True)
        for number, (scaler, means, columns) in enumerate(each):
            axes = scaler.axes
            found[f"view_{number}"] = {
                "name": scaler.name,
                "kind": str(scaler.kind),
                "shift": scaler.shift,
                "scale": scaler.scale,
                "unit": float(scaler.unit),
                "means": means,
                **({} if columns is None else {"columns": np.array(columns, dtype=object)}),
                **({} if scaler.rarity is None else {"rarity": scaler.rarity}),
                **({} if axes is None else {"axes": axes.directions, "variances": axes.variances}),
            }
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Batches:
        """From what :meth:`to_dict` gave."""
        scalers, means, columns = [], [], []
        for number in range(len(found) - 1):
            part = found[f"view_{number}"]
            axes = (
                Axes(np.asarray(part["axes"]), np.asarray(part["variances"]))
                if "axes" in part
                else None
            )
            scaler = Scaler(
                str(part["name"]), str(part["kind"]), np.asarray(part["shift"]),
                np.asarray(part["scale"]), unit=float(part["unit"]),
                rarity=np.asarray(part["rarity"]) if "rarity" in part else None, axes=axes,
            )  # fmt: skip
            scaler.check()
            scalers.append(scaler)
            means.append(np.asarray(part["means"]))
            named = part.get("columns")
            columns.append(None if named is None else [str(name) for name in named])
        names = tuple(str(name) for name in np.asarray(found["names"]))
        return cls(names, tuple(scalers), tuple(means), tuple(columns))


def refuse_incomplete(views: Views) -> None:
    """Refuse what batches cannot be taken off from."""
    if not views.is_in_memory:
        raise ValueError(
            "batch_key takes cells that are in memory: pass data.to_memory(), or leave batch_key out."
        )
    for name, array in views.items():
        if find_present(array) is not None:
            raise ValueError(
                f"Some cells lack modality {name!r}, and batch_key takes cells that have all. Leave "
                "out these cells, or batch_key."
            )


def _refuse_alone(names: npt.NDArray[Any]) -> None:
    """Refuse cells that are a batch of their own: nothing is left of them without its mean."""
    if len(names):
        raise ValueError(
            f"Batches of one cell cannot be corrected: {first_few(names.tolist())}. Join them with "
            "others, leave out these cells, or label them afterwards with sc.tl.lmvsc_predict."
        )


def _kinds_for(arrays: Sequence[Any], scaling: Any) -> tuple[str, ...]:
    """The kind of each view: as given; what counts of molecules have; else "standard"."""
    is_one = scaling is None or isinstance(scaling, str)
    given = [scaling] * len(arrays) if is_one else list(scaling)
    if len(given) != len(arrays):
        raise ValueError(f"scaling has {len(given)} kinds for {len(arrays)} views.")
    allowed = ("auto", "standard", "hellinger", "unit", "energy", "log", "clr", "lognorm", "tf-idf")
    for kind in given:
        if kind not in allowed:
            raise ValueError(
                f"With batch_key, scaling is one of {', '.join(allowed)}; got {kind!r}."
            )
    found = [
        known[0] if known else "clr" if _may_be_proteins(X) else "standard"
        for known, X in zip(recognise_counts(arrays, are_cells=True), arrays, strict=True)
    ]
    return tuple(auto if kind == "auto" else kind for kind, auto in zip(given, found, strict=True))


def _may_be_proteins(X: Any) -> bool:
    """Whether these are whole numbers from 0 on in few columns: where batches are, they are counts."""
    values = X.data if sparse.issparse(X) else X
    is_narrow = 2 <= X.shape[1] < _PROTEINS
    return is_narrow and values.min(initial=0) >= 0 and bool((values == np.rint(values)).all())


def _scale(X: Any, scaler: Scaler) -> Array:
    blocks = range(0, X.shape[0], _ROWS)
    return np.concatenate(
        [scaler.apply(X[start : start + _ROWS], start).dense() for start in blocks]
    )
