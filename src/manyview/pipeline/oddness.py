"""Which rows are odd, by a sample: the first thing to know, if odd ones are marked."""

from __future__ import annotations

from collections.abc import Sequence

from manyview.engines.base import SampledRows
from manyview.pipeline.graphs import fit_scalers
from manyview.pipeline.settings import Settings
from manyview.stages.oddness import Oddness, fit_oddness
from manyview.stages.sampling import spread_evenly
from manyview.stages.scaling import Scaler

_ROWS = 4000


def learn_oddness(
    sample: SampledRows,
    names: Sequence[str],
    settings: Settings,
    scalers: tuple[Scaler, ...] | None = None,
) -> Oddness:
    """What rows are scored by; views are scaled as they look where ``scalers`` are not known yet.

    Ranks do not tell how far out a row lies, so they are used only where that scaling was asked for.
    """
    few = sample.sample_rows(spread_evenly(sample.n_rows, _ROWS))
    scalers = scalers or fit_scalers(few, names, settings.scaling, settings)
    kinds = [
        "standard" if wanted == "auto" and scaler.kind == "normal-scores" else scaler.kind
        for wanted, scaler in zip(settings.scaling, scalers, strict=True)
    ]
    if kinds != [scaler.kind for scaler in scalers]:
        scalers = fit_scalers(few, names, kinds, settings)
    return fit_oddness(scalers, few.arrays, seed=0, marks=settings.marks_outliers)
