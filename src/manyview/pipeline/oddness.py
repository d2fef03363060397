"""Which rows are odd, by a sample: the first thing to know, if odd ones are marked."""

from __future__ import annotations

from collections.abc import Sequence

from manyview.engines.base import SampledRows, thread_pool
from manyview.pipeline.graphs import ScaledSample, scale_sample
from manyview.pipeline.settings import Settings
from manyview.stages.oddness import Oddness, fit_oddness
from manyview.stages.sampling import spread_evenly

MOST_ROWS = 4000


def learn_oddness(
    sample: SampledRows,
    names: Sequence[str],
    settings: Settings,
    scaled: ScaledSample | None = None,
    *,
    n_jobs: int = 1,
) -> Oddness:
    """What rows are scored by; ``scaled`` are the same rows, if their scaling is known.

    Ranks do not tell how far out a row lies, so they are used only where that scaling was asked for,
    or where groups were taken off rows that are scaled so.
    """
    numbers = spread_evenly(sample.n_rows, MOST_ROWS)
    few = sample.sample_rows(numbers)
    if scaled is None:
        scaled = scale_sample(few, names, settings.scaling, settings)
    else:
        scaled = scaled.sample_rows(numbers)
    found = [scaler.kind for scaler in scaled.scalers]
    kinds = [
        "standard" if wanted == "auto" and kind == "normal-scores" else kind
        for wanted, kind in zip(settings.scaling, found, strict=True)
    ]
    if kinds != found:
        scaled = scale_sample(few, names, kinds, settings)
    with thread_pool(n_jobs) as pool:
        return fit_oddness(
            scaled.scalers, scaled.rows.arrays, scaled.applied,
            seed=0, marks=settings.marks_outliers, each=pool.map,
        )  # fmt: skip
