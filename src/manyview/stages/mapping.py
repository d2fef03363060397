"""What a kind of scaling does to single values or rows, and the moments of what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.stages.counts import row_totals
from manyview.stages.quantiles import Quantiles
from manyview.stages.rows import Array
from manyview.views.container import Block

BY_RANK = ("normal-scores", "mixed")
_ROWS = 512  # that are mapped at a time: more take longer, as they must be fetched again


def row_blocks(block: Block) -> Iterator[Block]:
    """A few rows at a time, in the order in which they are mapped."""
    for start in range(0, block.shape[0], _ROWS):
        rows = block[start : start + _ROWS]
        # In C order, as in Scaler.apply: sums must not depend on how rows are stored.
        yield rows if sparse.issparse(rows) else np.ascontiguousarray(rows)


@dataclass(frozen=True)
class ValueMap:
    """What a kind of scaling does to single values or rows, before columns are shifted and scaled."""

    kind: str | None
    quantiles: Quantiles | None
    unit: float
    rarity: Array | None = None


def mapped_moments(
    sample: Block, mapping: ValueMap, known: npt.NDArray[Any] | None
) -> tuple[Array, Array]:
    """Mean and variance of every column after what the kind does to values or rows, maybe known."""
    if not sparse.issparse(sample):
        return _dense_moments(sample, mapping, known)
    n, d = sample.shape
    mapped, zero = map_sparse(sample, mapping)
    mean = np.bincount(mapped.indices, weights=mapped.data, minlength=d) / n
    stored = np.bincount(mapped.indices, minlength=d)
    off = mapped.data - mean[mapped.indices]
    drift = (np.bincount(mapped.indices, weights=off, minlength=d) - (n - stored) * mean) / n
    squares = np.bincount(mapped.indices, weights=off**2, minlength=d) + (n - stored) * mean**2
    squares -= n * drift**2  # what rounding did to the mean: constants stay constants
    mean += drift
    if mapping.kind == "clr":  # less the rows' means, which would make all of it dense
        means = np.asarray(mapped.sum(axis=1)).ravel() / d
        level = means.mean()
        squares += (means - level) @ (means - level) - 2.0 * (mapped.T @ (means - level))
        mean = mean - level
    return mean + zero, _beyond_rounding(squares / n, mean, sample, mapping)


def _dense_moments(
    sample: Block, mapping: ValueMap, known: npt.NDArray[Any] | None
) -> tuple[Array, Array]:
    n, d = 0, sample.shape[1]
    mean, squares = np.zeros(d), np.zeros(d)
    for raw in row_blocks(sample if known is None else known):
        block = map_dense(raw, mapping) if known is None else raw
        own = block.mean(axis=0, dtype=np.float64)
        centered = np.subtract(block, own, dtype=np.float64)
        drift = centered.mean(axis=0)  # what rounding did to the mean: constants stay constants
        own += drift
        share = len(block) / (n + len(block))
        squares += np.einsum("ij,ij->j", centered, centered) - len(block) * drift**2
        squares += n * share * (own - mean) ** 2
        mean += share * (own - mean)
        n += len(block)
    return mean, _beyond_rounding(squares / n, mean, sample, mapping)


def _beyond_rounding(variance: Array, mean: Array, sample: Block, mapping: ValueMap) -> Array:
    """Variances, with zeros for columns that change by rounding only: they must not be blown up."""
    least: Any = 1e-26 * mean**2
    if mapping.kind == "clr":  # a small difference of logarithms may be what is left of large ones
        values = sample.data if sparse.issparse(sample) else sample
        largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
        least = 1e-13 * np.log1p(largest / mapping.unit) ** 2
    return np.where(variance > least, variance, 0.0)


def map_dense(block: Block, mapping: ValueMap) -> npt.NDArray[Any]:
    """Dense rows (n, d), mapped; as they are, of a kind that only shifts and scales."""
    if mapping.kind in ("standard", "energy", None):
        return block  # type: ignore[no-any-return]
    values = np.asarray(block, dtype=np.float64)
    if mapping.kind in BY_RANK:
        assert mapping.quantiles is not None
        return mapping.quantiles.scores_of(values)
    if mapping.kind == "lognorm":
        return _signed_log(values, mapping.unit * row_totals(values)[:, None])
    if mapping.kind in ("log", "clr"):
        values = _signed_log(values, mapping.unit)
        if mapping.kind == "clr":
            values -= values.mean(axis=1, keepdims=True)
        return values
    if mapping.kind == "hellinger":
        values = _signed_root(values)
    if mapping.rarity is not None:
        values = values * mapping.rarity
    return unit_rows(values)


def _signed_log(values: Array, unit: float | Array) -> Array:
    """log(1 + x / unit), and the same with a minus for values below zero."""
    is_signed = values.size > 0 and values.min() < 0
    ratios: Array = (np.abs(values) if is_signed else values) / unit
    np.log1p(ratios, out=ratios)  # of zeros, too: leaving them out takes longer
    return np.asarray(np.sign(values) * ratios if is_signed else ratios)


def _signed_root(values: Array) -> Array:
    if values.size == 0 or values.min() >= 0:
        return np.asarray(np.sqrt(values))
    return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))


def unit_rows(rows: Array) -> Array:
    """Rows scaled to unit length; those of length zero stay as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def map_sparse(
    block: sparse.csr_array, mapping: ValueMap
) -> tuple[sparse.csr_array, Array | float]:
    """Mapped values, and what a zero is mapped to, which stored values are relative to.

    The row's mean that "clr" takes off is left to the caller.
    """
    kind, quantiles = mapping.kind, mapping.quantiles
    data = block.data.astype(np.float64)
    zero: Array | float = 0.0
    if kind in ("log", "clr"):
        data = _signed_log(data, mapping.unit)
    if kind == "hellinger":
        data = _signed_root(data)
    if mapping.rarity is not None:
        data = data * mapping.rarity[block.indices]
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    if kind == "lognorm":
        data = _signed_log(data, mapping.unit * row_totals(block)[rows])
    if kind in ("hellinger", "unit", "tf-idf"):
        lengths = np.sqrt(np.bincount(rows, weights=data**2, minlength=block.shape[0]))
        data = data / np.where(lengths > 0, lengths, 1.0)[rows]
    if kind in BY_RANK:
        assert quantiles is not None
        level = quantiles.scores_of(np.zeros((1, block.shape[1])))[0]
        data = quantiles.scores_of(data, block.indices) - level[block.indices]
        zero = level
    return sparse.csr_array((data, block.indices, block.indptr), shape=block.shape), zero
