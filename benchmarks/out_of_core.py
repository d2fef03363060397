"""Views larger than memory: time a row, resident memory, and labels beside the in-memory engine's.

Three views of 64 float32 columns are made in a temporary folder, fitted from there by the disk engine in
a process of its own, and removed. The files are put out of the system's cache before the fit, so that
they are really read. The whole form needs 25 GB of disk and some minutes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anndata
import numpy as np
from scipy import sparse

from benchmarks.measure import in_child
from benchmarks.record import Report, Target
from manyview import LMVSC
from manyview.engines import Disk
from manyview.machine import count_jobs, forget_peak, peak_bytes

N_VIEWS, N_COLUMNS, N_CLUSTERS = 3, 64, 10
FIXED = {
    "n_anchors": 100, "alpha": 0.01, "locality": 0.0, "scaling": "standard", "fusion": "late",
    "n_repeats": 1, "view_weights": "equal", "n_components": N_CLUSTERS,
}  # fmt: skip
BLOCK = 100_000


@dataclass(frozen=True)
class Sizes:
    """Rows of the large set, of the one that memory holds, of the sparse one; its columns."""

    large: int
    small: int
    sparse: int
    words: int


FULL = Sizes(10_000_000, 1_000_000, 1_000_000, 50_000)
QUICK = Sizes(200_000, 50_000, 50_000, 5_000)


@dataclass(frozen=True)
class Outcome:
    """What one fit took, and its labels' file."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stages: dict[str, float]
    labels: Path


def run(report: Report) -> None:
    measure(report, QUICK if report.quick else FULL)


