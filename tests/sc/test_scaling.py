"""What suits modalities where rows are cells."""

import anndata
import numpy as np
import pytest
from scipy import sparse

from manyview import Views, metrics, sc
from manyview.sc.scaling import settle_scaling


@pytest.fixture
def genes():
    rng = np.random.default_rng(0)
    means = np.exp(rng.normal(-2, 2, (3, 300)))[np.arange(120) % 3]
    return rng.poisson(means).astype(np.float32)


@pytest.fixture
def proteins():
    rng = np.random.default_rng(0)
    return rng.poisson(np.exp(rng.normal(5, 1, (3, 12)))[np.arange(120) % 3]).astype(np.float32)


@pytest.mark.parametrize(("kind", "look"), [("lognorm", "genes"), ("clr", "proteins")])
def test_counts_of_one_modality_are_scaled_as_cells_are(request, kind, look):
    cells = anndata.AnnData(request.getfixturevalue(look))
    sc.tl.lmvsc(cells, 3, neighbors=None)
    assert cells.uns["manyview"]["scaling"].tolist() == [kind]
    told = [each for each in cells.uns["manyview"]["choices"] if each.startswith("scaling")]
    assert len(told) == 1
    assert f"as of {look}" in told[0]
    cells.obs["all"] = "a"
    sc.tl.subcluster(cells, "a", 3, key="all")
    assert cells.obs["all_sub"].nunique() == 3


def test_what_everyone_knows_and_what_is_no_count_stays_open(genes, proteins):
    assert settle_scaling(Views({"rna": genes, "protein": proteins}), "auto") == ("auto", {})
    assert settle_scaling(Views({"scores": proteins / 7}), "auto") == ("auto", {})
    assert settle_scaling(Views({"x": proteins / 7, "protein": proteins}), "auto") == ("auto", {})
    places = np.random.default_rng(0).integers(0, 5000, (120, 2))
    assert settle_scaling(Views({"rna": genes, "places": places}), "auto")[0] == ["lognorm", "auto"]


def test_a_kind_that_was_asked_for_is_kept(genes):
    assert settle_scaling(Views({"rna": genes}), "log") == ("log", {})
    assert settle_scaling(Views({"rna": genes}), ["log"]) == (["log"], {})
    assert settle_scaling(Views({"rna": genes}), None) == (None, {})


def test_a_few_variable_genes_are_scaled_as_genes(genes, proteins):
    cells = anndata.AnnData(genes, obsm={"protein": proteins})
    sc.tl.lmvsc(cells, 3, use_rep=["X", "protein"], use_hvg=40, neighbors=None)
    assert cells.uns["manyview"]["scaling"].tolist() == ["lognorm", "clr"]


def test_kinds_are_found_by_peaks_alone():
    """Open or not, in very many places; how much was counted of a cell is the first thing to see."""
    rng = np.random.default_rng(0)
    groups, depth = np.arange(600) % 3, np.exp(rng.normal(0, 0.6, 600))
    usual = 0.08 * np.exp(rng.normal(0, 0.8, 10_000))
    is_open = np.where(rng.random((3, 10_000)) < 0.05, 6.0, 1.0) * usual
    peaks = rng.poisson(depth[:, None] * is_open[groups]) > 0
    cells = anndata.AnnData(sparse.csr_matrix(peaks.astype(np.float32)))
    sc.tl.lmvsc(cells, 3, neighbors=None)
    assert cells.uns["manyview"]["scaling"].tolist() == ["tf-idf"]
    assert metrics.ari(groups, cells.obs["manyview"].cat.codes) > 0.95
