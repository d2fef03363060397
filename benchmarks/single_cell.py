"""Cells by RNA and protein: sc.tl.lmvsc without tuning, beside what biologists use, over seeds.

k-means on raw, log and centred log-ratio counts; scanpy's PCA, neighbours and Leiden; muon's weighted
nearest neighbours (WNN) and Leiden, both with the resolution searched for the true number of kinds and
with the best of five picked by the labels. scanpy's and muon's ways are left out where they are not
installed. Every fit is a child process: its CPU seconds and most memory are its own.

python -m benchmarks.single_cell [--sets NAME ...] [--methods NAME ...]
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import anndata
import mudata
import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from benchmarks.problems import find
from benchmarks.record import Report, Target
from manyview import Views, metrics, sc

SETS = {"citeseq_pbmc10x": 0.80, "citeseq_gse100866": 0.90, "adt13": None}
"""Data sets, and the least NMI that is hoped for."""
MOST_ROWS = {"adt13": 10_000}
N_SEEDS = 5
RESOLUTIONS = (0.1, 0.25, 0.5, 1.0, 2.0)
RARE, FOUND = 30, 0.5  # cells of a kind that should be found, and the F1 that says it was

Labels = npt.NDArray[np.integer]
Method = Callable[[Views, int, int], dict[str, Labels]]


def run(
    report: Report, names: Sequence[str] = tuple(SETS), methods: Sequence[str] | None = None
) -> None:
    for name in names:
        if (cells := find(report, name)) is None:
            continue
        least, seeds = SETS[name], range(1 if report.quick else N_SEEDS)
        target = None if least is None else Target(at_least=least, indicative=report.quick)
        measure(report, cells, seeds, name=name, target=target, methods=methods)


def measure(
    report: Report,
    cells: Views,
    seeds: Sequence[int],
    *,
    name: str,
    target: Target | None = None,
    methods: Sequence[str] | None = None,
) -> None:
    """Add a line for every method and way to choose among its labels, with the scores of each seed."""
    for method, cluster in METHODS.items():
        if (methods is not None and method not in methods) or not is_installed(method):
            continue
        if "WNN" in method and cells.n_views < 2:
            continue
        found: dict[str, list[dict[str, Any]]] = {}
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(len(cells))[: MOST_ROWS.get(name)]
            some = cells[order]
            tried, cpu, peak = _in_a_child(cluster, some, len(np.unique(some.target)), seed)
            for way, labels in _ways(tried, some.target).items():
                scores = judge(some.target, labels)
                found.setdefault(way, []).append({**scores, "cpu_seconds": cpu, "peak_bytes": peak})
        for way, scores in found.items():
            nmi = [each["nmi"] for each in scores]
            report.add(
                f"{name}: {method}{way}", float(np.mean(nmi)), target if method == OURS else None,
                seconds=[each["cpu_seconds"] for each in scores], scores=scores, seed=[*seeds],
                data=name, method=method + way, n_rows=len(some),
                peak_bytes=[each["peak_bytes"] for each in scores],
                note=f"{min(nmi):.3f} to {max(nmi):.3f}, {[each['n_clusters'] for each in scores]}, "
                f"macro F1 {np.mean([each['macro_f1'] for each in scores]):.4f}, "
                f"{[each['n_found'] for each in scores]} of {scores[0]['n_kinds']} kinds found, "
                f"{np.mean([each['cpu_seconds'] for each in scores]):.1f} s",
            )  # fmt: skip


def judge(target: Labels, labels: Labels) -> dict[str, Any]:
    """NMI, ARI, the mean over kinds of the best F1 of a cluster, and how many rare kinds are found."""
    kinds, counts = np.unique(target, return_counts=True)
    best = []
    for kind in kinds:
        inside = np.unique(labels[target == kind], return_counts=True)
        sizes = [(labels == cluster).sum() for cluster in inside[0]]
        total = (target == kind).sum()
        best.append(max(2 * n / (size + total) for n, size in zip(inside[1], sizes, strict=True)))
    is_found = np.array(best) >= FOUND
    scores = metrics.scores(target, labels)
    return {
        "nmi": scores["nmi"],
        "ari": scores["ari"],
        "macro_f1": float(np.mean(best)),
        "n_kinds": int((counts >= RARE).sum()),
        "n_found": int((is_found & (counts >= RARE)).sum()),
        "n_clusters": len(np.unique(labels)),
        "f1": [round(float(each), 3) for each in best],
    }


def _ways(tried: dict[str, Labels], target: Labels) -> dict[str, Labels]:
    """One result as it is; of several, that for k and that which the labels like best."""
    if "" in tried:
        return tried
    others = {name: labels for name, labels in tried.items() if name != "k"}
    best = max(others, key=lambda name: metrics.nmi(target, others[name]))
    return {", resolution for k": tried["k"], ", best of five": others[best]}


def _in_a_child(
    cluster: Method, cells: Views, k: int, seed: int
) -> tuple[dict[str, Labels], float, int]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(sender, cluster, cells, k, seed))
    child.start()
    sender.close()
    try:
        result: tuple[dict[str, Labels], float, int] = receiver.recv()
    finally:
        child.join()
    return result


def _work(sender: Any, cluster: Method, cells: Views, k: int, seed: int) -> None:
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = cluster(cells, k, seed)
    seconds = time.process_time() - started
    sender.send((labels, seconds, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


def cluster_cells(cells: Views, k: int, seed: int) -> dict[str, Labels]:
    """By the function that users call."""
    data = _annotate(cells)
    sc.tl.lmvsc(data, k, random_state=seed, neighbors=None)
    return {"": data.obs["manyview"].astype(int).to_numpy()}


def cluster_openly(cells: Views, k: int, seed: int) -> dict[str, Labels]:
    """The same, without being told how many kinds there are."""
    data = _annotate(cells)
    sc.tl.lmvsc(data, "auto", random_state=seed, neighbors=None)
    return {"": data.obs["manyview"].astype(int).to_numpy()}


def k_means(scale: Callable[[Any], Any]) -> Method:
    """By k-means, views weighted equally."""

    def cluster(cells: Views, k: int, seed: int) -> dict[str, Labels]:
        parts = [scale(_dense(X)) for X in cells.arrays]
        parts = [X - X.mean(axis=0) for X in parts]
        wide = np.hstack([X / np.sqrt((X**2).sum(axis=1).mean()) for X in parts])
        return {"": KMeans(k, n_init=10, random_state=seed).fit_predict(wide)}

    return cluster


def pca_leiden(cells: Views, k: int, seed: int) -> dict[str, Labels]:
    """By scanpy: PCA of the first view (log counts; proteins by CLR), neighbours, Leiden."""
    import scanpy

    data = _prepare(cells.arrays[0])
    scanpy.pp.neighbors(data, use_rep="X_pca", random_state=seed)
    return _leiden(lambda resolution: scanpy.tl.leiden(
        data, resolution=resolution, random_state=seed, flavor="igraph", n_iterations=2,
        directed=False,
    ), data, k)  # fmt: skip


def wnn_leiden(cells: Views, k: int, seed: int) -> dict[str, Labels]:
    """By muon: weighted nearest neighbours of both views, Leiden."""
    import muon
    import scanpy

    data = mudata.MuData({name: _prepare(X) for name, X in cells.items()})
    for part in data.mod.values():
        scanpy.pp.neighbors(part, use_rep="X_pca", random_state=seed)
    muon.pp.neighbors(data, key_added="wnn", random_state=seed)
    return _leiden(lambda resolution: scanpy.tl.leiden(
        data, resolution=resolution, random_state=seed, neighbors_key="wnn", flavor="igraph",
        n_iterations=2, directed=False,
    ), data, k)  # fmt: skip


def _prepare(X: Any) -> Any:
    import scanpy

    values = _dense(X)
    data = anndata.AnnData(clr(values) if values.shape[1] < 100 else values)
    if values.shape[1] >= 100:
        scanpy.pp.normalize_total(data)
        scanpy.pp.log1p(data)
    scanpy.pp.scale(data, max_value=10)
    scanpy.pp.pca(data, n_comps=min(30, values.shape[1] - 1))
    return data


def _leiden(cluster: Callable[[float], Any], data: Any, k: int) -> dict[str, Labels]:
    """Labels at five resolutions, and at that which gives k or comes nearest in ten halvings."""
    found, tried = {}, {}

    def at(resolution: float) -> Labels:
        cluster(resolution)
        codes: Labels = data.obs["leiden"].astype(int).to_numpy()
        tried[resolution] = codes
        return codes

    for resolution in RESOLUTIONS:
        found[str(resolution)] = at(resolution)
    low, high = 0.01, 4.0
    for _ in range(10):
        middle = (low * high) ** 0.5
        n_found = len(np.unique(at(middle)))
        if n_found == k:
            break
        low, high = (middle, high) if n_found < k else (low, middle)
    nearest = min(tried, key=lambda resolution: abs(len(np.unique(tried[resolution])) - k))
    return {**found, "k": tried[nearest]}


def clr(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Logarithms less their mean in each cell."""
    logs = np.log1p(X)
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def _standard(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _annotate(cells: Views) -> Any:
    parts = {name: anndata.AnnData(X) for name, X in cells.items()}
    return mudata.MuData(parts) if len(parts) > 1 else next(iter(parts.values()))


def _dense(X: Any) -> npt.NDArray[np.float64]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


OURS = "sc.tl.lmvsc"
METHODS: dict[str, Method] = {
    OURS: cluster_cells,
    f'{OURS}, n_clusters="auto"': cluster_openly,
    "k-means, raw": k_means(_standard),
    "k-means, log": k_means(lambda X: _standard(np.log1p(X))),
    "k-means, CLR": k_means(clr),
    "scanpy PCA + Leiden": pca_leiden,
    "muon WNN + Leiden": wnn_leiden,
}


def is_installed(method: str) -> bool:
    """Whether a method's library is there."""
    needed = {"scanpy PCA + Leiden": "scanpy", "muon WNN + Leiden": "muon"}.get(method)
    return needed is None or importlib.util.find_spec(needed) is not None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.single_cell", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="all by default")
    chosen = parser.parse_args(arguments)
    run(Report("single_cell"), chosen.sets, chosen.methods)


if __name__ == "__main__":
    main()
