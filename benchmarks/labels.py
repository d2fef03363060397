"""Labels of the default LMVSC on every data set there is, and whether they are as good as before.

python -m benchmarks.labels [--quick] [--against FILE] [--results FOLDER]

FILE is an earlier labels.jsonl; each data set's last line in it is compared.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.record import RESULTS, Report, Target
from manyview import LMVSC, Views, datasets, metrics
from manyview.errors import DatasetNotFoundError

SCORES = ("nmi", "accuracy", "ari")
QUICK_ROWS = 12_000
N_SEEDS = 3
MAX_LOSS = 0.005
"""How much lower the mean NMI over data sets may be."""


def run(report: Report, *, against: Path | None = None) -> None:
    before = {} if against is None else read_nmi(against)
    after: dict[str, float] = {}
    for name in datasets.names():
        if report.quick and datasets.info(name).n_samples > QUICK_ROWS:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                views = datasets.load(name, download=False)
        except DatasetNotFoundError:
            report.add(f"{name}: not on this machine", note="missing data")
            continue
        after[name] = score_default(report, name, views, n_seeds=N_SEEDS)
    if after:
        report.add("mean NMI of all data sets", float(np.mean(list(after.values()))))
    if both := sorted(before.keys() & after.keys()):
        compare(report, {name: (before[name], after[name]) for name in both})


def score_default(report: Report, name: str, views: Views, *, n_seeds: int) -> float:
    """Add the mean scores of the default settings over seeds; give the mean NMI."""
    each, seconds = [], []
    for seed in range(n_seeds):
        model = LMVSC(len(np.unique(views.target)), random_state=seed)
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(views)
        seconds.append(time.perf_counter() - started)
        scores = metrics.scores(views.target, model.labels_)
        each.append({score: scores[score] for score in SCORES})
    nmi = [scores["nmi"] for scores in each]
    mean = {score: float(np.mean([scores[score] for scores in each])) for score in SCORES}
    note = f"ACC {mean['accuracy']:.3f}, ARI {mean['ari']:.3f}, sd of NMI {np.std(nmi):.3f}, "
    report.add(
        f"{name}: NMI", mean["nmi"], seconds=seconds, scores=each, seed=list(range(n_seeds)),
        data=name, n_rows=len(views), note=note + f"{np.median(seconds):.2f} s",
    )  # fmt: skip
    return mean["nmi"]


def read_nmi(path: Path) -> dict[str, float]:
    """Mean NMI of each data set in a result file, the last one where there are several."""
    lines = map(json.loads, path.read_text().splitlines())
    return {line["data"]: line["figure"] for line in lines if "data" in line}


def compare(report: Report, nmi: dict[str, tuple[float, float]]) -> None:
    """Add the change of every data set and of their mean."""
    changes = {name: after - before for name, (before, after) in nmi.items()}
    for name, change in changes.items():
        report.add(f"{name}: NMI now less NMI before", change)
    mean = float(np.mean(list(changes.values())))
    report.add(
        f"mean of {len(changes)} data sets: NMI now less NMI before",
        mean, Target(at_least=-MAX_LOSS), changes=changes,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"sets of {QUICK_ROWS} rows at most")
    parser.add_argument("--against", type=Path, help="an earlier labels.jsonl to compare with")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args()
    report = Report("labels", quick=chosen.quick, folder=chosen.results)
    run(report, against=chosen.against)
    print(f"\n{report.summary()}")


if __name__ == "__main__":
    main()
