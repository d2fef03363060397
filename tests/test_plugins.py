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


class TestBroken:
    """Packages that cannot be loaded are named where they are needed, and in nobody's way elsewhere."""

    @pytest.fixture(autouse=True)
    def broken(self, tmp_path, monkeypatch):
        about = tmp_path / "site" / "unlucky-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: unlucky\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(
            "[manyview.baselines]\nUnlucky = unlucky:Unlucky\n"
            "[manyview.readers]\nunlucky = unlucky:FORMAT\nnumber = unlucky_number:FORMAT\n"
            "late = unlucky_late:FORMAT\n"
        )
        (about.parent / "unlucky.py").write_text("1 / 0\n")
        (about.parent / "unlucky_number.py").write_text("FORMAT = 13\n")
        (about.parent / "unlucky_late.py").write_text(
            "from manyview.readers.formats import Format\n"
            "FORMAT = Format('late', 'unlucky.late', ('.late',))\n"
        )
        monkeypatch.syspath_prepend(about.parent)
        forget()
        yield
        monkeypatch.undo()
        forget()

    def test_a_method(self):
        assert "Unlucky" in baselines.names()
        words = "'Unlucky', which package 'unlucky' adds .* cannot be loaded .ZeroDivisionError"
        with pytest.raises(ImportError, match=words):
            _ = baselines.Unlucky

    def test_formats(self, rows_file):
        with pytest.raises(ReadError, match="Do not know the format") as caught:
            read_view(str(rows_file))
        assert "package 'unlucky' adds to manyview.readers, cannot be loaded" in str(caught.value)
        assert "unlucky_number:FORMAT, which is added to manyview.readers, is no" in str(
            caught.value
        )

    def test_the_module_of_a_format(self, tmp_path):
        (tmp_path / "a.late").write_text("1")
        with pytest.raises(
            ImportError, match=r"late files are read by unlucky\.late, which cannot"
        ):
            read_view(str(tmp_path / "a.late"))

    def test_others_are_read(self, tmp_path):
        np.save(tmp_path / "a.npy", np.eye(3))
        assert read_view(str(tmp_path / "a.npy")).parts[0].rows.shape == (3, 3)
