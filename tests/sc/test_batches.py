"""Batches: what is taken off, what is kept for new cells, and what is refused."""

import anndata
import numpy as np
import pytest

from manyview import Views, metrics, sc
from manyview.sc.scaling import settle_scaling


@pytest.fixture
def cells():
    """Counts of 12 proteins of 300 cells of three kinds, in two batches with other antibodies."""
    rng = np.random.default_rng(0)
    kinds, batch = np.arange(300) % 3, (np.arange(300) // 3) % 2
    strength = np.exp(rng.normal(0, 1.5, (2, 12)))
    means = np.exp(rng.normal(4, 1.0, (3, 12)))[kinds] * strength[batch]
    data = anndata.AnnData(rng.poisson(means).astype(np.float32))
    data.obs["batch"] = np.array(["a", "b"])[batch]
    data.obs["kind"] = kinds
    data.var_names = [f"CD{number}" for number in range(12)]
    return data


def test_batches_are_brought_together(cells):
    sc.tl.lmvsc(cells, 3, key_added="plain", neighbors=None)
    sc.tl.lmvsc(cells, 3, batch_key="batch", key_added="corrected", neighbors=None)
    found, plain = cells.uns["corrected"], cells.obs["plain"].cat.codes
    assert metrics.ari(cells.obs["kind"], cells.obs["corrected"].cat.codes) > 0.95
    assert found["scaling"].tolist() == ["clr"]
    assert found["batch_mixing"] > 0.99 > 1 - metrics.nmi(cells.obs["batch"], plain, average="min")


def test_new_cells_are_corrected_as_their_batch_was(cells, tmp_path):
    sc.tl.lmvsc(cells, 3, batch_key="batch", neighbors=None)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    new = cells[::-1].copy()
    sc.tl.lmvsc_predict(new, anndata.read_h5ad(tmp_path / "cells.h5ad"))
    assert new.obs["manyview"].tolist() == cells.obs["manyview"].tolist()[::-1]


def test_new_cells_may_have_their_genes_in_another_order(cells):
    sc.tl.lmvsc(cells, 3, batch_key="batch", neighbors=None)
    new = cells[:, ::-1].copy()
    sc.tl.lmvsc_predict(new, cells)
    assert (new.obs["manyview"] == cells.obs["manyview"]).all()
    with pytest.raises(ValueError, match="lacks 1 column"):
        sc.tl.lmvsc_predict(cells[:, 1:].copy(), cells)


def test_parts_of_a_cluster_are_made_from_corrected_cells(cells):
    sc.tl.lmvsc(cells, 2, batch_key="batch", neighbors=None)
    sc.tl.subcluster(cells, ["0", "1"], 3)
    assert cells.obs["manyview_sub"].nunique() == 3
    mixing = 1.0 - metrics.nmi(cells.obs["batch"], cells.obs["manyview_sub"], average="min")
    assert mixing > 0.9


def test_new_cells_of_another_batch_are_warned_about(cells):
    sc.tl.lmvsc(cells, 3, batch_key="batch", neighbors=None)
    new = cells.copy()
    new.obs["batch"] = "c"
    with pytest.warns(UserWarning, match="The fit had no rows of 1 group"):
        sc.tl.lmvsc_predict(new, cells)


def test_batches_of_a_backed_file_give_the_same_clusters(cells, tmp_path):
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for each in (cells, backed):
        sc.tl.lmvsc(each, 3, batch_key="batch", neighbors=5)
    assert backed.obs["manyview"].tolist() == cells.obs["manyview"].tolist()
    backed.file.close()


def test_genes_and_proteins_alone_are_scaled_as_such(cells):
    rng = np.random.default_rng(0)
    genes = rng.poisson(np.exp(rng.normal(-2, 2, 400)), (300, 400))
    views = Views({"rna": genes, "protein": cells.X, "scores": cells.X / 7})
    kinds, why = settle_scaling(views, "auto", has_batches=True)
    assert kinds == ["lognorm", "clr", "standard"]
    assert why.keys() == {"rna", "protein"}
    assert settle_scaling(Views({"protein": cells.X}), "log", has_batches=True) == ("log", {})


class TestRefused:
    def test_a_column_that_is_not_there(self, cells):
        with pytest.raises(KeyError, match="no 'donor' in obs, which has"):
            sc.tl.lmvsc(cells, 3, batch_key="donor")

    def test_several_columns(self, cells):
        with pytest.raises(KeyError, match="There is no"):
            sc.tl.lmvsc(cells, 3, batch_key=["batch", "kind"])

    def test_cells_without_a_batch(self, cells):
        cells.obs.loc[cells.obs_names[:4], "batch"] = None
        with pytest.raises(ValueError, match="missing for 4 cells"):
            sc.tl.lmvsc(cells, 3, batch_key="batch")

    def test_batches_of_one_cell(self, cells):
        cells.obs.loc[cells.obs_names[7], "batch"] = "alone"
        with pytest.raises(ValueError, match=r"1 group with one row that counts \('alone'\)"):
            sc.tl.lmvsc(cells, 3, batch_key="batch")

    def test_cells_that_lack_a_modality(self, cells):
        cells.X[3] = np.nan
        cells.obsm["other"] = np.ones((300, 2)) * np.arange(300)[:, None]
        with pytest.raises(ValueError, match="Some rows lack view 'X'"):
            sc.tl.lmvsc(cells, 3, use_rep=["X", "other"], batch_key="batch", scaling="standard")
