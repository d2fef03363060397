"""A whole fit with fixed settings against scikit-learn on the concatenated views: time and memory.

All cores are used by everyone. Rivals get the views side by side, made beforehand: raw, as LMVSC gets
them, and for k-means also with standardised columns, which LMVSC does by itself.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering

from benchmarks.measure import PeakMemory, in_child, medians, time_in_turn
from benchmarks.problems import find, standardised
from benchmarks.record import Report, Target
from manyview import LMVSC, Views, datasets, metrics


@dataclass(frozen=True)
class Case:
    """A data set, how it is fitted, and the bars: share of a rival's time, at most."""

    name: str
    n_clusters: int
    n_anchors: int
    n_quick: int
    targets: tuple[tuple[str, float], ...]
    has_memory_target: bool


CASES = (
    Case("covtype", 7, 50, 60_000, (("KMeans n_init=1", 1.0), ("KMeans n_init=10", 0.15)), True),
    Case("noisy mnist", 10, 100, 6_000, (("KMeans n_init=10", 0.5),), True),
    Case("handwritten", 10, 100, 2_000, (("KMeans n_init=10", 2.0),), False),
)

Rival = Callable[[int], Any]
RIVALS: dict[str, Rival] = {
    "KMeans n_init=1": lambda k: KMeans(k, n_init=1, random_state=0),
    "KMeans n_init=10": lambda k: KMeans(k, n_init=10, random_state=0),
    "KMeans n_init=1 standardised": lambda k: KMeans(k, n_init=1, random_state=0),
    "KMeans n_init=10 standardised": lambda k: KMeans(k, n_init=10, random_state=0),
    "MiniBatchKMeans": lambda k: MiniBatchKMeans(k, random_state=0),
    "SpectralClustering": lambda k: SpectralClustering(
        k, affinity="nearest_neighbors", n_jobs=-1, random_state=0
    ),
}
SPECTRAL_ROWS = 10_000
"""Most rows that spectral clustering is asked to handle."""
QUICK_MEMORY = ("LMVSC", "KMeans n_init=1")


def run(report: Report) -> None:
    for case in CASES:
        source = "mnist" if case.name == "noisy mnist" else case.name
        if find(report, source) is None:
            continue
        n_rows = case.n_quick if report.quick else None
        compare(report, case, load_case(case.name, n_rows), repeats=3 if report.quick else 5)
        measured = QUICK_MEMORY if report.quick else ("LMVSC", *applicable(_n_samples(source)))
        for name in measured:
            add_memory(report, case, name, n_rows)


def load_case(name: str, n_rows: int | None = None) -> Views:
    """Give the views of a case, or some random rows of them."""
    views = datasets.load("mnist" if name == "noisy mnist" else name, download=False)
    if n_rows is not None and n_rows < len(views):
        views = views[np.sort(np.random.default_rng(0).permutation(len(views))[:n_rows])]
    if name == "noisy mnist":
        levels = datasets.PAPER_NOISE_LEVELS["gaussian"]
        views = datasets.noisy_views(views, "gaussian", levels, random_state=0)
    return views


def _n_samples(source: str) -> int:
    return datasets.info(source).n_samples


def applicable(n_rows: int, *, quick: bool = False) -> list[str]:
    """Give the names of the rivals that can run on so many rows, without the slowest if quick."""
    left_out = {"KMeans n_init=10 standardised"} if quick else set()
    if n_rows > SPECTRAL_ROWS:
        left_out.add("SpectralClustering")
    return [name for name in RIVALS if name not in left_out]


def prepare(case: Case, name: str, views: Views) -> tuple[Any, Any]:
    """Give an estimator and its input."""
    if name == "LMVSC":
        model = LMVSC(case.n_clusters, n_anchors=case.n_anchors, alpha=0.01, random_state=0)
        return model.set_params(fusion="late", n_repeats=1, scaling="standard"), views
    X = np.hstack(views.arrays)
    if name.endswith("standardised"):
        X = standardised(X).astype(X.dtype if X.dtype.kind == "f" else np.float64)
    return RIVALS[name](case.n_clusters), X


def compare(report: Report, case: Case, views: Views, *, repeats: int) -> None:
    """Add LMVSC's time over each rival's, and everyone's scores."""
    names = ["LMVSC", *applicable(len(views), quick=report.quick)]
    pairs = {name: prepare(case, name, views) for name in names}
    labels: dict[str, Any] = {}

    def fit(name: str) -> None:
        model, X = pairs[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels[name] = model.fit(X).labels_

    LMVSC(2, n_anchors=10, random_state=0).fit(views[:200])  # compiles or loads
    fit("LMVSC")  # the first fit of this size meets methods that the small one does not
    seconds = time_in_turn({name: lambda name=name: fit(name) for name in names}, repeats=repeats)
    middle = medians(seconds)
    scores = {name: _scores(views.target, labels[name]) for name in names}
    facts = {"n_rows": len(views), "n_anchors": case.n_anchors, "repeats": repeats}
    stages = pairs["LMVSC"][0].stage_seconds_
    report.add(
        f"{case.name}: LMVSC, seconds (NMI {scores['LMVSC']['nmi']:.3f})",
        middle["LMVSC"], seconds=seconds["LMVSC"], scores=scores["LMVSC"], stages=stages, **facts,
    )  # fmt: skip
    for name in names[1:]:
        bar = dict(case.targets).get(name)
        smaller = len(views) < _full_size(case)
        report.add(
            f"{case.name}: time / {name} (NMI {scores[name]['nmi']:.3f})",
            middle["LMVSC"] / middle[name],
            None if bar is None else Target(at_most=bar, indicative=smaller),
            seconds=seconds[name], scores=scores[name], **facts,
        )  # fmt: skip


def _full_size(case: Case) -> int:
    return _n_samples("mnist" if case.name == "noisy mnist" else case.name)


def _scores(target: Any, labels: Any) -> dict[str, float]:
    return {"nmi": metrics.nmi(target, labels), "accuracy": metrics.accuracy(target, labels)}


def add_memory(report: Report, case: Case, name: str, n_rows: int | None) -> None:
    """Add the peak memory of one fit beyond its input, over the input as float64."""
    peak, size, seconds = in_child(measure_memory, case, name, n_rows)
    has_target = name == "LMVSC" and case.has_memory_target
    report.add(
        f"{case.name}: peak memory of {name} / input",
        None if peak is None else peak / size,
        Target(at_most=0.5, indicative=n_rows is not None) if has_target else None,
        peak_bytes=peak, seconds=seconds, input_bytes_as_float64=size,
    )  # fmt: skip


def measure_memory(case: Case, name: str, n_rows: int | None) -> tuple[int | None, int, float]:
    """Give the peak of one fit beyond its input, the input's size as float64, and seconds."""
    views = load_case(case.name, n_rows)
    size = sum(_values(array) for array in views.arrays) * 8
    model, X = prepare(case, name, views)
    # Code that is loaded once is not the fit's memory.
    small = views[:: max(len(views) // 1000, 1)]
    prepare(case, name, small)[0].fit(prepare(case, name, small)[1])
    if name != "LMVSC":
        del views
    del small
    gc.collect()
    started = time.perf_counter()
    with warnings.catch_warnings(), PeakMemory() as peak:
        warnings.simplefilter("ignore")
        model.fit(X)
    return peak.bytes, size, time.perf_counter() - started


def _values(array: Any) -> int:
    return int(array.nnz if sparse.issparse(array) else array.size)
