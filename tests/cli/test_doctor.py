"""What the doctor finds: packages, machine code, a fit that works or not."""

import json
from importlib import metadata

import pytest

from manyview.cli import doctor

FIT = {"seconds": 0.2, "compile_seconds": 0.0, "kept_in": "folder", "problem": None}


@pytest.fixture
def fits(monkeypatch):
    """A function that says what comes of the small fit, without making it."""

    def set_fit(**changes):
        monkeypatch.setattr(doctor, "try_fit", lambda: FIT | changes)

    set_fit()
    return set_fit


@pytest.fixture
def asks_for(monkeypatch):
    def set_requirements(*texts):
        monkeypatch.setattr(metadata, "requires", lambda name: list(texts))

    return set_requirements


def test_a_healthy_installation(run):
    result = run("doctor", "--json")
    facts = json.loads(result.stdout)
    assert facts["fit"]["problem"] is None and facts["fit"]["seconds"] > 0
    numpy = next(one for one in facts["packages"] if one["package"] == "numpy")
    assert numpy["for"] is None and numpy["found"] == metadata.version("numpy")
    assert {one["for"] for one in facts["packages"]} >= {"cli", "io", "dask"}
    assert "pytest" not in {one["package"] for one in facts["packages"]}


def test_what_is_missing_is_said_with_what_to_do(run, fits, asks_for):
    asks_for(
        "numpy>=1.26",
        'nothere>=2; extra == "io"',
        'click>=900; extra == "cli"',
        "x[y]; extra == 'umap'",
    )
    result = run("doctor")
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line}
    assert "missing" in rows["nothere"] and "too old" in rows["click"] and "missing" in rows["x"]
    assert "pip install 'manyview[io,cli,umap]'" in result.stdout


def test_without_what_is_needed_it_fails(run, fits, asks_for):
    asks_for("numpy>=900", "scipy>=1")
    result = run("doctor", "-q", code=1)
    assert result.stderr == "manyview: missing or too old: numpy. Install manyview anew.\n"


def test_a_fit_that_fails_is_told_after_the_rest(run, monkeypatch):
    def fail(*arguments, **options):
        raise OSError("no such library")

    monkeypatch.setattr("manyview.datasets.make_views", fail)
    result = run("doctor", code=1)
    assert "numpy" in result.stdout
    assert "a small fit does not work: OSError: no such library" in result.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "nothing had to be compiled (kept in folder)"),
        ({"compile_seconds": 8.0}, "8 s of it compiling, once; kept in folder"),
        ({"compile_seconds": 8.0, "kept_in": None}, "so every process compiles"),
    ],
)
def test_what_was_compiled_is_said(run, fits, changes, words):
    fits(**changes)
    assert words in run("doctor").stdout
