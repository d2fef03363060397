"""What a fit costs by its sizes: a model fitted to measured fits, its error on others, a simulation.

Default fits of many sizes run on one thread and are timed stage by stage in CPU seconds. Every stage
gets a sum of terms with coefficients of at least zero; fits that were not used for that judge it. What a
task costs the scheduler and the driver is measured on a real scheduler. From both, a simulation of the
task graph tells what 1e8 and 1e9 rows would take. All goes to ``results/cost_model.json``; the picture
and the tables of ``docs/explanation/scaling.rst`` are made from it.
"""

from __future__ import annotations

import json
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from benchmarks.cost_tables import draw, write_tables
from benchmarks.dask_cluster import local_cluster
from benchmarks.measure import in_child
from benchmarks.record import ROOT, Report, Target, code_and_machine
from benchmarks.task_graph import Cluster, Costs, simulate
from manyview import LMVSC, Views
from manyview.datasets import make_views
from manyview.machine import resident_bytes
from manyview.stages.fusion import graph_moments
from manyview.stages.graph import GraphRows
from manyview.stages.sampling import ROWS_PER_ANCHOR, size_of_sample

STAGES = (
    "sample", "pilot", "anchors", "graph", "spectrum", "clusters", "embedding", "labels",
    "oddness", "confidence",
)  # fmt: skip
N_FITS, N_HELD_BACK = 40, 14
N_AXES = 50  # that a graph of one view sees, where the view has more columns
_MOST_IN_PILOT = 1000  # anchors of the graphs that settings are tried on
DOCS = ROOT / "docs"

Sizes = dict[str, float]


def run(report: Report) -> None:
    sizes = draw_sizes(8 if report.quick else N_FITS, seed=0, n_rows=(15_000, 60_000))
    others = draw_sizes(4 if report.quick else N_HELD_BACK, seed=1, n_rows=(15_000, 120_000))
    repeats = 1 if report.quick else 2
    runs = in_child(measure_fits, sizes, repeats)
    held_back = in_child(measure_fits, others, repeats)
    # Where clusters are evident or a gap tells them apart, one seed is enough and most work is left out:
    # that is another cost.
    runs, held_back = ([run for run in each if run["r"] > 1] for each in (runs, held_back))
    model = fit_model(runs)
    errors = relative_errors(model, held_back)
    facts = {"n_fits": len(runs), "n_held_back": len(held_back)}
    target = Target(at_most=0.25, indicative=report.quick)
    report.add("mean error on held-back fits", float(errors.mean()), target, threads=1, **facts)
    report.add("largest error on held-back fits", float(errors.max()), target, threads=1, **facts)
    with tempfile.TemporaryDirectory() as folder, local_cluster(Path(folder)) as client:
        costs = measure_tasks(client, n_blocks=100 if report.quick else 1000)
    for name, value in vars(costs).items():
        report.add(f"a task: {name.replace('_', ' ')}", value, threads=1)
    example, measured = in_child(measure_example, (1, 2, 4) if report.quick else (4, 16, 64))
    content = {
        **code_and_machine(), "coefficients": model, "fits": runs, "held_back": held_back,
        "errors": errors.tolist(), "task": vars(costs), "example": example, "sums": measured,
        "predictions": predict_all(model, costs, example, measured),
    }  # fmt: skip
    report.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=1, default=float) + "\n"
    (report.folder / "cost_model.json").write_text(text)
    write_page(content, report.folder if report.quick else DOCS)


