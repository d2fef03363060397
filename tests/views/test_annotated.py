"""AnnData and MuData: which matrix, whose cells, and names of columns."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview.sources import is_source
from manyview.views.annotated import has_modalities, is_annotated, read_matrix, read_modalities
from manyview.views.selection import PartialView

X = np.arange(12.0).reshape(4, 3)
CELLS = ["c0", "c1", "c2", "c3"]


class Modalities:
    """What a MuData shows of itself."""

    def __init__(self, mod, cells=CELLS, axis=0):
        self.mod, self.obs_names, self.axis = mod, np.array(cells), axis


def cells(values=X, names=CELLS):
    data = anndata.AnnData(values, obs=pd.DataFrame(index=names))
    data.var_names = ["g0", "g1", "g2"]
    data.obsm["X_pca"] = np.asarray(X[: len(names), :2])
    data.obsm["frame"] = pd.DataFrame(X[: len(names), :1], columns=["depth"], index=names)
    data.layers["raw"] = sparse.csc_matrix(X[: len(names)] + 1)
    return data


class TestMatrix:
    @pytest.mark.parametrize(
        ("key", "rows", "columns"),
        [
            ("X", X, ("g0", "g1", "g2")),
            ("layers/raw", X + 1, ("g0", "g1", "g2")),
            ("X_pca", X[:, :2], None),
            ("obsm/X_pca", X[:, :2], None),
            ("frame", X[:, :1], ("depth",)),
        ],
    )
    def test_every_kind_of_matrix(self, key, rows, columns):
        part = read_matrix(cells(), key)
        found = part.rows.toarray() if sparse.issparse(part.rows) else part.rows
        assert np.array_equal(found, rows)
        assert (part.name, part.columns, part.ids.tolist()) == (key, columns, CELLS)

    def test_columns_first_become_rows_first(self):
        assert isinstance(read_matrix(cells(), "layers/raw").rows, sparse.csr_array)

    def test_what_is_not_there_lists_what_is(self):
        with pytest.raises(KeyError, match=r"The AnnData has no 'raw'; it has 'X', 'X_pca', .*raw"):
            read_matrix(cells(), "raw")
        with pytest.raises(ValueError, match=r"Modality 'rna' has no X. Say which"):
            read_matrix(anndata.AnnData(obs=pd.DataFrame(index=CELLS)), modality="rna")

    def test_a_backed_matrix_stays_in_its_file(self, tmp_path):
        cells(sparse.csr_matrix(X)).write_h5ad(tmp_path / "a.h5ad")
        part = read_matrix(anndata.read_h5ad(tmp_path / "a.h5ad", backed="r"))
        assert is_source(part.rows)
        assert part.columns == ("g0", "g1", "g2")

    def test_they_are_told_by_their_attributes(self):
        assert is_annotated(cells()) and not has_modalities(cells())
        assert has_modalities(Modalities({})) and not is_annotated(X)


class TestModalities:
    def test_the_same_cells_are_taken_as_they_are(self):
        found = read_modalities(Modalities({"rna": cells(), "protein": cells()}))
        assert list(found) == ["rna", "protein"]
        assert found["rna"].name == "rna"
        assert np.array_equal(found["rna"].rows, X)

    def test_cells_in_another_order_are_brought_into_that_of_the_whole(self):
        found = read_modalities(Modalities({"rna": cells(X[::-1], CELLS[::-1])}))["rna"]
        assert isinstance(found.rows, np.ndarray)  # it lacks nobody
        assert np.array_equal(found.rows, X)
        assert found.ids.tolist() == CELLS

    def test_cells_that_a_modality_lacks(self):
        found = read_modalities(Modalities({"rna": cells(X[2:], CELLS[2:])}))["rna"]
        assert isinstance(found.rows, PartialView)
        assert found.rows.present.tolist() == [False, False, True, True]

    def test_matrices_are_chosen_by_modality(self):
        data = Modalities({"rna": cells(), "protein": cells(), "other": cells()})
        found = read_modalities(data, {"rna": "X_pca", "protein": "X"})
        assert {name: part.rows.shape[1] for name, part in found.items()} == {
            "rna": 2,
            "protein": 3,
        }
        with pytest.raises(KeyError, match="There is no modality 'dna'"):
            read_modalities(data, {"dna": "X"})

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (Modalities({}), "no modalities"),
            (Modalities({"rna": cells()}, axis=1), "shares axis 1, not cells"),
            (Modalities({"rna": cells()}, ["c0", "c0", "c1", "c2"]), "MuData has 1 id more than"),
        ],
    )
    def test_what_is_refused(self, data, message):
        with pytest.raises(ValueError, match=message):
            read_modalities(data)
