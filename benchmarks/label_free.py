"""Does the score without labels find good settings? Its pick among 36, judged on held-out rows.

Half of the rows are fitted with each setting; the other half are scored without labels, and with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.problems import find
from benchmarks.record import Report, Target
from manyview import LMVSC, Views, metrics
from manyview.select import excess_cut, label_free_score

NAMES = ("3sources", "msrcv1", "bbcsport", "leaves100", "handwritten")
SETTINGS = [
    {"scaling": scaling, "alpha": alpha, "locality": locality}
    for scaling, alpha, locality in product(
        ("auto", "standard", "unit"), (0.001, 0.01, 0.1, 1.0), (0.0, 0.03, 0.1)
    )
]


def run(report: Report) -> None:
    found = []
    for name in NAMES[:1] if report.quick else NAMES:
        if (views := find(report, name)) is not None:
            found.append(compare(report, name, views, SETTINGS))
    if found:
        pick, default, mean = (float(np.mean([f[w] for f in found])) for w in _WHOSE)
        report.add(
            "NMI of the pick less that of a setting drawn at random", pick - mean,
            Target(at_least=0.05, indicative=report.quick), note=f"defaults {default - mean:+.3f}",
        )  # fmt: skip


_WHOSE = ("pick", "default", "mean")


def compare(
    report: Report, name: str, views: Views, settings: Sequence[dict[str, Any]]
) -> dict[str, float]:
    """Add the NMI of the pick beside the defaults, and the rest as facts."""
    order = np.random.default_rng(0).permutation(views.n_rows)
    half = views.n_rows // 2
    train, test = views[np.sort(order[:half])], views[np.sort(order[half:])]
    scores, cuts, nmis = np.array([judge(train, test, each) for each in settings]).T
    default = judge(train, test, {})[2]
    facts = {
        "pick": nmis[scores.argmax()], "default": default, "mean": nmis.mean(), "best": nmis.max(),
        "worst": nmis.min(), "rank_correlation": spearmanr(scores, nmis)[0],
        "pick_by_excess_cut": nmis[cuts.argmin()],
    }  # fmt: skip
    facts = {key: float(value) for key, value in facts.items()}
    report.add(
        f"{name}: NMI of the pick", facts["pick"], data=name, scores=facts, n_rows=views.n_rows,
        note=f"defaults {facts['default']:.3f}, all settings {facts['mean']:.3f} in the mean, best "
        f"{facts['best']:.3f}; by excess cut {facts['pick_by_excess_cut']:.3f}",
    )  # fmt: skip
    return facts


def judge(train: Views, test: Views, settings: dict[str, Any]) -> tuple[float, float, float]:
    """Score without labels, excess cut, and NMI, of held-out rows."""
    k = len(np.unique(train.target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LMVSC(k, n_repeats=1, random_state=0, **settings).fit(train)
        labels = model.predict(test)
        cut = excess_cut(model.model_, test, labels, k)
        return label_free_score(model, test), cut, metrics.nmi(test.target, labels)