def write_page(content: dict[str, Any], folder: Path) -> None:
    """Write the picture and the tables of the page on scaling."""

    def predict(fit: dict[str, Any]) -> float:
        return seconds_of(content["coefficients"], fit)

    for part in ("_static", "explanation"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    draw(folder / "_static" / "scaling.png", content, predict)
    write_tables(folder / "explanation" / "scaling.inc", content, predict)


def draw_sizes(count: int, *, seed: int, n_rows: tuple[int, int]) -> list[dict[str, Any]]:
    """Give sizes of fits, spread evenly on a scale of ratios, and how noisy their views are."""
    rng = np.random.default_rng(seed)
    ranges = {"n": n_rows, "d": (16, 256), "v": (1, 4), "k": (3, 30)}
    columns = {}
    for name, (low, high) in ranges.items():
        places = (rng.permutation(count) + rng.random(count)) / count
        columns[name] = np.rint(low * (high / low) ** places).astype(int).tolist()
    # With less noise some clusters are evident, and most of the work is left out.
    columns["noise"] = rng.permutation(np.geomspace(1.0, 3.0, count)).round(2).tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def measure_fits(sizes: list[dict[str, Any]], repeats: int) -> list[dict[str, Any]]:
    """Give every default fit's sizes and CPU seconds by stage, the least of some repeats.

    For a process of its own. Whatever else runs on a machine only adds to what a fit takes.
    """
    from manyview import machine

    machine.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]
    _fit(sizes[0])  # only loads the code
    results = []
    for size in sizes:
        fits = [_fit(size) for _ in range(repeats)]
        spent = [model.stage_seconds_ for model, _ in fits]
        seconds = {stage: min(each[stage] for each in spent) for stage in STAGES}
        results.append({**size, **fits[0][1], "seconds": seconds})
    return results


def _fit(size: Sizes) -> tuple[LMVSC, Sizes]:
    """A default fit, and the sizes that its data decide."""
    views = _views(size)
    with counted_products() as sides:
        model = LMVSC(int(size["k"]), random_state=0, n_jobs=1).fit(views)
    return model, {**_seen(model), "p": sum(side > _MOST_IN_PILOT for side in sides)}


@contextmanager
def counted_products() -> Iterator[list[int]]:
    """The side of the matrix in every product that finding eigenvectors takes, one vector at a time."""
    from manyview.stages import eigen

    sides: list[int] = []
    original = eigen.eigsh

    def counted(matrix: Any, *args: Any, **kwargs: Any) -> Any:
        operator = aslinearoperator(matrix)

        def product(vector: Any) -> Any:
            sides.append(operator.shape[0])
            return operator.matvec(vector)

        counting = LinearOperator(operator.shape, matvec=product, dtype=float)
        return original(counting, *args, **kwargs)

    eigen.eigsh = counted
    try:
        yield sides
    finally:
        eigen.eigsh = original


def _views(size: Sizes) -> Views:
    n, d, v, k = (int(size[name]) for name in "ndvk")
    return make_views(n, k, (d,) * v, noise=size["noise"], dtype=np.float32, random_state=0)


def _seen(model: LMVSC) -> Sizes:
    """Sizes that the data decide: those of scaling, graphs, embedding and final k-means."""
    graphs = model.solver_report_["graphs"]
    chosen = {choice["parameter"]: choice["value"] for choice in model.choices_}
    return {
        "r": chosen["n_repeats"],
        "u": 1 + max(graph["repeat"] for graph in graphs),
        "m": graphs[0]["n_anchors"],
        "s": float(np.mean([graph["mean_support"] for graph in graphs])),
        "c": model.embedding_.shape[1],
        "i": model.n_iter_,
        "q": sum(kind == "normal-scores" for kind in model.scaling_),
    }


