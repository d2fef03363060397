"""As many cells as an atlas has: backed files beside the same cells in memory, in time and memory.

Cells of 2000 genes and 50 proteins are drawn from real ones (citeseq_pbmc10x): for each, cells of one
kind are put side by side until the columns are filled, and their counts drawn anew from Poisson's law.
They are written to a temporary folder as h5mu, by rows and by columns, clustered from there in a process
of its own, and removed. Their kinds are evident, so k-means decides; a tenth as many go the whole way,
by graphs. The whole form takes 10 GB of disk.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anndata
import mudata
import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.measure import in_child
from benchmarks.problems import find
from benchmarks.record import Report, Target
from manyview import datasets, metrics, sc
from manyview.machine import peak_bytes

DATA, N_GENES, N_PROTEINS = "citeseq_pbmc10x", 2000, 50
FULL, QUICK = 1_000_000, 10_000
BLOCK = 20_000


@dataclass(frozen=True)
class Outcome:
    """What one clustering took, its labels and their agreement with the kinds."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    labels: npt.NDArray[np.int32]
    nmi: float


def run(report: Report) -> None:
    if find(report, DATA) is None:
        return
    n_cells = QUICK if report.quick else FULL
    measure(report, n_cells)
    measure(report, n_cells // 10, " by graphs", n_repeats=3)


def measure(report: Report, n_cells: int, title: str = "", **settings: Any) -> None:
    """Add time and memory of every way to hold the cells."""
    folder = Path(tempfile.mkdtemp(prefix="manyview-bench-"))
    try:
        in_child(make_cells, folder, QUICK)
        in_child(cluster, folder, "memory", settings)  # what is compiled once is not timed
        in_child(make_cells, folder, n_cells)
        memory = in_child(cluster, folder, "memory", settings)
        add(report, f"CSR in memory{title}", memory, memory, n_cells)
        for kind in ("csr", "csc"):
            found = in_child(cluster, folder, kind, settings)
            add(report, f"backed {kind.upper()}{title}", found, memory, n_cells)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def add(report: Report, case: str, found: Outcome, memory: Outcome, n_cells: int) -> None:
    facts: dict[str, Any] = {
        "n_rows": n_cells, "cpu_seconds": found.cpu_seconds, "data": DATA, "method": case,
        "scores": {"nmi": found.nmi, "same": float((found.labels == memory.labels).mean())},
    }  # fmt: skip
    note = f"{found.cpu_seconds:.0f} s of CPU, NMI {found.nmi:.3f}"
    is_small = n_cells < FULL
    report.add(
        f"{n_cells} cells, {case}: GB", found.peak_bytes / 1e9,
        None if found is memory else Target(at_most=4.0, indicative=is_small),
        seconds=found.seconds, peak_bytes=found.peak_bytes, note=note, **facts,
    )  # fmt: skip
    if found is not memory:
        report.add(
            f"{n_cells} cells, {case}: CPU time / in memory",
            found.cpu_seconds / memory.cpu_seconds, Target(at_most=1.5, indicative=is_small),
            seconds=[found.seconds, memory.seconds], **facts,
        )  # fmt: skip
        assert np.array_equal(found.labels, memory.labels)


def make_cells(folder: Path, n_cells: int) -> None:
    """Write cells to ``csr.h5mu`` and ``csc.h5mu``."""
    real = datasets.load(DATA, download=False)
    genes, proteins = (np.asarray(X, np.float64) for X in real.arrays)
    rng = np.random.default_rng(0)
    kinds = rng.choice(real.target, n_cells)
    members = [np.flatnonzero(real.target == kind) for kind in range(int(real.target.max()) + 1)]
    parts: list[Any] = []
    counted = np.empty((n_cells, N_PROTEINS), np.float32)
    for start in range(0, n_cells, BLOCK):
        own = kinds[start : start + BLOCK]
        parts.append(sparse.csr_matrix(_draw(genes, own, members, N_GENES, rng)))
        counted[start : start + BLOCK] = _draw(proteins, own, members, N_PROTEINS, rng)
    rna = anndata.AnnData(sparse.vstack(parts, "csr"))
    del parts
    data = mudata.MuData({"rna": rna, "protein": anndata.AnnData(counted)})
    data.obs["kind"] = kinds
    data.write_h5mu(folder / "csr.h5mu")
    rna.X = rna.X.tocsc()
    data.write_h5mu(folder / "csc.h5mu")


def _draw(
    counts: npt.NDArray[np.float64],
    kinds: npt.NDArray[np.integer],
    members: list[npt.NDArray[np.int64]],
    width: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.float32]:
    """Rows of cells of these kinds, side by side up to a width, each count drawn anew."""
    sizes = np.array([len(each) for each in members])
    offsets, every = np.cumsum([0, *sizes[:-1]]), np.concatenate(members)
    sides = []
    for _ in range(-(-width // counts.shape[1])):
        chosen = every[offsets[kinds] + (rng.random(len(kinds)) * sizes[kinds]).astype(np.int64)]
        rows = counts[chosen]
        there = rows > 0
        rows[there] = rng.poisson(rows[there])
        sides.append(rows.astype(np.float32))
    return np.hstack(sides)[:, :width]


def cluster(folder: Path, kind: str, settings: dict[str, Any]) -> Outcome:
    """Cluster the cells of a file, or loaded from it beforehand."""
    warnings.simplefilter("ignore")
    is_loaded = kind == "memory"
    path = folder / f"{'csr' if is_loaded else kind}.h5mu"
    data = mudata.read_h5mu(path) if is_loaded else mudata.read_h5mu(path, backed="r")
    target = data.obs["kind"].to_numpy()
    wall, cpu = time.perf_counter(), time.process_time()
    k = len(np.unique(target))
    sc.tl.lmvsc(data, k, random_state=0, neighbors=None, n_jobs=1, **settings)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    labels = data.obs["manyview"].cat.codes.to_numpy().astype(np.int32)
    return Outcome(seconds, cpu_seconds, peak_bytes(), labels, metrics.nmi(target, labels))
