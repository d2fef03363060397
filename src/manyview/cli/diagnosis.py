"""What a view looks like, and what could go wrong with it; from a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manyview.readers.contents import LABEL_NAMES
from manyview.sources import is_source
from manyview.views.presence import split_rows
from manyview.wording import first_few

_SAMPLE_ROWS = 20_000
_CODES = 50  # a column of whole numbers with at most so many values may be a class


def describe_view(name: str, data: Any, columns: Sequence[str] | None) -> dict[str, Any]:
    """Give facts and likely problems of one view, as JSON.

    Parameters
    ----------
    name : str
        What it is called.
    data : ndarray, csr_array or Source of shape (n, d)
        Its rows.
    columns : sequence of str or None
        Names of its columns.
    """
    rows, present = split_rows(sample_rows(data))
    is_sparse = sparse.issparse(rows)
    values = rows.data if is_sparse else rows
    floats = np.asarray(values, dtype=np.float64)
    missing, infinite = int(np.isnan(floats).sum()), int(np.isinf(floats).sum())
    deviation = _deviations(rows)
    n_cells = rows.shape[0] * rows.shape[1]
    finite = floats[np.isfinite(floats)]
    constant = np.flatnonzero(deviation == 0)
    spread = deviation[(deviation > 0) & np.isfinite(deviation)]
    facts: dict[str, Any] = {
        "name": name,
        "n_rows": int(data.shape[0]),
        "n_columns": int(data.shape[1]),
        "dtype": str(data.dtype),
        "is_sparse": bool(is_sparse),
        "is_on_disk": bool(is_source(data)),
        "bytes": int(count_bytes(data)),
        "sampled_rows": int(rows.shape[0]),
        "zeros": 1 - float(np.count_nonzero(floats)) / n_cells if n_cells else 0.0,
        "missing": missing,
        "missing_rows": 0 if present is None else int((~present).sum()),
        "infinite": infinite,
        "constant_columns": len(constant),
        "least": float(finite.min()) if finite.size else None,
        "greatest": float(finite.max()) if finite.size else None,
        "smallest_deviation": float(spread.min()) if len(spread) else 0.0,
        "largest_deviation": float(spread.max()) if len(spread) else 0.0,
        "repeated_rows": _share_repeated(rows),
    }
    facts["problems"] = _find_problems(facts, rows, columns, constant, deviation)
    return facts


def sample_rows(data: Any, n_rows: int = _SAMPLE_ROWS) -> Any:
    """Give rows spread evenly over a view, in memory."""
    n = data.shape[0]
    if n <= n_rows:
        return data.read(0, n) if is_source(data) else data
    numbers = np.linspace(0, n - 1, n_rows).astype(np.int64)
    return data.take(numbers) if is_source(data) else data[numbers]


def count_bytes(data: Any) -> float:
    """Give the memory that a view takes, or would take, in its own type."""
    if is_source(data):
        return float(data.row_bytes * data.shape[0])
    if sparse.issparse(data):
        return float(data.data.nbytes + data.indices.nbytes + data.indptr.nbytes)
    return float(data.nbytes)


def _deviations(rows: Any) -> npt.NDArray[np.float64]:
    """Give the deviation of each column, missing and infinite values left out."""
    if rows.shape[0] == 0:
        return np.full(rows.shape[1], np.nan)
    if sparse.issparse(rows):
        rows = rows.astype(np.float64)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        square = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    table = np.where(np.isfinite(rows), rows, np.nan).astype(np.float64)
    known = np.isfinite(table).any(axis=0)
    deviation = np.zeros(table.shape[1])
    deviation[known] = np.nanstd(table[:, known], axis=0)
    # What is left of rounding is no spread.
    deviation[known] *= deviation[known] > 1e-12 * np.abs(np.nanmean(table[:, known], axis=0))
    return deviation


def _share_repeated(rows: Any) -> float:
    """Give the share of rows that another one before them equals."""
    if sparse.issparse(rows):
        keys = {
            (
                rows.indices[a:b].tobytes(),
                rows.data[a:b].tobytes(),
            )
            for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        }
    else:
        keys = {row.tobytes() for row in np.ascontiguousarray(rows)}
    return 1 - len(keys) / int(rows.shape[0]) if keys else 0.0


def _find_problems(
    facts: dict[str, Any],
    rows: Any,
    columns: Sequence[str] | None,
    constant: npt.NDArray[np.int64],
    deviation: npt.NDArray[np.float64],
) -> list[str]:
    n_lacking, n_looked_at = facts["missing_rows"], facts["sampled_rows"] + facts["missing_rows"]
    if n_lacking == n_looked_at:
        return [f"no {'sampled ' if n_looked_at < facts['n_rows'] else ''}row has this view"]
    found = []
    if n_lacking:
        found.append(f"{n_lacking} of {n_looked_at} sampled rows lack this view")
    names = list(columns) if columns else [str(i) for i in range(facts["n_columns"])]
    if facts["missing"]:
        found.append(f"{facts['missing']} missing values: fit refuses them, so fill them in first")
    if facts["infinite"]:
        found.append(f"{facts['infinite']} infinite values: fit refuses them")
    if len(constant):
        listed = first_few([names[i] for i in constant], 3)
        found.append(f"{len(constant)} constant column(s) say nothing: {listed}")
    if facts["repeated_rows"] > 0.01:
        found.append(f"{facts['repeated_rows']:.0%} of the rows repeat another row")
    if facts["smallest_deviation"] and (
        facts["largest_deviation"] / facts["smallest_deviation"] > 1e3
    ):
        found.append("columns of very different scale: do not fit with --scaling none")
    if facts["n_columns"] == 1:
        found.append("a single column: clusters will be ranges of it")
    found += _suspicious_columns(rows, columns)
    return found


def _suspicious_columns(rows: Any, columns: Sequence[str] | None) -> list[str]:
    """Give columns that look like ids or labels, which are no features."""
    if columns is None or sparse.issparse(rows):
        return []
    found = []
    for place, name in enumerate(columns):
        plain = name.lower()
        values = rows[:, place]
        if plain in ("id", "index", "row", "unnamed_0") and len(np.unique(values)) == len(values):
            found.append(f"column {name!r} looks like ids: name it with --id-column {name}")
        elif plain in LABEL_NAMES and len(np.unique(values)) <= _CODES:
            found.append(f"column {name!r} looks like labels: name it with --label-column {name}")
    return found
