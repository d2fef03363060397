import bz2
import dataclasses
import gzip

import numpy as np
import pytest
from scipy import sparse

from manyview import datasets
from manyview.datasets import loaders, originals


def covtype_lines(n=6):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(-173, 7174, (n, 54)), np.arange(n) % 3 + 1])
    table[0, :2] = -173, 7173
    return table, "\n".join(",".join(map(str, row)) for row in table) + "\n"


class TestCsv:
    @pytest.fixture
    def info(self):
        return dataclasses.replace(
            datasets.info("covtype"), n_samples=6, n_clusters=3, class_counts=(2, 2, 2)
        )

    @pytest.mark.parametrize("name", ["covtype.data", "covtype.data.gz", "covtype.csv"])
    @pytest.mark.parametrize("head", ["", ",".join(f"c{i}" for i in range(55)) + "\n"])
    def test_covtype_with_and_without_names(self, tmp_path, info, name, head):
        table, lines = covtype_lines()
        raw = (head + lines).encode()
        (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
        views = loaders.read_views(tmp_path, info)
        assert views.names == ("cartographic",)
        assert views.arrays[0].dtype == np.int16
        assert np.array_equal(views.arrays[0], table[:, :-1])
        assert views.target.tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 255], np.uint8),
        ([-1, 5], np.int8),
        ([0, 256], np.uint16),
        ([-1, 300], np.int16),
        ([0, 70000], np.uint32),
        ([-70000, 3], np.int32),
        ([0.0, 6.0], np.uint8),
        ([0.5, 6.0], np.float64),
        ([np.nan, 1.0], np.float64),
        ([np.inf, 1.0], np.float64),
        ([-1, 2**40], np.int64),
    ],
)
def test_whole_numbers_take_the_smallest_type(values, dtype):
    shrunk = originals.shrink_integers(np.array([values]))
    assert shrunk.dtype == dtype
    assert np.array_equal(shrunk[0], values, equal_nan=True)


class TestMfeat:
    WIDTHS = (216, 76, 64, 6, 240, 47)

    @pytest.fixture
    def info(self):
        return dataclasses.replace(
            datasets.info("handwritten"), n_samples=20, class_counts=(2,) * 10
        )

    @pytest.fixture
    def tables(self):
        rng = np.random.default_rng(0)
        tables = [rng.normal(size=(20, width)).round(6) for width in self.WIDTHS]
        tables[4] = rng.integers(0, 7, size=(20, 240))
        return tables

    def write(self, folder, tables):
        folder.mkdir(exist_ok=True)
        for part, table in zip(("fac", "fou", "kar", "mor", "pix", "zer"), tables, strict=True):
            np.savetxt(folder / f"mfeat-{part}", table, fmt=" %.9g")

    @pytest.mark.parametrize("inside", [".", "mfeat"])
    def test_the_folder_of_uci(self, tmp_path, info, tables, inside):
        self.write(tmp_path / inside, tables)
        views = loaders.read_views(tmp_path, info)
        assert views.n_features == self.WIDTHS
        assert all(map(np.allclose, views.arrays, tables))
        assert views["pix"].dtype == np.uint8
        assert views.target.tolist() == np.repeat(np.arange(10), 2).tolist()

    def test_csv_copies_with_labels(self, tmp_path, info, tables):
        for name, table in zip(info.view_names, tables, strict=True):
            labelled = np.column_stack([table, np.repeat(np.arange(10), 2)])
            head = ",".join(map(str, range(table.shape[1] + 1)))
            path = tmp_path / f"mfeat-{name}.csv"
            np.savetxt(path, labelled, delimiter=",", header=head, comments="", fmt="%.9g")
        views = loaders.read_views(tmp_path, info)
        assert all(map(np.allclose, views.arrays, tables))
        assert views.target.tolist() == np.repeat(np.arange(10), 2).tolist()

    def test_a_missing_file_is_named(self, tmp_path, info, tables):
        self.write(tmp_path, tables)
        (tmp_path / "mfeat-mor").unlink()
        with pytest.raises(ValueError, match=r"\['mfeat-mor'\] missing beside mfeat-fac"):
            loaders.read_views(tmp_path, info)

    def test_rows_that_are_not_ten_classes(self, tmp_path, info, tables):
        self.write(tmp_path, [table[:19] for table in tables])
        with pytest.raises(ValueError, match="19 rows are not 10 classes of the same size"):
            loaders.read_views(tmp_path, info)


