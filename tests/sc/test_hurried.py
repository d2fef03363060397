"""Cells as they come: raw and normalised, sparse by columns, with gaps, and what is done next."""

import anndata
import mudata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview import metrics, sc
from manyview.errors import CautionWarning

N_CELLS, N_GENES = 240, 600


@pytest.fixture(scope="module")
def kinds():
    return np.arange(N_CELLS) % 3


@pytest.fixture(scope="module")
def counts(kinds):
    """Counts of 600 genes, of which every tenth is a marker, and of 8 proteins."""
    rng = np.random.default_rng(0)
    factors = np.ones((3, N_GENES))
    factors[rng.integers(0, 3, 60), np.arange(0, N_GENES, 10)] = 8.0
    rna = rng.poisson(np.exp(rng.normal(-1, 1.5, N_GENES)) * factors[kinds])
    protein = rng.poisson(np.where(rng.random((3, 8)) > 0.5, 900, 60)[kinds])
    return rna.astype(np.float32), protein.astype(np.float32)


def annotate(X, prefix="gene"):
    names = [f"{prefix} {number}" for number in range(X.shape[1])]
    return anndata.AnnData(X, var=pd.DataFrame(index=names))


def lognorm(X):
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / np.maximum(totals, 1) * np.median(totals))


def cluster(data, **settings):
    sc.tl.lmvsc(data, 3, n_repeats=1, **settings)
    return data.obs["manyview"].astype(int).to_numpy()


@pytest.fixture
def mdata(counts):
    return mudata.MuData({"rna": annotate(counts[0]), "protein": annotate(counts[1], "CD")})


def without_some(X):
    X = X.copy()
    X[:, :100] = 0
    return X


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray, sparse.csr_matrix, sparse.csc_matrix, lognorm, without_some,
        lambda X: X.astype(np.int32), lambda X: sparse.csr_matrix(lognorm(X)),
    ],
)  # fmt: skip
def test_few_genes_of_few_cells_tell_kinds_apart_however_they_come(counts, kinds, convert):
    assert metrics.nmi(kinds, cluster(annotate(convert(counts[0])), neighbors=None)) > 0.95


def test_counts_in_layers_and_in_raw(counts, kinds):
    cells = annotate(counts[0])
    cells.raw = cells.copy()
    cells.layers["counts"] = cells.X.copy()
    cells.X = lognorm(cells.X)
    for place in ("layers/counts", "raw"):
        assert metrics.nmi(kinds, cluster(cells, use_rep=place, neighbors=None)) > 0.95
        assert cells.uns["manyview"]["scaling"].tolist() == ["lognorm"]


def test_cells_of_which_nothing_was_counted_do_not_disturb_others(counts, kinds):
    X = counts[0].copy()
    X[:5] = 0
    found = cluster(annotate(sparse.csr_matrix(X)), neighbors=None)
    assert metrics.nmi(kinds[5:], found[5:]) > 0.95


def test_far_clusters_can_be_drawn_joined_and_kept(mdata, tmp_path):
    scanpy = pytest.importorskip("scanpy")
    found = cluster(mdata)
    scanpy.tl.paga(mdata, groups="manyview")
    scanpy.tl.leiden(mdata, flavor="igraph", n_iterations=2, directed=False)
    mdata.write_h5mu(tmp_path / "cells.h5mu")
    read = mudata.read_h5mu(tmp_path / "cells.h5mu")
    sc.tl.lmvsc_predict(mdata, read)
    assert np.array_equal(mdata.obs["manyview"].astype(int), found)


def test_new_cells_that_are_no_counts_are_warned_of(counts):
    old, new = annotate(counts[0]), annotate(lognorm(counts[0]))
    cluster(old, neighbors=None)
    with pytest.warns(CautionWarning, match="'X' was fitted to raw counts"):
        sc.tl.lmvsc_predict(new, old)


def test_one_modality_of_several_is_said_to_be_one(mdata):
    cluster(mdata, neighbors=None)
    with pytest.raises(TypeError, match=r"MuData\(\{'rna': cells\}\)"):
        sc.tl.lmvsc_predict(mdata["rna"].copy(), mdata)
    some = mudata.MuData({"rna": mdata["rna"].copy()})
    sc.tl.lmvsc_predict(some, mdata)
    assert (some.obs["manyview"] == mdata.obs["manyview"]).mean() > 0.95


def test_batches_of_which_only_a_modality_knows_are_pointed_at(mdata):
    mdata["rna"].obs["donor"] = "a"
    with pytest.raises(KeyError, match="Modality 'rna' has it"):
        cluster(mdata, batch_key="donor")


def test_batches_that_are_missing_and_levels_that_nobody_has(counts, kinds):
    cells = annotate(counts[0])
    cells.obs["donor"] = pd.Categorical(["a", "b"] * 120, categories=["a", "b", "c"])
    assert metrics.nmi(kinds, cluster(cells, batch_key="donor", neighbors=None)) > 0.95
    cells.obs.loc[cells.obs_names[0], "donor"] = None
    with pytest.raises(ValueError, match=r"missing for 1 cell\. Leave them out"):
        cluster(cells, batch_key="donor")


@pytest.mark.parametrize("size", [1, 3])
def test_parts_of_a_few_cells(counts, size):
    cells = annotate(counts[0])
    cells.obs["type"] = pd.Categorical(np.where(np.arange(N_CELLS) < size, "few", "many"))
    sc.tl.subcluster(cells, "few", key="type")
    assert cells.obs["type_sub"].value_counts()["many"] == N_CELLS - size
