"""Cells of 13 studies by nine proteins: with and without the studies' key, beside k-means and Harmony.

NMI with the kinds of cells, and how far clusters are explained by studies: mutual information over the
smaller entropy, 0 if they say nothing of each other. Harmony (harmonypy) is left out where it is not
installed.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from benchmarks.record import Report, Target
from benchmarks.single_cell import clr
from manyview import metrics, sc

DATA, N_ROWS, N_SEEDS = "adt13", 20_000, 5

Labels = npt.NDArray[np.integer]
Method = Callable[[Any, Any, int, int], Labels]


def run(report: Report) -> None:
    path = Path(os.environ.get("MANYVIEW_DATA", ".")) / f"{DATA}.npz"
    if not path.exists():
        report.add(f"{DATA}: not on this machine", note="missing data")
        return
    with np.load(path, allow_pickle=False) as parts:
        counts, kinds, batch = parts["view_0"], parts["labels"], parts["batch"]
    measure(report, counts, kinds, batch, range(1 if report.quick else N_SEEDS))
    if not report.quick:
        measure(report, counts, kinds, batch, [0], n_rows=len(counts), methods=[PLAIN, WITH_KEY])


def measure(
    report: Report,
    counts: Any,
    kinds: Labels,
    batch: Labels,
    seeds: Sequence[int],
    *,
    n_rows: int = N_ROWS,
    methods: Sequence[str] | None = None,
) -> None:
    """Add a line for every method: the mean NMI, and of each seed both figures and the CPU seconds."""
    plain = None
    for name, cluster in METHODS.items():
        if methods is not None and name not in methods:
            continue
        if name.startswith("Harmony") and not importlib.util.find_spec("harmonypy"):
            continue
        found = []
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(len(counts))[:n_rows]
            some, target, own = counts[order], kinds[order], batch[order]
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = cluster(some, own, len(np.unique(target)), seed)
            found.append({
                "nmi": metrics.nmi(target, labels),
                "explained": metrics.nmi(own, labels, average="min"),
                "kinds_explained": metrics.nmi(own, target, average="min"),
                "cpu_seconds": time.process_time() - started,
            })  # fmt: skip
        nmi = float(np.mean([each["nmi"] for each in found]))
        plain = nmi if name == PLAIN else plain
        target_nmi = Target(at_least=plain) if name == WITH_KEY else None
        explained = float(np.mean([each["explained"] for each in found]))
        report.add(
            f"{name}, {len(some)} cells", nmi, target_nmi, scores=found, seed=list(seeds), data=DATA,
            method=name, n_rows=len(some), explained=explained,
            seconds=[each["cpu_seconds"] for each in found],
            note=f"explained by study {explained:.3f}",
        )  # fmt: skip


def ours(counts: Any, batch: Labels, k: int, seed: int) -> Labels:
    """Labels without the key."""
    return _cluster(counts, batch, k, seed, None)


def ours_with_key(counts: Any, batch: Labels, k: int, seed: int) -> Labels:
    """Labels with the key."""
    return _cluster(counts, batch, k, seed, "study")


def _cluster(counts: Any, batch: Labels, k: int, seed: int, key: str | None) -> Labels:
    data = anndata.AnnData(np.asarray(counts, np.float32))
    data.obs["study"] = batch.astype(str)
    sc.tl.lmvsc(data, k, random_state=seed, batch_key=key, neighbors=None)
    return np.asarray(data.obs["manyview"].cat.codes)


def k_means(counts: Any, batch: Labels, k: int, seed: int) -> Labels:
    """Labels by k-means on centred log-ratios."""
    rows = clr(np.asarray(counts, np.float64))
    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(rows))


def harmony(counts: Any, batch: Labels, k: int, seed: int) -> Labels:
    """Labels by k-means on centred log-ratios that Harmony has corrected."""
    import harmonypy
    import pandas as pd

    logging.getLogger("harmonypy").setLevel(logging.ERROR)
    rows = clr(np.asarray(counts, np.float64))
    table = pd.DataFrame({"study": batch.astype(str)})
    corrected = np.asarray(harmonypy.run_harmony(rows, table, "study", random_state=seed).Z_corr)
    corrected = corrected if len(corrected) == len(rows) else corrected.T
    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(corrected))


PLAIN, WITH_KEY = "sc.tl.lmvsc", "sc.tl.lmvsc with batch_key"
METHODS: dict[str, Method] = {
    PLAIN: ours,
    WITH_KEY: ours_with_key,
    "k-means, CLR": k_means,
    "Harmony + k-means, CLR": harmony,
}