def svmlight_line(label, row, start):
    pairs = " ".join(f"{i + start}:{row[i]:.6f}" for i in np.flatnonzero(row))
    return f"{label} {pairs}\n"


def thin(n, d, seed=0):
    array = sparse.random(n, d, density=0.5, random_state=seed).toarray().round(3)
    array[0, 0] = 1.0
    return array


class TestSvmlight:
    @pytest.fixture
    def info(self):
        return dataclasses.replace(
            datasets.info("rcv1"), n_samples=6, n_clusters=3, n_features=(9,)
        )

    @pytest.mark.parametrize("start", [0, 1])
    @pytest.mark.parametrize(
        ("name", "pack"), [("rcv1.svm", bytes), ("rcv1.svm.gz", gzip.compress)]
    )
    def test_rcv1(self, tmp_path, info, start, name, pack):
        array = thin(6, 9)
        labels = [10, 2, 2, 10, 33, 33]
        lines = "".join(map(svmlight_line, labels, array, [start] * 6))
        (tmp_path / name).write_bytes(pack(lines.encode()))
        views = loaders.read_views(tmp_path, info)
        assert isinstance(views.arrays[0], sparse.csr_array)
        assert np.allclose(views.arrays[0].toarray(), array)
        assert views.target.tolist() == [1, 0, 0, 1, 2, 2]

    def test_bzip2_comments_tabs_and_samples_without_features(self, tmp_path):
        lines = b"# a comment\nC15\t1:1.5\t3:2\n\nCCAT\nC15 2:1\n"
        (tmp_path / "a.svm.bz2").write_bytes(bz2.compress(lines))
        raw = originals.read_one(tmp_path / "a.svm.bz2", n_features=3)
        assert raw.labels.tolist() == ["C15", "CCAT", "C15"]
        assert np.array_equal(raw.arrays[0].toarray(), [[1.5, 0, 2], [0, 0, 0], [0, 1, 0]])

    @pytest.mark.parametrize(
        ("line", "message"),
        [("1 99:1.0\n", "99"), ("1,2 1:1.0\n", "several labels"), ("1 a:b\n", "Cannot read")],
    )
    def test_lines_that_do_not_fit(self, tmp_path, info, line, message):
        (tmp_path / "rcv1.svm").write_text(line * 6)
        with pytest.raises(ValueError, match=message):
            loaders.read_views(tmp_path, info)


class TestReuters:
    CODES = ("EN", "FR", "GR", "IT", "SP")

    @pytest.fixture
    def info(self):
        return dataclasses.replace(
            datasets.info("reuters"), n_samples=6, n_features=(9, 8, 7, 6, 5), other_widths=()
        )

    @pytest.fixture
    def arrays(self, info):
        return [thin(6, width, seed) for seed, width in enumerate(info.n_features)]

    def write(self, folder, arrays, labels):
        for code, array in zip(self.CODES, arrays, strict=True):
            (folder / code).mkdir(parents=True)
            lines = "".join(map(svmlight_line, labels, array, [1] * 6))
            (folder / code / f"Index_EN-{code}").write_text(lines)

    @pytest.mark.parametrize("inside", [".", "rcv1rcv2aminigoutte"])
    def test_english_documents_in_five_languages(self, tmp_path, info, arrays, inside):
        self.write(tmp_path / inside, arrays, ["C15", "CCAT", "E21", "ECAT", "GCAT", "M11"])
        views = loaders.read_views(tmp_path, info)
        assert views.names == ("english", "french", "german", "italian", "spanish")
        assert all(
            np.allclose(found.toarray(), array)
            for found, array in zip(views.arrays, arrays, strict=True)
        )
        assert views.target.tolist() == [0, 1, 2, 3, 4, 5]

    def test_documents_in_another_order_are_refused(self, tmp_path, info, arrays):
        self.write(tmp_path, arrays, ["C15", "CCAT", "E21", "ECAT", "GCAT", "M11"])
        path = tmp_path / "SP" / "Index_EN-SP"
        path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
        with pytest.raises(ValueError, match="different labels"):
            loaders.read_views(tmp_path, info)

    def test_a_missing_language_is_named(self, tmp_path, info, arrays):
        self.write(tmp_path, arrays, list("abcdef"))
        (tmp_path / "GR" / "Index_EN-GR").unlink()
        with pytest.raises(ValueError, match="Index_EN-GR"):
            loaders.read_views(tmp_path, info)
