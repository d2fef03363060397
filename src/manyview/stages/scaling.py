"""Sampled statistics -> how a block of rows is scaled.

Every kind of scaling but None ends with centred rows of unit mean squared norm, a view's energy
(measured on the sample). Centring changes nothing in the simplex problem, so it is done with None
too: it keeps products accurate. Sparse rows stay sparse: their centre is carried along and folded into
products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.errors import InputError
from manyview.stages.axes import EXACT_WIDTH, Axes, count_lasting, find_axes
from manyview.stages.counts import rarity, row_totals
from manyview.stages.finite import is_usable, refuse_unusable, refuse_values
from manyview.stages.mapping import (
    BY_RANK,
    ValueMap,
    map_dense,
    map_sparse,
    mapped_moments,
    row_blocks,
)
from manyview.stages.principal import are_principal
from manyview.stages.quantiles import Quantiles, sample_quantiles
from manyview.stages.rows import ScaledRows
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Block
from manyview.views.selection import PartialView, number_present, split_rows

Array = npt.NDArray[np.float64]

KINDS = (
    "standard", "normal-scores", "mixed", "hellinger", "unit", "energy", "log", "clr", "lognorm",
    "tf-idf", None,
)  # fmt: skip

COUNTED = ("lognorm", "tf-idf")
"""Kinds for wide counts of molecules: nearly all zero, and yet not like text."""
_DEPTH = 0.75  # correlation of an axis with how much was counted in rows, from which it is that
_NEARLY_ALL = 0.93
AUTO_AXES = 50
"""Axes that a view has, where nobody has said how many."""
_AXES_ROWS, _AXES_ROWS_OF_WIDE = 5000, 2000  # that axes are found by; those of wide views take long
_TOO_LARGE = "View {!r} has values too large to be squared and summed. Scale it down."
_LARGE_IN_SINGLE = 1e30  # values from which products of so many may be no numbers
_MAPPED_ROWS, _MAPPED_VALUES = 4096, 1 << 23  # of a sample that is mapped once


@dataclass(frozen=True)
class Scaler:
    """How rows of one view are scaled."""

    name: str  # of the view, for error messages
    kind: str | None  # one of KINDS
    shift: Array  # (d,), taken off after what the kind does to single values or rows
    scale: Array  # (d,), multiplied then
    quantiles: Quantiles | None = None  # of each column in the sample, for normal scores
    why: str = ""  # this kind, if it was chosen automatically
    zero_share: float = 0.0  # in the sample
    energy: float = 1.0  # mean squared norm of scaled rows: 1, unless the kind is None
    unit: float = 1.0  # what values are divided by before the logarithm; row totals by "lognorm"
    rarity: Array | None = None  # (d,), what values are multiplied by before all else, for "tf-idf"
    axes: Axes | None = None  # scaled rows are coordinates along these, if there are any
    is_applied: bool = False  # whether rows come scaled already

    def check(self) -> None:
        """Raise ValueError unless the arrays fit together, as those of a damaged file may not."""
        d = len(self.shift)
        tables = () if self.quantiles is None else (self.quantiles.values, self.quantiles.scores)
        if d == 0 or len(self.scale) != d or any(len(table) != d for table in tables):
            raise ValueError(f"the scaling of view {self.name!r} does not fit its {d} columns")
        if (self.kind in BY_RANK) != bool(tables) or len({t.shape for t in tables}) > 1:
            raise ValueError(f"the quantiles of view {self.name!r} do not fit its scaling")
        if (self.kind == "tf-idf") != (self.rarity is not None) or (
            self.rarity is not None and len(self.rarity) != d
        ):
            raise ValueError(f"the weights of view {self.name!r} do not fit its scaling")
        if self.axes is not None:
            shape, variances = self.axes.directions.shape, self.axes.variances
            if shape != (d, len(variances)) or not (variances > 0).all() or len(variances) == 0:
                raise ValueError(f"the axes of view {self.name!r} do not fit its columns")

    @property
    def width(self) -> int:
        """Number of columns of scaled rows."""
        return len(self.shift) if self.axes is None else len(self.axes.variances)

    def axis_weights(self, whitening: float) -> Array | None:
        """What coordinates along the axes are multiplied by to even them out."""
        return None if self.axes is None else self.axes.weights(whitening)

    @property
    def is_like_text(self) -> bool:
        """Whether nearly all is zero: every row has columns that few others have."""
        return self.zero_share > _NEARLY_ALL and self.kind not in ("mixed", *COUNTED)

    @property
    def is_linear(self) -> bool:
        """Whether scaled values can be turned back column by column."""
        return self.kind in ("standard", "energy", None)

    def invert(self, rows: Array, whitening: float = 0.0) -> Array:
        """Scaled rows, evened out by ``whitening``, in the view's own units (for a linear scaling)."""
        if self.axes is not None:
            rows = rows / self.axes.weights(whitening) @ self.axes.directions.T
        used = self.scale > 0
        return np.where(used, rows / np.where(used, self.scale, 1.0), 0.0) + self.shift

    def apply(self, block: Block, first_row: int = 0) -> ScaledRows:
        """Scale the rows that are there; ``first_row`` is the first one's number, for messages."""
        block, present = split_rows(block)
        if self.is_applied:
            return ScaledRows(block, present=present)
        values = block.data if sparse.issparse(block) else block
        if not is_usable(values):
            numbers = np.arange(block.shape[0]) if present is None else np.flatnonzero(present)
            refuse_values(block, self.name, first_row + numbers)
        turned = self._turn_in_single(block)
        if turned is not None:
            return ScaledRows(turned, present=present)
        rows = self._apply_sparse(block) if sparse.issparse(block) else self._apply_dense(block)
        if self.axes is not None:
            rows = ScaledRows(rows.products(self.axes.directions))
        return replace(rows, present=present)

    def _apply_dense(self, block: npt.NDArray[Any]) -> ScaledRows:
        # In C order whatever the input has: products must not depend on how rows are stored.
        return self.of_mapped(map_dense(np.ascontiguousarray(block), self._mapping))

    def _turn_in_single(self, block: Block) -> Array | None:
        """Coordinates of wide rows along the axes by a product in single precision.

        None if their values are not only shifted and scaled, or too large or small for that.
        """
        if sparse.issparse(block) or self._axes_in_single is None:
            return None
        centred = np.empty(block.shape, np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            # In double: the answer is the same whatever precision the same numbers come in.
            np.subtract(block, self.shift, out=centred, dtype=np.float64, casting="same_kind")
            turned = (centred @ self._axes_in_single).astype(np.float64)
            return turned if np.isfinite(turned.sum()) else None

    @cached_property
    def _axes_in_single(self) -> npt.NDArray[np.float32] | None:
        """What centred raw rows are multiplied by (d, p)."""
        is_wide = self.axes is not None and len(self.shift) > EXACT_WIDTH
        if not is_wide or self.kind not in ("standard", "energy"):
            return None
        assert self.axes is not None
        scale = self.scale[self.scale > 0]
        if np.concatenate([scale, 1.0 / scale]).max() > _LARGE_IN_SINGLE:
            return None
        return (self.scale[:, None] * self.axes.directions).astype(np.float32)

    def of_mapped(self, mapped: npt.NDArray[Any], out: Array | None = None) -> ScaledRows:
        """Dense rows, on which the kind has done its work on single values or rows, scaled."""
        rows = np.subtract(mapped, self.shift, out=out, dtype=np.float64)
        rows *= self.scale
        return ScaledRows(rows)

    def _apply_sparse(self, block: sparse.csr_array) -> ScaledRows:
        mapped, zero = map_sparse(block, self._mapping)
        values = mapped.data * self.scale[mapped.indices]
        rows = sparse.csr_array((values, mapped.indices, mapped.indptr), shape=mapped.shape)
        lean = None
        if self.kind == "clr":
            means = np.asarray(mapped.sum(axis=1)).ravel() / mapped.shape[1]
            lean = means[:, None], self.scale[None, :]
        return ScaledRows(rows, (self.shift - zero) * self.scale, lean=lean)

    @property
    def _mapping(self) -> ValueMap:
        return ValueMap(self.kind, self.quantiles, self.unit, self.rarity)


def largest_width(scalers: Sequence[Scaler]) -> int:
    """Columns that rows take while they are scaled: of the widest view, or of all as they come out."""
    widest = max(len(scaler.shift) for scaler in scalers)
    return max(widest, sum(scaler.width for scaler in scalers))


def apply_to_sample(scaler: Scaler, array: Any) -> tuple[Any, Scaler]:
    """A sample's rows of a view along its axes, and the scaler that leaves such rows as they are.

    Without axes both stay: scaled rows would be another copy of the sample.
    """
    if scaler.axes is None:
        return array, scaler
    rows, _ = split_rows(array)
    parts = [scaler.apply(block).matrix for block in row_blocks(rows)]
    return _as_applied(scaler, array, np.concatenate(parts))


def _as_applied(scaler: Scaler, array: Any, turned: Any) -> tuple[Any, Scaler]:
    present = split_rows(array)[1]
    if present is not None:
        turned = PartialView(turned, number_present(present))
    return turned, replace(scaler, is_applied=True)


def fit_to_sample(
    sample: Block,
    *,
    name: str,
    kind: str | None,
    n_axes: int | str | None,
    auto_axes: int = AUTO_AXES,
) -> tuple[Scaler, tuple[Any, Scaler]]:
    """What :func:`fit_scaler` and then :func:`apply_to_sample` give, values of few rows mapped once.

    ``auto_axes`` are as many axes as "auto" stands for.
    """
    scaler, rows = _fit(
        sample, name=name, kind=kind, numbers=None, n_axes=n_axes, auto_axes=auto_axes
    )
    if rows is None or scaler.axes is None:
        return scaler, apply_to_sample(scaler, sample)
    return scaler, _as_applied(scaler, sample, rows.products(scaler.axes.directions))


def fit_scaler(
    sample: Block,
    *,
    name: str,
    kind: str | None,
    numbers: npt.NDArray[np.int64] | None = None,
    n_axes: int | str | None = None,
) -> Scaler:
    """The scaler of a view, from a sample of its rows.

    The sample (n, d) is raw; rows that are missing do not count. ``kind`` is one of :data:`KINDS`, or
    "auto": see :func:`choose_kind`. With ``n_axes``, rows become their coordinates along so many
    principal axes; "auto" is 50, but none of views that are like text, mixed or not scaled. ``name`` and
    ``numbers`` (n,), those of the sampled rows, are for error messages.

    Examples
    --------
    >>> scaler = fit_scaler(np.array([[0.0, 10.0], [2.0, 30.0]]), name="a", kind="standard")
    >>> scaler.apply(np.array([[1.0, 20.0]])).matrix
    array([[0., 0.]])
    """
    scaler, _ = _fit(
        sample, name=name, kind=kind, numbers=numbers, n_axes=n_axes, auto_axes=AUTO_AXES
    )
    return scaler


def _fit(
    sample: Block,
    *,
    name: str,
    kind: str | None,
    numbers: npt.NDArray[np.int64] | None,
    n_axes: int | str | None,
    auto_axes: int,
) -> tuple[Scaler, ScaledRows | None]:
    """A scaler, and the sample's scaled rows before they are turned, if they take little memory."""
    sample = usable_rows(sample, name=name, numbers=numbers)
    zero_share, why = _zero_share(sample), ""
    if kind == "auto":
        kind, why = choose_kind(sample, zero_share)
    mapping = ValueMap(
        kind,
        sample_quantiles(sample, keep_flags=kind == "mixed") if kind in BY_RANK else None,
        _unit_for(kind, sample),
        rarity(sample) if kind == "tf-idf" else None,
    )
    is_small = (
        sample.shape[0] <= _MAPPED_ROWS or sample.shape[0] * sample.shape[1] <= _MAPPED_VALUES
    )
    mapped = None
    if not sparse.issparse(sample) and is_small:
        mapped = np.empty(sample.shape)
        for rows, block in zip(row_blocks(mapped), row_blocks(sample), strict=True):
            rows[:] = map_dense(block, mapping)
    mean, variance = mapped_moments(sample, mapping, mapped)
    if not np.isfinite(variance).all():
        raise InputError(_TOO_LARGE.format(name))
    scale = np.ones_like(mean)
    if kind in ("standard", "log"):
        changes = variance > 0
        scale = np.where(changes, 1.0 / np.sqrt(np.where(changes, variance, 1.0)), 0.0)
    # Where rows are all alike, any number will do.
    energy = float((variance * scale**2).sum()) or 1.0
    if kind is not None:
        scale, energy = scale / np.sqrt(energy), 1.0
    scaler = Scaler(
        name, kind, mean, scale, mapping.quantiles, why, zero_share, energy, mapping.unit,
        mapping.rarity,
    )  # fmt: skip
    is_open = n_axes == "auto" and kind in COUNTED
    if n_axes == "auto":
        n_axes = None if scaler.is_like_text or kind in ("mixed", None) else auto_axes
    if n_axes is None:
        return scaler, None
    most = _AXES_ROWS_OF_WIDE if sample.shape[1] > EXACT_WIDTH and not is_open else _AXES_ROWS
    some = spread_evenly(sample.shape[0], max(most, 2 * int(n_axes)))
    whole = None if mapped is None else scaler.of_mapped(mapped, out=mapped)
    rows = scaler.apply(sample[some]) if whole is None else whole
    rows = rows[some] if len(some) < len(rows) else rows
    axes = find_axes(rows, count_lasting(rows, int(n_axes)) if is_open else int(n_axes))
    if axes is None:
        return scaler, whole
    if kind == "tf-idf":
        axes = _without_depth(axes, rows, row_totals(sample[some]))
    return replace(scaler, axes=axes, energy=1.0), whole


def _unit_for(kind: str | None, sample: Block) -> float:
    if kind == "clr":
        return smallest_share(sample)
    # A row with the usual total keeps its counts.
    return 1.0 / float(np.median(row_totals(sample))) if kind == "lognorm" else 1.0


def _without_depth(axes: Axes, rows: ScaledRows, totals: Array) -> Axes:
    """Axes without the first, where it is no more than how much was counted in a row."""
    totals = np.log(totals)
    first = rows.products(axes.directions[:, :1]).ravel()
    spread = totals.std() * first.std()
    agreement = abs(np.mean((totals - totals.mean()) * first)) / spread if spread > 0 else 0.0
    if agreement < _DEPTH or len(axes.variances) == 1:
        return axes
    return Axes(np.ascontiguousarray(axes.directions[:, 1:]), axes.variances[1:])


def usable_rows(sample: Block, *, name: str, numbers: npt.NDArray[np.int64] | None = None) -> Block:
    """The rows of a sample that are there; raises InputError if they cannot be computed with."""
    rows, present = split_rows(sample)
    if present is not None:
        numbers = np.flatnonzero(present) if numbers is None else numbers[present]
    if rows.shape[0] == 0:
        raise InputError(
            f"View {name!r} describes none of the samples that scaling is worked out on: their rows "
            "are missing, or all NaN. Leave the view out."
        )
    refuse_unusable(rows, name, numbers)
    return rows


def is_like_text(sample: Block) -> bool:
    """Whether nearly all of a sample is zero: every row has columns that few others have.

    Examples
    --------
    >>> is_like_text(np.eye(20)), is_like_text(np.eye(10))
    (True, False)
    """
    return _zero_share(sample) > _NEARLY_ALL


def is_mostly_binary(sample: Block) -> bool:
    """Whether most columns that vary have two values: standardised, the rare ones would take over.

    Examples
    --------
    >>> is_mostly_binary(np.array([[0, 1, 5.0], [1, 1, 6.0], [0, 0, 7.0]]))
    True
    """
    if sparse.issparse(sample):
        return sample.nnz > 0 and bool(sample.data.min() == sample.data.max())
    low, high = sample.min(axis=0), sample.max(axis=0)
    is_binary = ((sample == low) | (sample == high)).all(axis=0)
    varies = low < high
    return bool(2 * (is_binary & varies).sum() > varies.sum())


def smallest_share(sample: Block) -> float:
    """What is small among the positive values of a sample: 1 for counts, else their 5 % quantile."""
    values = sample.data if sparse.issparse(sample) else sample
    positive = values[values > 0]
    if positive.size == 0 or positive.min() >= 1:  # as counts are: no need to put them in order
        return 1.0
    small, middle = np.quantile(positive.astype(np.float64), [0.05, 0.5])
    return 1.0 if middle >= 1 else float(small)


def choose_kind(sample: Block, zero_share: float | None = None) -> tuple[str, str]:
    """The kind of scaling for a view that looks like ``sample`` (n, d), and why.

    "hellinger" for what is mostly zero and never negative, as counts, word weights and pixels of
    strokes are, and for what is nearly all zero; there, columns scaled one by one would let the
    rarest take over. "energy" for principal components, whose variances say how much they tell.
    "normal-scores" for everything else: no column is dominated by its tail.

    Examples
    --------
    >>> choose_kind(np.array([[0, 0, 3], [1, 0, 0]]))
    ('hellinger', '67 % zeros, nothing negative')
    >>> choose_kind(np.array([[0.3, -1.2]]))
    ('normal-scores', '0 % zeros')
    """
    zero_share = _zero_share(sample) if zero_share is None else zero_share
    values = sample.data if sparse.issparse(sample) else sample
    is_negative = values.size > 0 and values.min() < 0
    why = f"{100 * zero_share:.0f} % zeros"
    if zero_share > _NEARLY_ALL:
        return "hellinger", why
    if zero_share > 0.5:
        kind = "normal-scores" if is_negative else "hellinger"
        return kind, f"{why}, {'some' if is_negative else 'nothing'} negative"
    if is_principal(sample):
        return "energy", "columns are principal components already: their variances are kept"
    return "normal-scores", why


def is_principal(sample: Block) -> bool:
    """Whether columns are principal components: standardised, the weak ones, noise, would take over."""
    return not sparse.issparse(sample) and bool(sample.min() < 0) and are_principal(sample)


def _zero_share(sample: Block) -> float:
    values = sample.data if sparse.issparse(sample) else sample
    size = sample.shape[0] * sample.shape[1]
    return float((size - np.count_nonzero(values)) / size)
