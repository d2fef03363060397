"""The data of the paper's tables: real where it is on this machine, made in the same shape elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from manyview import datasets
from manyview.datasets.lookup import is_here
from manyview.datasets.registry import DatasetInfo
from manyview.reproduce.made import make_like
from manyview.views.container import Views

_SEED = 0  # of samples of rows, of noise and of made data
_MADE_NOISE = 0.1  # of the spread of made rows, where noise makes views of them


@dataclass(frozen=True)
class Problem:
    """A data set: its name here, in the paper and in the registry, and the noise that makes views."""

    name: str
    title: str
    registry: str
    noise: str | None = None

    @property
    def info(self) -> DatasetInfo:
        """What is known about the data set."""
        return datasets.info(self.registry)

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each view."""
        if self.noise is None:
            return self.info.n_features
        return self.info.n_features * len(datasets.PAPER_NOISE_LEVELS[self.noise])

    @property
    def is_small(self) -> bool:
        """Whether methods that need all pairs of rows manage it."""
        return self.info.n_samples < 3000

    def is_present(self) -> bool:
        """Whether it is on this machine; nothing is read or downloaded."""
        return is_here(self.info)

    def how_to_get(self) -> str:
        """What to do where it is not."""
        return (
            f"not on this machine; 'manyview datasets info {self.registry}' says where it is from, "
            f"'manyview datasets get {self.registry}' tries to get it"
        )


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("caltech7", "Caltech7", "caltech101-7"),
        Problem("caltech20", "Caltech20", "caltech101-20"),
        Problem("handwritten", "Handwritten", "handwritten"),
        Problem("reuters", "Reuters", "reuters"),
        Problem("nus", "NUS", "nus-wide-object"),
        Problem("mnist-gaussian", "MNIST, Gaussian noise", "mnist", "gaussian"),
        Problem("mnist-speckle", "MNIST, speckle noise", "mnist", "speckle"),
        Problem("mnist-salt-and-pepper", "MNIST, salt and pepper", "mnist", "salt-and-pepper"),
        Problem("rcv1", "RCV1", "rcv1"),
        Problem("covertype", "CoverType", "covtype"),
    )
}


@dataclass(frozen=True)
class Data:
    """Which rows of which data: all or a sample of one of ``PROBLEMS``, or of data made in its shape.

    Of the problem "shape", made data too, ``shape`` has rows, columns of each view, views and classes.
    """

    problem: str
    rows: int | None = None
    made: bool = False
    shape: tuple[int, int, int, int] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.shape is not None:
            return self.shape[0]
        whole = PROBLEMS[self.problem].info.n_samples
        return whole if self.rows is None else min(self.rows, whole)

    @property
    def n_clusters(self) -> int:
        """Number of classes."""
        if self.shape is not None:
            return self.shape[3]
        return PROBLEMS[self.problem].info.n_clusters


def load(data: Data) -> Views:
    """The views and classes of ``data``; rows are drawn at random, always the same ones."""
    if data.shape is not None:
        n, d, v, k = data.shape
        return datasets.make_views(n, k, (d,) * v, random_state=_SEED)
    problem = PROBLEMS[data.problem]
    views = load_whole(problem.registry, made=data.made)
    if data.n_rows < views.n_rows:
        chosen = np.random.default_rng(_SEED).permutation(views.n_rows)[: data.n_rows]
        views = views[np.sort(chosen)]
    if problem.noise is None:
        return views
    levels = datasets.PAPER_NOISE_LEVELS[problem.noise]
    if data.made:
        return _repeat(views, [f"{problem.noise}-{level:g}" for level in levels])
    return datasets.noisy_views(views, problem.noise, levels, random_state=_SEED)  # type: ignore[arg-type]


def _repeat(views: Views, names: list[str]) -> Views:
    """A view of its own noise for each name; made rows are no images, so the noise is Gaussian."""
    rng, (X,) = np.random.default_rng(_SEED), views.arrays
    scale = np.float32(_MADE_NOISE * X.std())
    arrays = {name: X + scale * rng.standard_normal(X.shape, dtype=np.float32) for name in names}
    return Views(arrays, target=views.target)


@lru_cache(maxsize=1)  # samples of several sizes are drawn from the same data, one after the other
def load_whole(registry: str, *, made: bool = False) -> Views:
    """All rows of a data set of the registry, or of one made like it."""
    return make_like(registry, seed=_SEED) if made else datasets.load(registry, download=False)
