"""Odd rows of a sample: learned from few of its rows, scaled as they look or as a fit scales them."""

import numpy as np

from manyview import LMVSC, Views
from manyview.engines.base import Run
from manyview.engines.memory import Memory
from manyview.engines.progress import SilentProgress
from manyview.pipeline.graphs import apply_scalers
from manyview.pipeline.oddness import learn_oddness
from manyview.pipeline.settings import resolve
from manyview.stages.scaling import fit_scaler


def learn(arrays, scalers=None, **params):
    views = Views(arrays)
    settings = resolve({**LMVSC(3).get_params(), **params}, views)
    sample = Memory().open(views.arrays, Run(1, SilentProgress()))
    scaled = None if scalers is None else apply_scalers(sample, scalers)
    return learn_oddness(sample, views.names, settings, scaled)


def test_scalers_that_are_known_are_used(blobs):
    views = blobs(n=120)
    scalers = tuple(fit_scaler(X, name=str(v), kind="energy") for v, X in enumerate(views))
    assert learn(views, scalers).scalers == scalers


def test_only_a_fit_that_marks_has_marks(blobs):
    views = blobs(n=120)
    assert learn(views, outliers="mark").marks
    assert not learn(views).marks


def test_junk_scores_more_than_the_rows(blobs):
    rng = np.random.default_rng(0)
    rows = [np.vstack([X, 50.0 * rng.normal(size=(4, X.shape[1]))]) for X in blobs(n=200)]
    scores = learn(rows, outliers="mark")(rows, 0)
    assert scores[200:].min() > scores[:200].max()
