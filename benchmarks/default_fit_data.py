"""The views that benchmarks.default_fit fits: data sets of this machine, and made ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from manyview import Views, datasets
from manyview.views.container import with_short_indices

HISTOGRAMS = (77, 13, 23, 18)
"""Columns of four views, 131 in all: colours and shapes of photographed objects have about as many."""
EMBEDDINGS = (512, 768)
REUTERS_COLUMNS = (21_531, 24_892, 34_251, 15_506, 11_547)
"""Columns of the five languages of Reuters RCV1/RCV2, 18 758 documents of which are often clustered."""


def make_histograms(n_clusters: int, n_rows: int) -> Views:
    """Objects seen from all sides: proportions that drift from one profile to another as they turn."""
    rng = np.random.default_rng(0)
    target = np.sort(np.arange(n_rows) % n_clusters)
    turn = 0.5 + 0.5 * np.cos(2 * np.pi * rng.random(n_rows))[:, None]
    arrays = []
    for width in HISTOGRAMS:
        front, back = (rng.dirichlet(np.full(width, 0.3), n_clusters) for _ in range(2))
        profile = turn * front[target] + (1.0 - turn) * (0.6 * front + 0.4 * back)[target]
        counts = rng.gamma(40.0 * profile + 1e-3)
        arrays.append(counts / counts.sum(axis=1, keepdims=True))
    return Views(arrays, target=target)


def make_embeddings(n_clusters: int, n_rows: int) -> Views:
    """Unit rows in single precision, about centres whose noise is of low rank, as networks give them."""
    rng = np.random.default_rng(0)
    target = np.sort(np.arange(n_rows) % n_clusters)
    arrays = []
    for width in EMBEDDINGS:
        centers = rng.standard_normal((n_clusters, width)).astype(np.float32)
        spread = rng.standard_normal((64, width)).astype(np.float32)
        rows = np.empty((n_rows, width), np.float32)
        for start in range(0, n_rows, 4096):
            part = slice(start, start + 4096)
            count = len(target[part])
            noise = rng.standard_normal((count, 64), np.float32) @ spread / 8
            rows[part] = centers[target[part]] + 1.2 * noise
            rows[part] += 0.5 * rng.standard_normal((count, width), np.float32)
            rows[part] /= np.linalg.norm(rows[part], axis=1, keepdims=True)
        arrays.append(rows)
    return Views(arrays, target=target)


def make_texts(n_clusters: int, n_rows: int, columns: tuple[int, ...] = REUTERS_COLUMNS) -> Views:
    """Word weights of the same documents in several languages: about 100 of many words a document."""
    rng = np.random.default_rng(0)
    target = np.sort(np.arange(n_rows) % n_clusters)
    arrays = []
    for width in columns:
        common = 1.0 / np.arange(1, width + 1) ** 0.9
        topics = [rng.permutation(common) for _ in range(n_clusters)]
        counts = np.maximum(rng.poisson(100, n_rows), 5)
        words = np.empty(counts.sum(), np.int32)
        starts = np.concatenate([[0], np.cumsum(counts)])
        for topic, own in enumerate(topics):
            shares = 0.7 * common + 0.3 * own
            of_topic = np.flatnonzero(np.repeat(target, counts) == topic)
            words[of_topic] = rng.choice(width, len(of_topic), p=shares / shares.sum())
        tf = sparse.csr_array((np.ones(len(words)), words, starts), shape=(n_rows, width))
        tf.sum_duplicates()
        found = np.bincount(tf.indices, minlength=width)
        tf.data = (1 + np.log(tf.data)) * np.log(n_rows / np.maximum(found, 1))[tf.indices]
        arrays.append(tf)
    return Views(arrays, target=target)


def _shuffled(views: Views, n_rows: int | None = None) -> Views:
    """Some rows in random order: files often have them sorted by class."""
    return views[np.random.default_rng(0).permutation(len(views))[:n_rows]]


def _stored(name: str, n_rows: int | None = None) -> Views:
    return _shuffled(datasets.load(name, download=False), n_rows)


def _made(make: Callable[[int, int], Views], k: int, n: int, n_rows: int | None = None) -> Views:
    return _shuffled(make(k, n), n_rows)


STORED = ("handwritten", "leaves100", "scene15", "aloi100", "hdigit", "mnist", "covtype", "tdt2")

SETS: dict[str, Callable[..., Views]] = {
    **{name: partial(_stored, name) for name in (*STORED, "acm", "reuters600")},
    "made k=100": partial(_made, make_histograms, 100, 110_250),
    "made k=300": partial(_made, make_histograms, 300, 32_550),
    "made k=1000": partial(_made, make_histograms, 1000, 110_250),
    "made embeddings": partial(_made, make_embeddings, 100, 200_000),
    "made texts": partial(_made, make_texts, 6, 18_758),
}


def load(name: str, n_rows: int | None = None) -> Views:
    """The views of a case, or some random rows of them."""
    return SETS[name](n_rows=n_rows)


def join(views: Views) -> Any:
    """All columns side by side, as they are."""
    if any(sparse.issparse(array) for array in views.arrays):
        return with_short_indices(sparse.csr_array(sparse.hstack(views.arrays, "csr")))
    return np.hstack(views.arrays)