def terms(size: Sizes) -> dict[str, dict[str, float]]:
    """Give the terms of each stage's time. Those named "row" grow with n, the others do not.

    n rows, v views of d columns, k clusters; r anchor seeds, u of them for all rows and the others for
    the sample; m anchors in each of g graphs, which see a columns in all; s anchors that a row uses in
    each; c columns of the embedding, i sweeps of k-means; q views scaled by ranks; p products of a
    vector and a Gram matrix until all vectors are found.
    """
    n, d, v, k, r, u, m, s, c, i, q, p = (size[name] for name in "ndvkrumsciqp")
    g = v + 1 if v > 1 else 1  # one graph a view, and one of all side by side
    axes = min(d, N_AXES)
    a = 2 * v * axes if v > 1 else axes
    sample = size_of_sample(int(n), int(m), int(k))
    placed = r * min(n, ROWS_PER_ANCHOR * m)  # sampled rows for each seed's anchors
    few = min(n, 4000)
    entries = g * s
    # Where the sample is not all rows, its graph rows are built once more, of rows scaled already.
    built = n * u + (sample * r if sample < n else 0)
    # What a product takes: rows twice, or their sums where these are fewer numbers.
    held = min(2.0 * n * entries, float(g * m) ** 2)
    return {
        "sample": {"once": 1.0, "sample v d": sample * v * d},
        "pilot": {
            "once": 1.0, "few v d": few * v * d, "few v d^2": few * v * d * d,
            "few g": few * g, "few a": few * a, "few k c": few * k * c,
        },
        "anchors": {
            "once": 1.0, "sample v d": sample * v * d, "sample v d^2": sample * v * d * d,
            "sample q d": sample * q * d, "sample r g": placed * g,
            "sample r g m": placed * g * m, "sample r a m": placed * a * m,
        },
        "graph": {
            "row v": n * v, "row v d": n * v * d, "row q d": n * q * d,
            "row v d axes": n * v * d * axes, "row u g": built * g,
            "row u g m": built * g * m, "row u a m": built * a * m,
            "row u entries^2": n * u * entries**2,
        },
        "spectrum": {
            "once": 1.0, "r g m c": r * g * m * c, "r g m c^2": r * g * m * c * c,
            "r entries^2 c": sample * r * entries**2 * c,
            "p held": p * held, "p g m k": p * g * m * k,
        },
        "clusters": {
            "once": 1.0, "r g m": r * g * m, "sample r a m": sample * r * a * m,
            "sample r entries": sample * r * entries, "sample r entries c": sample * r * entries * c,
            "sample k c": sample * k * c,
        },
        "embedding": {"row c": n * c, "row u entries c": n * u * entries * c},
        "labels": {"once": 1.0, "row i c": n * i * c, "row i k c": n * i * k * c},
        "oddness": {"once": 1.0, "sample v d": sample * v * d, "row v": n * v, "row v d": n * v * d},
        "confidence": {"once": 1.0, "few v d": few * v * d, "row c": n * c, "row k c": n * k * c},
    }  # fmt: skip


