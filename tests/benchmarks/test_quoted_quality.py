"""What the READMEs say of the quality of labels is what the kept result lines say."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.quality_summary import ALL, Measured, easy_draws, suggestions, table
from benchmarks.unseen import TABLES, untuned_means

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
NUMBERS = ("no", "one", "two", "three", "four", "five")


def measured(name):
    lines = (RESULTS / name).read_text(encoding="utf-8").splitlines()
    return Measured([json.loads(line) for line in lines])


@pytest.fixture(scope="module")
def readme():
    return " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def sets():
    return measured("quality.jsonl")


def short(value):
    return f"{value:.2f}".removeprefix("0")


def test_means_of_all_sets(readme, sets):
    assert set(sets.names("default")) >= set(ALL)
    counts = {len(sets.seeds(name, "default")) for name in ALL}
    fewest, most = NUMBERS[min(counts)], NUMBERS[max(counts)]
    seeds = f"{fewest} seeds" if fewest == most else f"{fewest} to {most} seeds"
    ours = np.array([sets.mean(name, "default") for name in ALL])
    best = np.array([sets.best_rival(name)[0] for name in ALL])
    assert f"the defaults have a mean NMI of {short(ours.mean())} ({seeds})" in readme
    kmeans, spectral = (
        short(np.mean([sets.best(name, method)[0] for name in ALL]))
        for method in ("kmeans", "spectral")
    )
    assert f"k-means then has {kmeans}, spectral clustering {spectral}" in readme
    assert f"picked for each set by the labels as well, has {short(best.mean())}" in readme
    assert f"The defaults are ahead of it on {(ours > best).sum()} of the 20" in readme


def test_suggested_numbers(readme, sets):
    near = next(iter(suggestions(sets)))
    assert f"within a fifth or one of the true one on {near.value} of the 20" in readme


def test_the_table_of_all_sets(sets):
    """``python -m benchmarks.quality --summary`` prints it."""
    assert table(sets) in (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")


def test_easy_draws(readme):
    figures = list(easy_draws(measured("quality_easy.jsonl")))
    title, share = figures[0].title, figures[0].value
    n_solved = int(title.split()[2])
    assert f"{n_solved} are solved by k-means, spectral clustering or a Gaussian mixture" in readme
    assert f"the defaults reach .95 on {100 * share:.0f} % of these" in readme


def test_tables_that_no_default_was_chosen_with(readme):
    found = measured("unseen/quality.jsonl")
    assert set(found.names("default")) == set(TABLES)
    ours = short(np.mean([found.mean(name, "default") for name in TABLES]))
    lines = (RESULTS / "unseen" / "quality.jsonl").read_text(encoding="utf-8").splitlines()
    kmeans, spectral, umap, leiden = map(
        short, untuned_means([json.loads(line) for line in lines]).values()
    )
    assert (
        f"On {len(TABLES)} small tables that no default was chosen with, they have {ours}" in readme
    )
    assert f"({kmeans}), spectral clustering ({spectral}), UMAP with k-means ({umap})" in readme
    assert f"Leiden ({leiden}) on standardised columns" in readme
