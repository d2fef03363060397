import numpy as np
import pytest

from manyview import Views, datasets
from manyview.bench.data import Rows, as_sources, choose_rows, content_of, load
from manyview.datasets.loaders import save_npz


@pytest.fixture
def views():
    return datasets.make_views(30, 3, (4, 5), random_state=0)


def test_names_files_and_views_are_data(views, tmp_path):
    save_npz(tmp_path / "mine.npz", views)
    found = as_sources(["digits", str(tmp_path / "mine.npz"), views])
    assert list(found) == ["digits", "mine", "data_2"]
    assert as_sources({"a": views})["a"] is views


def test_all_are_the_known_sets_on_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path))
    assert list(as_sources("all")) == ["digits"]


def test_a_file_brings_its_labels(views, tmp_path):
    save_npz(tmp_path / "mine.npz", views)
    found = load(tmp_path / "mine.npz")
    np.testing.assert_array_equal(found.target, views.target)
    assert found.n_features == (4, 5)


def test_a_folder_has_a_file_for_each_view_and_one_of_labels(views, tmp_path):
    for name, array in views.items():
        np.save(tmp_path / f"{name}.npy", array)
    np.save(tmp_path / "labels.npy", views.target)
    found = load(tmp_path)
    assert found.names == ("view_0", "view_1")
    np.testing.assert_array_equal(found.target.astype(int), views.target)


def test_tables_of_a_folder_are_matched_by_id_which_is_no_feature(views, tmp_path):
    ids = np.arange(len(views))
    orders = [ids, ids[::-1]]
    for (name, array), order in zip(views.items(), orders, strict=True):
        table = np.column_stack([ids, array])[order]
        header = ",".join(["id", *(f"c{j}" for j in range(array.shape[1]))])
        written = ["%d"] + ["%.17g"] * array.shape[1]
        np.savetxt(tmp_path / f"{name}.csv", table, written, ",", header=header, comments="")
    classes = np.column_stack([ids, views.target])[::-1]
    np.savetxt(
        tmp_path / "labels.csv", classes, "%d", delimiter=",", header="id,label", comments=""
    )
    found = load(tmp_path)
    assert found.n_features == views.n_features
    np.testing.assert_allclose(found.arrays[1], views.arrays[1])
    np.testing.assert_array_equal(found.target.astype(int), views.target)


def test_rows_are_shuffled_by_the_seed_and_their_number_limited(views):
    one, same, other = (choose_rows(views, Rows("d", 20, seed)) for seed in (0, 0, 1))
    assert len(one) == 20
    np.testing.assert_array_equal(one.arrays[0], same.arrays[0])
    assert (one.arrays[0] != other.arrays[0]).any()
    assert choose_rows(views, Rows("d")) is views
    in_order = choose_rows(views, Rows("d", 20))
    places = [
        int(np.flatnonzero((views.arrays[0] == row).all(axis=1))[0]) for row in in_order.arrays[0]
    ]
    assert places == sorted(places) and len(places) == 20


def test_data_without_labels_is_refused(views, tmp_path):
    with pytest.raises(ValueError, match="no target"):
        as_sources({"d": Views([views.arrays[0]])})
    np.save(tmp_path / "x.npy", views.arrays[0])
    with pytest.raises(ValueError, match="no labels"):
        load(tmp_path)


def test_what_is_nowhere_is_refused():
    with pytest.raises(ValueError, match=r"data must be names .* no 'nothere'"):
        as_sources("nothere")
    with pytest.raises(ValueError, match="no 'nothere'"):
        as_sources({"mine": "nothere"})
    with pytest.raises(ValueError, match="No data"):
        as_sources([])


def test_two_files_with_one_name_are_refused(views, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save_npz(tmp_path / folder / "mine.npz", views)
    with pytest.raises(ValueError, match=r"'mine'.* twice"):
        as_sources([tmp_path / "a" / "mine.npz", tmp_path / "b" / "mine.npz"])


def test_data_of_ones_own_is_known_by_its_content(views, tmp_path):
    assert content_of("digits") is None
    same = Views([X.copy() for X in views.arrays], target=views.target.copy())
    other = Views(views.arrays, target=views.target[::-1])
    assert content_of(views) == content_of(same) != content_of(other)
    save_npz(tmp_path / "mine.npz", views)
    np.save(tmp_path / "labels.npy", views.target)
    before = content_of(tmp_path / "mine.npz"), content_of(tmp_path)
    save_npz(tmp_path / "mine.npz", other)
    after = content_of(tmp_path / "mine.npz"), content_of(tmp_path)
    assert before[0] != after[0] and before[1] != after[1]
