"""Importing the package does no work, and shows what there is."""

import importlib
import subprocess
import sys

import pytest

import manyview

HEAVY = ["numba", "sklearn", "scipy", "numpy", "pandas", "dask", "jinja2", "click", "matplotlib"]


def modules_after(statement):
    """Give the heavy modules that a fresh interpreter has loaded after a statement."""
    script = f"{statement}\nimport sys\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_import_loads_nothing_heavy():
    assert modules_after("import manyview") == []


def test_looking_at_names_loads_nothing_heavy():
    assert modules_after("import manyview; dir(manyview); manyview.__version__") == []


@pytest.mark.slow
def test_the_estimator_does_not_load_what_only_other_parts_need():
    loaded = modules_after("from manyview import LMVSC; LMVSC(3)")
    assert set(loaded) <= {"numpy", "scipy", "sklearn", "numba", "pandas"}


def test_the_estimator_comes_without_the_algorithm():
    script = (
        "from manyview import LMVSC; LMVSC(3); import sys;"
        "print(*{'.'.join(m.split('.')[:2]) for m in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert {"manyview.stages", "manyview.simplex", "sklearn.cluster"}.isdisjoint(
        done.stdout.split()
    )


@pytest.mark.parametrize("name", ["pipeline", "explain"])
def test_parts_that_are_loaded_on_first_use_are_all_there(name):
    room = importlib.import_module(f"manyview.{name}")
    for part in room.__all__:
        found = getattr(room, part)
        assert getattr(found, "__module__", found.__name__).startswith(f"manyview.{name}.")
        assert found.__name__.rpartition(".")[2] == part
    with pytest.raises(AttributeError, match=f"'manyview.{name}' has no attribute 'elsewhere'"):
        _ = room.elsewhere


@pytest.mark.parametrize("name", manyview.__all__)
def test_public_names_are_shown_and_found(name):
    assert name in dir(manyview)
    assert getattr(manyview, name) is not None


def test_names_of_the_readme_are_public():
    assert {"LMVSC", "Views", "load", "metrics", "datasets", "baselines", "engines"} <= set(
        manyview.__all__
    )


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'manyview' has no attribute 'LMVC'"):
        _ = manyview.LMVC


def test_from_import_of_a_name_that_is_not_there():
    with pytest.raises(ImportError, match="LMVC"):
        from manyview import LMVC  # noqa: F401


def test_the_version_is_a_version():
    assert manyview.__version__.split(".")[0].isdigit()


def test_the_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert version("manyview") == manyview.__version__
