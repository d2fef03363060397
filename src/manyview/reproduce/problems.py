"""The data of the paper's tables, whole or a sample of its rows, in their order or shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from manyview import datasets
from manyview.datasets.lookup import is_here
from manyview.datasets.registry import DatasetInfo
from manyview.views.container import Views

_SEED = 0  # of samples of rows, and of noise
_FEWEST_ROWS = 500


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
    def view_names(self) -> tuple[str, ...]:
        """Names of the views."""
        if self.noise is None:
            return tuple(self.info.view_names)
        return tuple(f"{self.noise} {level:g}" for level in datasets.PAPER_NOISE_LEVELS[self.noise])

    @property
    def sizes(self) -> list[int]:
        """Numbers of rows to climb: a quarter of a quarter and so on, up to all."""
        sizes = [self.info.n_samples]
        while sizes[-1] // 4 >= _FEWEST_ROWS:
            sizes.append(sizes[-1] // 4)
        return sizes[::-1]

    def is_present(self) -> bool:
        """Whether it is on this machine; nothing is read or downloaded."""
        return is_here(self.info)

    def how_to_get(self) -> str:
        """What to do where it is not."""
        return f"not on this machine: manyview datasets info {self.registry}"


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("handwritten", "Handwritten", "handwritten"),
        Problem("mnist-gaussian", "MNIST, Gaussian noise", "mnist", "gaussian"),
        Problem("mnist-speckle", "MNIST, speckle noise", "mnist", "speckle"),
        Problem("mnist-salt-and-pepper", "MNIST, salt and pepper", "mnist", "salt-and-pepper"),
        Problem("covertype", "CoverType", "covtype"),
        Problem("caltech7", "Caltech7", "caltech101-7"),
        Problem("caltech20", "Caltech20", "caltech101-20"),
        Problem("reuters", "Reuters", "reuters"),
        Problem("nus", "NUS", "nus-wide-object"),
        Problem("rcv1", "RCV1", "rcv1"),
        Problem("msrcv1", "MSRC-v1", "msrcv1"),
    )
}
"""The paper's data sets, and one that it has not: MSRC-v1, for the order of rows."""


@dataclass(frozen=True)
class Data:
    """Which rows of which of ``PROBLEMS``: all or a sample, as in the file or ``shuffled`` by a seed."""

    problem: str
    rows: int | None = None
    shuffled: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        whole = PROBLEMS[self.problem].info.n_samples
        return whole if self.rows is None else min(self.rows, whole)

    @property
    def n_clusters(self) -> int:
        """Number of classes."""
        return PROBLEMS[self.problem].info.n_clusters


def load(data: Data) -> Views:
    """The views and classes of ``data``; rows are drawn at random, always the same ones."""
    problem = PROBLEMS[data.problem]
    views = load_whole(problem.registry)
    if data.n_rows < views.n_rows:
        chosen = np.random.default_rng(_SEED).permutation(views.n_rows)[: data.n_rows]
        views = views[np.sort(chosen)]
    if data.shuffled is not None:
        views = views[np.random.default_rng(data.shuffled).permutation(views.n_rows)]
    if problem.noise is None:
        return views
    levels = datasets.PAPER_NOISE_LEVELS[problem.noise]
    return datasets.noisy_views(views, problem.noise, levels, random_state=_SEED)  # type: ignore[arg-type]


@lru_cache(maxsize=1)  # samples of several sizes are drawn from the same data, one after the other
def load_whole(registry: str) -> Views:
    """All rows of a data set of the registry."""
    return datasets.load(registry, download=False)