def fit_model(runs: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Give the coefficients of every stage that fit the runs best, relative to each run's time."""
    model = {}
    for stage in STAGES:
        rows = [terms(run)[stage] for run in runs]
        seconds = np.array([run["seconds"][stage] for run in runs])
        # A stage that takes no time should not be fitted as closely as one that takes all.
        weights = 1.0 / (seconds + 0.02 * np.array([sum(run["seconds"].values()) for run in runs]))
        matrix = np.array([list(row.values()) for row in rows]) * weights[:, None]
        scale = np.linalg.norm(matrix, axis=0)
        found, _ = nnls(matrix / scale, seconds * weights)
        model[stage] = dict(zip(rows[0], (found / scale).tolist(), strict=True))
    return model


def seconds_of(
    model: dict[str, dict[str, float]], size: Sizes, *, rows: bool | None = None
) -> float:
    """Give CPU seconds of a fit: all, or only what grows with rows, or only what does not."""
    return sum(
        model[stage][name] * value
        for stage, of_stage in terms(size).items()
        for name, value in of_stage.items()
        if rows is None or name.startswith("row") is rows
    )


def relative_errors(model: dict[str, dict[str, float]], runs: list[dict[str, Any]]) -> np.ndarray:
    """Give |predicted - measured| / measured of every run's whole time."""
    measured = np.array([sum(run["seconds"].values()) for run in runs])
    return np.abs(np.array([seconds_of(model, run) for run in runs]) - measured) / measured


def measure_tasks(client: Any, *, n_blocks: int) -> Costs:
    """Give what a task costs beside its work, by stages of our own that do next to nothing."""
    import dask.array as da
    from distributed import wait

    from manyview.engines import Dask
    from manyview.engines.base import TILE_ROWS, Run

    array = client.persist(da.zeros((n_blocks * TILE_ROWS, 1), chunks=(TILE_ROWS, 1), dtype="u1"))
    wait(array)
    rows = Dask(client).open([array], Run(1))
    rows.map_reduce(_one, stage="warm-up")
    before = client.run_on_scheduler(_scheduler_state)
    driver, repeats = time.process_time(), 5
    for _ in range(repeats):
        rows.map_reduce(_one, stage="count")
    after = client.run_on_scheduler(_scheduler_state)
    driver = time.process_time() - driver
    n_tasks = repeats * n_blocks * 8 / 7  # one a block, and one for every eight to add them
    kept = rows.derive(_keep)
    kept.map_reduce(_one, stage="keep")
    held = client.run_on_scheduler(_scheduler_state)
    return Costs(
        scheduler_seconds=(after[0] - before[0]) / n_tasks,
        driver_seconds=driver / n_tasks,
        scheduler_bytes=max(held[1] - after[1], 0) / n_blocks,
    )


def _one(tile: Any, first_row: int) -> int:
    return 1


def _keep(tile: Any, first_row: int) -> Any:
    return tile[0][:1]


def _scheduler_state() -> tuple[float, int]:
    return time.process_time(), resident_bytes()


EXAMPLE: Sizes = {"d": 64, "v": 3, "k": 10, "noise": 2.0}
"""Three views of 64 columns: the example of the page. Its other sizes are seen in a fit."""


def measure_example(n_tiles: tuple[int, ...]) -> tuple[Sizes, dict[int, int]]:
    """The example's sizes, and bytes of the graph's sums over so many tiles; in a process of its own."""
    from manyview.engines.base import TILE_ROWS

    size = {**EXAMPLE, "n": max(n_tiles) * TILE_ROWS}
    views = _views(size)
    model, seen = _fit(size)
    build = GraphRows(model.model_.scalers, model.model_.graphs)
    total, found = None, {}
    for tile in range(max(n_tiles)):
        first = tile * TILE_ROWS
        rows = [view[first : first + TILE_ROWS] for view in views.arrays]
        part = graph_moments(build(rows, first))
        total = part if total is None else total + part
        if tile + 1 in n_tiles:
            found[tile + 1] = len(pickle.dumps(total.grams))
    return {**EXAMPLE, **seen}, found


def sum_bytes(size: Sizes, measured: dict[int, int], n_tiles: int) -> float:
    """Bytes of the sums over so many tiles: between measured ones, or as they grew, up to dense ones."""
    tiles, counts = np.log([*measured]), np.log([*measured.values()])
    growth = (counts[-1] - counts[-2]) / (tiles[-1] - tiles[-2])
    beyond = max(float(np.log(n_tiles)) - tiles[-1], 0.0) * growth
    dense = 8.0 * size["u"] * ((size["v"] + 1) * size["m"]) ** 2
    return min(float(np.exp(np.interp(np.log(n_tiles), tiles, counts) + beyond)), dense)


def predict_all(
    model: dict[str, dict[str, float]], costs: Costs, example: Sizes, measured: dict[int, int]
) -> list[dict[str, Any]]:
    """Give what the simulation tells for 1e8 and 1e9 rows on 10 to 1000 workers, by block size."""
    found = []
    for n in (1e8, 1e9):
        for n_workers in (10, 100, 1000):
            for tiles in (4, 16, 64, 256, 1024):
                size = {**example, "n": n}
                size["sums"] = sum_bytes(size, measured, tiles)
                cluster = Cluster(n_workers=n_workers, bytes_per_second=1.25e9)
                found.append(
                    {
                        "n": n,
                        "n_workers": n_workers,
                        "block_rows": 4096 * tiles,
                        "one_core_seconds": seconds_of(model, size),
                        **simulate(_stages(model, size), size, 4096 * tiles, cluster, costs),
                    }
                )
    return found


def _stages(model: dict[str, dict[str, float]], size: Sizes) -> dict[str, tuple[float, float]]:
    """Give each stage's CPU seconds per row, and on the driver."""
    stages = {}
    for stage, of_stage in terms(size).items():
        parts = {name: model[stage][name] * value for name, value in of_stage.items()}
        on_rows = sum(value for name, value in parts.items() if name.startswith("row"))
        stages[stage] = on_rows / size["n"], sum(parts.values()) - on_rows
    return stages
