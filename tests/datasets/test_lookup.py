import dataclasses
import warnings

import numpy as np
import pytest

from manyview import datasets
from manyview.datasets import registry
from manyview.errors import DatasetNotFoundError

LABELS = np.repeat([1, 2, 3], 2)


@pytest.fixture
def known(monkeypatch, small):
    """A machine on which ``small`` is a known data set."""
    monkeypatch.setitem(registry.entries(), "small", small)
    return small


def put(folder, arrays, name="small.npz"):
    folder.mkdir(exist_ok=True)
    np.savez(folder / name, labels=LABELS, view_0=arrays[0], view_1=arrays[1])
    return folder / name


def test_the_data_folder_comes_first(bare_machine, known, views_of_small, monkeypatch):
    put(bare_machine / "cache", [-array for array in views_of_small])
    monkeypatch.setenv("MANYVIEW_DATA", str(put(bare_machine / "data", views_of_small).parent))
    assert np.array_equal(datasets.load("small")["first"], views_of_small[0])


def test_then_the_cache(bare_machine, known, views_of_small, monkeypatch):
    put(bare_machine / "cache", views_of_small)
    monkeypatch.setenv("MANYVIEW_DATA", str(bare_machine / "nothing"))
    assert np.array_equal(datasets.load("small")["first"], views_of_small[0])


def test_then_the_network(bare_machine, known, views_of_small, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "manyview.datasets.lookup.download_views",
        lambda info, may_be_unverified: asked.append((info, may_be_unverified)),
    )
    datasets.load("small")
    datasets.load("small", download="unverified")
    assert asked == [(known, False), (known, True)]


def test_original_files_in_the_data_folder(bare_machine, known, views_of_small, monkeypatch):
    from scipy.io import savemat

    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = views_of_small
    savemat(bare_machine / "small.mat", {"X": cells, "Y": LABELS[:, None]})
    monkeypatch.setenv("MANYVIEW_DATA", str(bare_machine))
    assert np.array_equal(datasets.load("small")["second"], views_of_small[1])


@pytest.mark.parametrize("as_text", [False, True])
def test_a_path_is_read_and_nothing_else(bare_machine, known, views_of_small, as_text):
    path = put(bare_machine / "mine", views_of_small, name="renamed.npz")
    put(bare_machine / "cache", [-array for array in views_of_small])
    views = datasets.load("small", path=str(path) if as_text else path)
    assert np.array_equal(views["first"], views_of_small[0])


def test_a_damaged_file_is_not_passed_over(bare_machine, known, monkeypatch):
    (bare_machine / "small.npz").write_bytes(b"damaged")
    monkeypatch.setenv("MANYVIEW_DATA", str(bare_machine))
    with pytest.raises(ValueError, match="Cannot read"):
        datasets.load("small")


def test_not_found_says_where_it_looked_and_what_to_do(bare_machine, monkeypatch):
    with pytest.raises(DatasetNotFoundError) as caught:
        datasets.load("caltech101-7", download=False)
    message = str(caught.value)
    assert "Looked for caltech101-7.npz, Caltech101-7.mat in $MANYVIEW_DATA (not set)" in message
    assert f"in the cache ({bare_machine / 'cache'})" in message
    assert "downloading was not allowed" in message
    assert "load('caltech101-7', path=...)" in message


def test_without_a_checksum_it_is_said_how_to_get_it_all_the_same(bare_machine):
    with pytest.raises(DatasetNotFoundError) as caught:
        datasets.load("leaves100")
    message = str(caught.value)
    assert "100Leaves.mat: not asked, because no checksum of it is known" in message
    assert "load('leaves100', path=...)" in message
    assert "load('leaves100', download='unverified')" in message


def test_download_has_three_values(bare_machine):
    with pytest.raises(ValueError, match="download must be True, False or 'unverified'"):
        datasets.load("leaves100", download="yes")


def test_not_found_says_that_the_data_folder_is_none(bare_machine, monkeypatch):
    monkeypatch.setenv("MANYVIEW_DATA", str(bare_machine / "gone"))
    with pytest.raises(DatasetNotFoundError, match="gone, which is not a folder"):
        datasets.load("rcv1")


def test_the_papers_rcv1_is_never_replaced_silently(bare_machine):
    with pytest.raises(DatasetNotFoundError, match="other data, is data set 'rcv1-sklearn'"):
        datasets.load("rcv1")


def test_a_stand_in_warns(bare_machine, monkeypatch, views_of_small):
    info = datasets.info("rcv1-sklearn")
    info = dataclasses.replace(info, n_samples=6, n_features=(4,))
    monkeypatch.setitem(registry.entries(), "rcv1-sklearn", info)
    np.savez(bare_machine / "a.npz", labels=LABELS, view_0=views_of_small[0])
    with pytest.warns(UserWarning, match="not the RCV1 of the LMVSC paper"):
        datasets.load("rcv1-sklearn", path=bare_machine / "a.npz")


def test_digits_need_no_files(bare_machine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert datasets.load("digits", download=False).n_views == 5
