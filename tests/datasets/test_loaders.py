import dataclasses
import gzip
import struct

import numpy as np
import pytest
from scipy import sparse

from manyview import Views
from manyview.datasets import loaders
from manyview.datasets.originals import RawData

LABELS = np.array([1, 1, 2, 2, 5, 5])


def save(path, views, labels=LABELS, **more):
    np.savez(path, labels=labels, **{f"view_{i}": v for i, v in enumerate(views)}, **more)
    return path


class TestNpz:
    def test_dense_views_keep_their_type(self, tmp_path, small, views_of_small):
        first = np.arange(24, dtype=np.uint8).reshape(6, 4)
        path = save(tmp_path / "small.npz", [first, views_of_small[1].astype("f4")])
        views = loaders.read_views(path, small)
        assert [array.dtype for array in views.arrays] == [np.uint8, np.float32]
        assert np.array_equal(views["first"], first)

    def test_target_is_numbered_from_zero(self, tmp_path, small, views_of_small):
        views = loaders.read_views(save(tmp_path / "a.npz", views_of_small), small)
        assert views.target.tolist() == [0, 0, 1, 1, 2, 2]
        assert views.names == ("first", "second")

    def test_save_and_read_give_the_same(self, tmp_path, small, views_of_small):
        given = Views(
            [views_of_small[0], sparse.csr_array(views_of_small[1])],
            names=small.view_names,
            target=[0, 0, 1, 1, 2, 2],
        )
        loaders.save_npz(tmp_path / "small.npz", given)
        found = loaders.read_views(tmp_path / "small.npz", small)
        assert np.array_equal(found["first"], given["first"])
        assert np.array_equal(found["second"].toarray(), given["second"].toarray())
        assert found.target.tolist() == [0, 0, 1, 1, 2, 2]
        assert [path.name for path in tmp_path.iterdir()] == ["small.npz"]

    def test_a_failed_save_leaves_nothing(self, tmp_path, views_of_small, monkeypatch):
        def fail(*args, **kwargs):
            raise OSError("disk full")

        monkeypatch.setattr(np, "savez", fail)
        with pytest.raises(OSError, match="disk full"):
            loaders.save_npz(tmp_path / "a.npz", Views(views_of_small, target=LABELS))
        assert not list(tmp_path.iterdir())

    def test_views_without_target_are_not_saved(self, tmp_path, views_of_small):
        with pytest.raises(ValueError, match="no target"):
            loaders.save_npz(tmp_path / "a.npz", Views(views_of_small))

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            (
                {"view_0": np.zeros((6, 4))},
                "nothing in it is called labels, or 'label', 'y', 'gt' and",
            ),
            ({"labels": LABELS}, "without a two-dimensional array of numbers; it has labels 6"),
            ({"labels": LABELS.astype(object), "view_0": np.zeros((6, 4))}, "Python objects"),
        ],
    )
    def test_foreign_files_are_refused(self, tmp_path, small, arrays, message):
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(ValueError, match=message):
            loaders.read_views(tmp_path / "a.npz", small)


