"""``manyview datasets``: what is known, and writing it in formats that fit reads."""

import json

import numpy as np
import pytest

from manyview import Views, datasets
from manyview.views.files import read_views

from .conftest import is_one_line


def test_list_names_them_all(run):
    found = json.loads(run("datasets", "list", "--json").stdout)
    assert [entry["name"] for entry in found] == datasets.names()
    assert next(e for e in found if e["name"] == "digits")["is_here"]
    assert "handwritten" in run("datasets", "list").stdout


def test_info_says_what_is_known(run):
    text = run("datasets", "info", "handwritten").stdout
    assert "2000" in text and "(verified)" in text
    facts = json.loads(run("datasets", "info", "handwritten", "--json").stdout)
    assert facts["n_features"] == [216, 76, 64, 6, 240, 47]


def test_a_name_that_is_not_known(run):
    result = run("datasets", "info", "handwriten", code=2)
    assert is_one_line(result.stderr) and "Did you mean 'handwritten'?" in result.stderr


def test_get_writes_a_file_that_fit_reads(run, tmp_path):
    path = tmp_path / "d.npz"
    assert "1797 rows" in run("datasets", "get", "digits", "-o", path).stdout
    found = read_views([str(path)])
    assert found.views.names == ("pixels", "fourier", "gradients", "profiles", "moments")
    assert np.array_equal(found.views.target, datasets.digits_views().target)
    run("datasets", "get", "digits", "-o", path, code=2)
    run("datasets", "get", "digits", "-o", path, "--force")


def test_get_takes_no_file_without_a_checksum_unless_told(run, tmp_path, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path))
    result = run("datasets", "get", "leaves100", code=2)
    assert is_one_line(result.stderr)
    assert "'manyview datasets get NAME --unverified'" in result.stderr
    asked = []
    monkeypatch.setattr(
        "manyview.datasets.load",
        lambda *_, **told: asked.append(told) or Views([np.eye(2)], target=[0, 1]),
    )
    run("datasets", "get", "leaves100", "--unverified")
    assert asked == [{"path": None, "download": "unverified"}]


@pytest.mark.parametrize("kind", ["csv", "npy", "npz", "parquet"])
def test_convert_writes_every_format_as_it_can_be_read(run, tmp_path, kind, monkeypatch):
    views = datasets.digits_views()[:40]
    small = Views({name: views[name] for name in ("pixels", "moments")}, target=views.target)
    monkeypatch.setattr("manyview.datasets.load", lambda *_, **__: small)
    run("datasets", "convert", "digits", "-o", tmp_path / "o", "--to", kind)
    written = sorted(p for p in (tmp_path / "o").iterdir() if p.name != "labels.csv")
    labels = tmp_path / "o" / "labels.csv"
    found = read_views(
        [str(path) for path in written],
        labels=str(labels) if labels.exists() else None,
        id_column="id" if kind in ("csv", "parquet") else None,
    )
    arrays = {array.shape[1]: array for array in found.views[:].arrays}
    assert all(np.array_equal(arrays[array.shape[1]], array) for array in small.arrays)
    assert np.array_equal(found.views.target, small.target)
    again = run("datasets", "convert", "digits", "-o", tmp_path / "o", "--to", kind, code=2)
    assert "--force" in again.stderr


def test_sparse_views_are_not_made_dense(run, tmp_path, monkeypatch):
    from scipy import sparse

    views = Views([sparse.csr_array(np.eye(4))], names=["w"], target=[0, 0, 1, 1])
    monkeypatch.setattr("manyview.datasets.load", lambda *_, **__: views)
    run("datasets", "convert", "digits", "-o", tmp_path, "--to", "csv")
    assert sparse.load_npz(tmp_path / "w.npz").shape == (4, 4)


def test_an_unknown_name_is_not_the_fault_of_the_path(run, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 2)))
    result = run(
        "datasets", "convert", "nothere", "--path", tmp_path / "a.npy", "-o", tmp_path / "o", code=2
    )
    assert "No data set 'nothere'" in result.stderr and "--path" not in result.stderr
