"""Sparse matrices with wrong places, from everywhere that they come in: refused before any product."""

import anndata
import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat, savemat

from manyview import LMVSC, Views
from manyview.errors import ReadError
from manyview.readers import read_view
from manyview.simplex import solve_simplex_qp
from manyview.sources.csr import checked_csr, join_csc, join_csr

ROWS = sparse.csr_array(np.eye(6, 4) + np.eye(6, 4, k=-2))


def damaged(kind, part, value):
    """A matrix of some format, one number of one of its arrays another."""
    made = ROWS.asformat(kind).copy()
    array = made.row if part == "row" else made.col if part == "col" else getattr(made, part)
    array[1] = value
    return made


WRONG = [
    (kind, part, value)
    for kind in ("csr", "csc", "bsr")
    for part, value in [("indices", 99), ("indices", -1), ("indptr", 99), ("indptr", -5)]
] + [("coo", part, value) for part in ("row", "col") for value in (99, -1)]


@pytest.mark.parametrize(("kind", "part", "value"), WRONG)
def test_wrong_places_are_refused(kind, part, value):
    with pytest.raises(ValueError, match=r"but|ascend"):
        checked_csr(damaged(kind, part, value))


@pytest.mark.parametrize(("kind", "part", "value"), WRONG[::3])
@pytest.mark.parametrize("enter", [Views, lambda X: LMVSC(2, views={"a": [0, 1]}).fit(X)])
def test_views_of_them_are_refused_by_name(enter, kind, part, value):
    with pytest.raises(ValueError, match=r"View .* is a damaged sparse matrix: .*Build it again"):
        enter(damaged(kind, part, value))


def test_rows_of_lists_and_of_keys_are_refused():
    lists, keys = ROWS.tolil(), ROWS.todok()
    lists.rows[0] = [99]
    keys._dict[(0, 99)] = 1.0
    for wrong in (lists, keys):
        with pytest.raises(ValueError, match="99"):
            checked_csr(wrong)


def test_the_solver_refuses_them():
    with pytest.raises(ValueError, match="99"):
        solve_simplex_qp(damaged("csr", "indices", 99), np.eye(4))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dia", "dok", "bsr"])
def test_whole_ones_are_left_as_they_are(kind):
    given = ROWS.asformat(kind)
    assert (checked_csr(given) != ROWS).nnz == 0
    assert (given != ROWS).nnz == 0


def test_entries_in_parts_are_joined_in_a_copy():
    twice = sparse.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert checked_csr(twice).toarray().tolist() == [[0, 2, 0]]
    assert twice.nnz == 2


@pytest.mark.parametrize("join", [join_csr, join_csc])
def test_parts_that_do_not_fit_are_refused(join):
    with pytest.raises(ValueError, match="3 places"):
        join((np.ones(2), np.zeros(3, int), np.array([0, 3])), (1, 1))


def write_h5ad(path, rows):
    anndata.AnnData(rows).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file["X/indices"][1] = 1_000_000


def write_mat73(path, rows):
    columns = sparse.csc_array(rows)
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = rows.shape[0]
        group["data"], group["jc"] = columns.data, columns.indptr
        group["ir"] = np.where(np.arange(columns.nnz) == 1, 1_000_000, columns.indices)


def write_mat5(path, rows):
    savemat(path, {"X": sparse.csc_array(rows)})
    content, marked = path.read_bytes(), loadmat(path)["X"].indices.astype(np.int32).tobytes()
    place = content.index(marked)
    path.write_bytes(content[:place] + b"\0\0\0\x70" + content[place + 4 :])


def write_npz(path, rows):
    sparse.save_npz(path, damaged("csr", "indices", 99))


FILES = {
    "rows.h5ad": (write_h5ad, sparse.csr_array),
    "columns.h5ad": (write_h5ad, sparse.csc_array),
    "v73.mat": (write_mat73, sparse.csr_array),
    "v5.mat": (write_mat5, sparse.csr_array),
    "a.npz": (write_npz, sparse.csr_array),
}


@pytest.mark.parametrize("name", FILES)
def test_files_with_wrong_places_are_refused(tmp_path, name):
    write, layout = FILES[name]
    write(tmp_path / name, layout(ROWS))
    with pytest.raises(ReadError, match=name):
        _read_all(str(tmp_path / name))


def _read_all(path):
    rows = read_view(path).parts[0].rows
    return rows.read(0, 6)


def test_a_group_whose_rows_do_not_ascend_is_refused(tmp_path):
    anndata.AnnData(ROWS).write_h5ad(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "r+") as file:
        file["X/indptr"][2] = 10**9
    with pytest.raises(ReadError, match="ascend"):
        read_view(str(tmp_path / "a.h5ad"))


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_nothing_beside_a_sparse_file_is_touched(tmp_path, engine):
    path, own = tmp_path / "a.npz", tmp_path / "a.npz.rows"
    sparse.save_npz(path, sparse.random_array((60, 8), density=0.5, rng=0, format="csr"))
    own.mkdir()
    (own / "thesis.txt").write_text("all of it")
    LMVSC(2, engine=engine, random_state=0, n_repeats=1, scaling="standard").fit([str(path)])
    assert sorted(found.name for found in tmp_path.rglob("*")) == [
        path.name,
        own.name,
        "thesis.txt",
    ]
    assert (own / "thesis.txt").read_text() == "all of it"