class TestChecks:
    def test_views_are_put_in_order_by_width(self, small, views_of_small):
        views = loaders.to_views(RawData(views_of_small[::-1], LABELS), small, origin="it")
        assert np.array_equal(views["first"], views_of_small[0])

    def test_views_of_the_same_width_stay_in_order(self, small, views_of_small):
        info = dataclasses.replace(small, n_features=(4, 4))
        arrays = [views_of_small[0], -views_of_small[0]]
        views = loaders.to_views(RawData(arrays, LABELS), info, origin="it")
        assert np.array_equal(views["second"], arrays[1])

    def test_other_known_widths_pass(self, small, views_of_small):
        info = dataclasses.replace(small, n_features=(3, 5), other_widths=((4, 5),))
        assert loaders.to_views(RawData(views_of_small, LABELS), info, origin="it").n_views == 2

    def test_dense_views_are_stored_by_rows(self, small, views_of_small):
        arrays = [np.asfortranarray(array) for array in views_of_small]
        views = loaders.to_views(RawData(arrays, LABELS), small, origin="it")
        assert all(array.flags.c_contiguous for array in views.arrays)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"n_features": (4, 6)}, r"expected 2 view\(s\) of \[4, 6\] columns, found \[4, 5\]"),
            ({"n_features": (4,)}, r"expected 1 view\(s\)"),
            ({"n_samples": 7}, "expected 7 samples, found views of .*6, 6.* and 6 labels"),
            ({"n_clusters": 4}, "expected 4 classes, found 3"),
            ({"n_clusters": 2}, "expected 2 classes, found 3"),
            (
                {"class_counts": (1, 2, 3)},
                r"expected classes of \[1, 2, 3\] samples, found \[2, 2, 2\]",
            ),
        ],
    )
    def test_other_data_is_refused(self, small, views_of_small, change, message):
        info = dataclasses.replace(small, **change)
        with pytest.raises(ValueError, match=f"it is not data set 'small': {message}"):
            loaders.to_views(RawData(views_of_small, LABELS), info, origin="it")

    def test_class_counts_may_come_in_any_order(self, small, views_of_small):
        info = dataclasses.replace(small, class_counts=(3, 1, 2))
        labels = np.array([7, 8, 8, 9, 9, 9])
        assert len(loaders.to_views(RawData(views_of_small, labels), info, origin="it")) == 6

    def test_multilabel_data_may_lack_a_class(self, small, views_of_small):
        info = dataclasses.replace(small, n_clusters=9, class_counts=None, is_multilabel=True)
        assert len(loaders.to_views(RawData(views_of_small, LABELS), info, origin="it")) == 6


class TestPaths:
    def test_a_missing_path(self, tmp_path, small):
        with pytest.raises(FileNotFoundError, match=r"There is no file or folder .*nothing"):
            loaders.read_views(tmp_path / "nothing", small)

    def test_a_folder_without_the_files(self, tmp_path, small):
        with pytest.raises(FileNotFoundError, match=r"has none of .*: small\.npz, small\.mat"):
            loaders.read_views(tmp_path, small)

    def test_a_folder_with_the_npz(self, tmp_path, small, views_of_small):
        save(tmp_path / "small.npz", views_of_small)
        assert len(loaders.read_views(tmp_path, small)) == 6

    @pytest.mark.parametrize("name", ["a.npz", "a.mat", "a.csv", "a.svm", "t10k-images-idx3-ubyte"])
    def test_a_web_page_instead_of_data(self, tmp_path, small, name):
        (tmp_path / name).write_text(
            "<!DOCTYPE html>\n<html><body>Not found, sorry</body></html>\n"
        )
        with pytest.raises(ValueError, match=f"Cannot read .*{name} as data set 'small'"):
            loaders.read_views(tmp_path / name, small)


def write_idx(path, array, compress):
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    raw = head + array.astype(np.uint8).tobytes()
    if compress:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(raw))
    else:
        path.write_bytes(raw)


@pytest.mark.parametrize("compress", [False, True])
class TestIdx:
    @pytest.fixture
    def info(self, small):
        return dataclasses.replace(
            small,
            n_features=(6,),
            view_names=("pixels",),
            files=("train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"),
        )

    @pytest.fixture
    def images(self, tmp_path, compress):
        images = np.random.default_rng(0).integers(0, 256, size=(6, 2, 3))
        for part, rows in [("train", slice(0, 4)), ("t10k", slice(4, 6))]:
            write_idx(tmp_path / f"{part}-images-idx3-ubyte", images[rows], compress)
            write_idx(tmp_path / f"{part}-labels-idx1-ubyte", LABELS[rows], compress)
        return images

    def test_training_images_come_first(self, tmp_path, info, images):
        views = loaders.read_views(tmp_path, info)
        assert views["pixels"].dtype == np.uint8
        assert np.array_equal(views["pixels"], images.reshape(6, 6))
        assert views.target.tolist() == [0, 0, 1, 1, 2, 2]

    def test_a_missing_part_is_named(self, tmp_path, info, images):
        next(tmp_path.glob("t10k-labels*")).unlink()
        with pytest.raises(ValueError, match=r"t10k-labels-idx1-ubyte \(or .*\.gz\) is missing"):
            loaders.read_views(tmp_path, info)
