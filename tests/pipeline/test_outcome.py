"""What a fit leaves behind."""

import numpy as np

from manyview import LMVSC
from manyview.engines.base import Run
from manyview.engines.memory import Memory
from manyview.engines.progress import SilentProgress
from manyview.pipeline.fit import fit
from manyview.pipeline.outcome import Outcome, Result
from manyview.pipeline.settings import resolve
from manyview.views.container import Views


def test_a_fit_leaves_a_row_of_each_result_for_every_row(blobs):
    views = Views(blobs(n=60))
    settings = resolve(LMVSC(3, n_repeats=2, scaling="standard").get_params(), views)
    run = Run(1, SilentProgress())
    found = fit(
        views.arrays, views.names, settings,
        engine=Memory(), run=run, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert isinstance(found, Result) and isinstance(found, Outcome)
    for each in (found.labels, found.confidence, found.outlier_score, found.embedding):
        assert len(each) == 60
    assert found.rank == min(len(basis.singular_values) for basis in found.bases)