def measure(report: Report, sizes: Sizes) -> None:
    """Add time, memory and labels of every case."""
    folder = Path(tempfile.mkdtemp(prefix="manyview-bench-"))
    try:
        in_child(make_views, folder, sizes.large)
        memory = in_child(fit, folder, "memory", sizes.small, FIXED)
        small = in_child(fit, folder, "disk", sizes.small, FIXED)
        add_small(report, "npy", small, memory, sizes)
        large = in_child(fit, folder, "disk", sizes.large, FIXED)
        add_large(report, large, memory, sizes)
        in_child(make_zarr, folder, sizes.small)
        for file in folder.glob("view-*.npy"):
            _forget_after(file, sizes.small)
        add_small(report, "zarr", in_child(fit, folder, "zarr", sizes.small, FIXED), memory, sizes)
        add_default(report, folder, sizes)
        in_child(make_words, folder, sizes.sparse, sizes.words)
        add_sparse(report, in_child(fit_words, folder), sizes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def add_large(report: Report, large: Outcome, memory: Outcome, sizes: Sizes) -> None:
    facts = {"n_rows": sizes.large, "stages": large.stages, "peak_bytes": large.peak_bytes}
    report.add(
        f"{sizes.large} rows from npy, resident memory, GB", large.peak_bytes / 1e9,
        Target(at_most=1.5, indicative=report.quick), seconds=large.seconds, **facts,
    )  # fmt: skip
    name = f"{sizes.large} rows from npy"
    add_times(report, name, large, memory, rows=(sizes.large, sizes.small))


def add_small(
    report: Report, kind: str, disk: Outcome, memory: Outcome, sizes: Sizes, title: str = ""
) -> None:
    differing = int((np.load(disk.labels) != np.load(memory.labels)).sum())
    name = f"{sizes.small} rows from {kind}{title}"
    report.add(f"{name}, labels that differ from memory's", differing, Target(at_most=0.0))
    add_times(report, name, disk, memory, rows=(sizes.small, sizes.small))


def add_times(
    report: Report, name: str, disk: Outcome, memory: Outcome, *, rows: tuple[int, int]
) -> None:
    """Add the disk engine's time a row over the memory engine's, by the clock and of the CPU.

    The second leaves out what others on the machine took, and waiting for the disk.
    """
    facts = {
        "n_rows": rows, "stages": disk.stages, "memory_stages": memory.stages,
        "peak_bytes": disk.peak_bytes, "load_average": os.getloadavg()[1],
    }  # fmt: skip
    n_disk, n_memory = rows
    report.add(
        f"{name}, time a row / memory's at {n_memory}",
        disk.seconds / n_disk / (memory.seconds / n_memory),
        Target(at_most=1.6, indicative=report.quick or os.getloadavg()[1] > 3 * count_jobs()),
        seconds=[disk.seconds, memory.seconds], **facts,
    )  # fmt: skip
    report.add(
        f"{name}, CPU time a row / memory's at {n_memory}",
        disk.cpu_seconds / n_disk / (memory.cpu_seconds / n_memory),
        seconds=[disk.cpu_seconds, memory.cpu_seconds], **facts,
    )  # fmt: skip


def add_default(report: Report, folder: Path, sizes: Sizes) -> None:
    """Add the default settings, at the smaller size."""
    memory = in_child(fit, folder, "memory", sizes.small, {})
    disk = in_child(fit, folder, "disk", sizes.small, {})
    add_small(report, "npy", disk, memory, sizes, title=", default settings")


def add_sparse(report: Report, outcome: Outcome, sizes: Sizes) -> None:
    report.add(
        f"{sizes.sparse} x {sizes.words} sparse, resident memory, GB", outcome.peak_bytes / 1e9,
        Target(at_most=2.0, indicative=report.quick), seconds=outcome.seconds,
        peak_bytes=outcome.peak_bytes, stages=outcome.stages, n_rows=sizes.sparse,
    )  # fmt: skip


# What follows runs in processes of its own.


def make_views(folder: Path, n_rows: int) -> None:
    """Write three views: ten groups of a few dimensions each, and noise."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_VIEWS, N_CLUSTERS, N_COLUMNS)).astype(np.float32)
    files = []
    for view in range(N_VIEWS):
        file = (folder / f"view-{view}.npy").open("wb")
        header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, N_COLUMNS)}
        np.lib.format.write_array_header_1_0(file, header)
        files.append(file)
    for start in range(0, n_rows, BLOCK):
        rng = np.random.default_rng([1, start])
        n = min(BLOCK, n_rows - start)
        groups = rng.integers(0, N_CLUSTERS, n)
        for view, file in enumerate(files):
            noise = 1.5 * rng.standard_normal((n, N_COLUMNS), dtype=np.float32)
            (centers[view][groups] + noise).tofile(file)
    for file in files:
        file.flush()
        os.fsync(file.fileno())
        file.close()


def make_zarr(folder: Path, n_rows: int) -> None:
    """Write the first rows of each view as a zarr array, compressed, in chunks that fit no tile."""
    import zarr

    for view in range(N_VIEWS):
        rows = np.load(folder / f"view-{view}.npy", mmap_mode="r")[:n_rows]
        zarr.create_array(folder / f"view-{view}.zarr", data=np.asarray(rows), chunks=(10_000, 64))


def make_words(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write word counts in ten topics, a thousandth of them not zero, as a sparse h5ad file."""
    rng = np.random.default_rng(0)
    length = max(n_columns // 1000, 5)
    groups = rng.integers(0, N_CLUSTERS, n_rows)
    own = rng.integers(0, n_columns // 10, (n_rows, length)) * 10 + groups[:, None]
    any_word = rng.integers(0, n_columns, (n_rows, length))
    words = np.where(rng.random((n_rows, length)) < 0.5, own, any_word).astype(np.int32)
    words.sort(axis=1)
    counts = rng.integers(1, 5, n_rows * length).astype(np.float32)
    indptr = np.arange(n_rows + 1, dtype=np.int64) * length
    rows = sparse.csr_array((counts, words.ravel(), indptr), shape=(n_rows, n_columns))
    anndata.AnnData(rows).write_h5ad(folder / "words.h5ad")


def fit(folder: Path, kind: str, n_rows: int, params: dict[str, Any]) -> Outcome:
    """Fit the first rows of the views from npy or zarr files, or from memory."""
    suffix = "zarr" if kind == "zarr" else "npy"
    paths = [folder / f"view-{view}.{suffix}" for view in range(N_VIEWS)]
    _put_out_of_cache(folder)
    views: list[Any] = list(paths)
    if kind != "zarr":
        views = [np.load(path, mmap_mode="r")[:n_rows] for path in paths]
    if kind == "memory":
        views = [np.array(view) for view in views]
    engine = "memory" if kind == "memory" else Disk("600 MB")
    return _fit(views, engine, params, folder / f"labels-{kind}-{n_rows}-{len(params)}.npy")


def fit_words(folder: Path) -> Outcome:
    """Fit the sparse file, which is first turned into rows beside it."""
    engine = Disk("600 MB")
    return _fit([folder / "words.h5ad"], engine, {"n_anchors": 100}, folder / "labels-words.npy")


def _fit(views: list[Any], engine: Any, params: dict[str, Any], labels: Path) -> Outcome:
    some = np.random.default_rng(0).normal(size=(3000, N_COLUMNS))
    LMVSC(N_CLUSTERS, random_state=0, **params).fit([some] * len(views))  # loads compiled code
    forget_peak()
    started, cpu = time.perf_counter(), time.process_time()
    model = LMVSC(N_CLUSTERS, random_state=0, engine=engine, **params).fit(views)
    seconds = time.perf_counter() - started
    cpu_seconds, peak = time.process_time() - cpu, peak_bytes()
    np.save(labels, model.labels_)
    return Outcome(seconds, cpu_seconds, peak, model.stage_seconds_, labels)


def _put_out_of_cache(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _forget_after(file: Path, n_rows: int) -> None:
    """Cut a view short, to make room on the disk."""
    rows = np.load(file, mmap_mode="r")[:n_rows]
    shorter = file.with_suffix(".part")
    with shorter.open("wb") as out:
        np.lib.format.write_array(out, np.asarray(rows))
    os.replace(shorter, file)
