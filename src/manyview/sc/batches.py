"""What suits modalities of cells whose batches are taken off."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from manyview.stages.counts import recognise_counts
from manyview.stages.sampling import spread_evenly
from manyview.views.container import Views

_ROWS = 1000  # that are looked at
_PROTEINS = 500  # columns, fewer of which may be proteins alone


def settle_scaling(views: Views, scaling: Any) -> Any:
    """Kinds of scaling, "auto" as cells are scaled: where batches are, narrow counts are proteins."""
    is_one = scaling is None or isinstance(scaling, str)
    given = [scaling] * views.n_views if is_one else list(scaling)
    if "auto" not in given or len(given) != views.n_views:
        return scaling
    few = views[spread_evenly(views.n_rows, _ROWS)].load().arrays
    known = recognise_counts(few, are_cells=True)
    found = [
        kind[0] if kind else "clr" if _may_be_proteins(X) else "standard"
        for kind, X in zip(known, few, strict=True)
    ]
    return [auto if kind == "auto" else kind for kind, auto in zip(given, found, strict=True)]


def _may_be_proteins(X: Any) -> bool:
    """Whether these are whole numbers from 0 on in few columns."""
    values = X.data if sparse.issparse(X) else X
    is_narrow = 2 <= X.shape[1] < _PROTEINS
    return is_narrow and values.min(initial=0) >= 0 and bool((values == np.rint(values)).all())
