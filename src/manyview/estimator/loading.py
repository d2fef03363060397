"""Models from files, as the estimators that were saved."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from manyview import pipeline
from manyview.errors import ModelFileError
from manyview.estimator.growing import attributes_of_model
from manyview.estimator.lmvsc import LMVSC
from manyview.estimator.published import PublishedLMVSC


def load(path: str | os.PathLike[str]) -> LMVSC:
    """Read a fitted model that :meth:`LMVSC.save` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    LMVSC
        The fitted estimator.

    Raises
    ------
    ModelFileError
        If the file is damaged, was not written by manyview, or is of another version's format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from manyview import LMVSC, datasets, load
    >>> views = datasets.make_views(60, 2, (3, 4), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = LMVSC(2, random_state=0).fit(views).save(pathlib.Path(folder, "some.mv"))
    ...     model = load(pathlib.Path(folder, "some.mv"))
    >>> model.predict(views).shape
    (60,)
    """
    params, model, fitted = pipeline.persistence.read_model(Path(path))
    try:
        estimator = (PublishedLMVSC if "variant" in params else LMVSC)(**params)
    except TypeError as error:
        raise ModelFileError(f"{str(path)!r} holds unknown parameters: {error}.") from error
    groups = fitted.get("groups_")
    scalers = model.scalers if groups is None else groups.scalers
    widths = [len(scaler.shift) for scaler in scalers]
    estimator.__dict__.update(
        n_views_=len(model.scalers),
        view_names_=[scaler.name for scaler in model.scalers],
        n_features_per_view_=widths,
        n_features_in_=sum(widths),
        suggestion_=None,
        **attributes_of_model(model, groups),
    )
    estimator.__dict__.update(fitted)
    if "choices_" in fitted:
        estimator.choices_ = pipeline.choices.Choices(fitted["choices_"])
    ids = fitted.get("ids_")
    estimator.ids_ = None if ids is None else np.asarray(ids)
    if estimator.views is not None:
        estimator.view_columns_ = estimator.views
    several = estimator.n_clusters if "labels_" in fitted and np.ndim(estimator.n_clusters) else []
    if len(several) and max(several) == estimator.n_clusters_:  # not changed since the fit
        estimator.cuts_ = {int(n): estimator.cut(n) for n in several}
    return estimator
