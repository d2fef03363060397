"""What pictures show: places of rows by t-SNE, and digits with noise."""

from __future__ import annotations

import base64
import io
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview import LMVSC, datasets
from manyview.report.layout import lay_out, quantise
from manyview.report.samples import choose_balanced
from manyview.reproduce.cells import Cell, Line
from manyview.reproduce.problems import PROBLEMS, load_whole
from manyview.views.container import Views

GRID = 1000
"""Places are whole numbers from 0 to this."""

_WIDEST = 50  # columns of raw views that t-SNE sees, as is usual


def place(views: Views, cell: Cell) -> Line:
    """Places in the plane of some rows: of a raw view, or of an embedding of all views.

    ``settings["of"]`` is "raw", "default" or "released"; the last needs ``n_anchors`` and ``alpha``.
    """
    settings = cell.settings
    target = np.asarray(views.target)
    rows = choose_balanced(target, settings["points"], np.random.default_rng(cell.seed))
    k = cell.data.n_clusters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if settings["of"] == "raw":
            X = _reduced(views.arrays[0][rows], cell.seed)
        else:
            model = LMVSC(k, random_state=cell.seed)
            if settings["of"] == "released":
                m, alpha = settings["n_anchors"], settings["alpha"]
                model = LMVSC.as_published(k, m, alpha, variant="released", random_state=cell.seed)
            X = np.asarray(model.fit(views).embedding_[rows], dtype=np.float64)
            # Vectors of unit length over all rows have tiny entries.
            X = X / (np.sqrt((X**2).sum(axis=1).mean()) or 1.0)
        points = quantise(lay_out(X, np.arange(len(rows)), seed=cell.seed))
    places = np.rint(points * (GRID / 65535)).astype(int)
    return {"points": places.tolist(), "classes": target[rows].tolist(), "n_rows": views.n_rows}


def _reduced(X: Any, seed: int) -> npt.NDArray[np.float64]:
    from scipy import sparse
    from sklearn.decomposition import PCA, TruncatedSVD

    if sparse.issparse(X):
        X = TruncatedSVD(min(_WIDEST, X.shape[1] - 1), random_state=seed).fit_transform(X)
    elif X.shape[1] > _WIDEST:
        X = PCA(_WIDEST, random_state=seed).fit_transform(np.asarray(X, dtype=np.float64))
    return np.asarray(X, dtype=np.float64)


def draw_digits(views: Views, cell: Cell) -> Line:
    """A picture: one digit of each class, clean and with each level of noise, as PNG."""
    problem = PROBLEMS[cell.data.problem]
    assert problem.noise is not None
    clean = load_whole(problem.registry)
    target = np.asarray(clean.target)
    rows = np.array([np.flatnonzero(target == digit)[cell.seed] for digit in range(10)])
    levels = datasets.PAPER_NOISE_LEVELS[problem.noise]
    images = np.asarray(clean.arrays[0][rows], dtype=np.uint8)
    noisy = datasets.noisy_views(images, problem.noise, levels, random_state=cell.seed)  # type: ignore[arg-type]
    columns = [images / 255.0, *noisy.arrays]
    strips = [c.reshape(10, 28, 28).transpose(1, 0, 2).reshape(28, 280) for c in columns]
    pixels = 255 - np.rint(255 * np.concatenate(strips)).astype(np.uint8)
    changes = [float(np.abs(c - columns[0]).mean()) for c in columns]
    return {
        "png": base64.b64encode(encode_png(pixels)).decode("ascii"),
        "levels": [0.0, *levels],
        "mean_change": changes,
        "rows": rows.tolist(),
        "n_rows": clean.n_rows,
    }


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Grey pixels (height, width) as PNG."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()
