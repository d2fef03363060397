"""A package of its own adds a method and a file format: installed, they are found by their names."""

import subprocess
import sys

import numpy as np
import pytest

from manyview import Views, baselines, datasets
from manyview.bench.methods import as_methods
from manyview.errors import ReadError
from manyview.machine import find_plugins
from manyview.readers import formats, read_view
from tests.templates import FOLDER, FarthestFirst


def forget():
    find_plugins.cache_clear()
    formats._added.cache_clear()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where pip has put the package."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("site")
    how = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", folder)
    subprocess.run([sys.executable, "-m", "pip", "install", *how, FOLDER], check=True)
    return folder


@pytest.fixture
def installed(site, monkeypatch):
    monkeypatch.syspath_prepend(site)
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.fixture
def rows_file(tmp_path):
    path = tmp_path / "a.rows"
    path.write_bytes(b"ROWS" + np.array([2, 3], "<u8").tobytes() + np.arange(6.0).tobytes())
    return path


def test_a_method_has_its_name_in_baselines_and_on_the_bench(installed):
    assert baselines.names()[-1] == "FarthestFirst"
    assert baselines.FarthestFirst is FarthestFirst
    views = datasets.make_views(60, 3, (4, 5), separation=9.0, random_state=0)
    (method,) = as_methods("FarthestFirst(scaling=None)")
    assert set(method.labels(views, 3, 0, {})) == {0, 1, 2}


def test_a_format_is_read_by_its_ending_and_makes_views(installed, rows_file):
    (part,) = read_view(str(rows_file)).parts
    assert part.rows.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert Views(rows_file).shape == (2, 3)


def test_without_the_package_neither_is_known(rows_file):
    assert "FarthestFirst" not in baselines.names()
    with pytest.raises(AttributeError, match="no attribute 'FarthestFirst'"):
        _ = baselines.FarthestFirst
    with pytest.raises(ReadError, match=r"Do not know the format of .*a\.rows"):
        read_view(str(rows_file))
