"""Highly variable genes: which, of which modalities, and the same ones of new cells."""

import anndata
import mudata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview import Views, sc
from manyview.sc import genes
from manyview.sc.genes import beyond_trend, keep_known, keep_variable
from manyview.stages.scaling import fit_scaler
from manyview.views.annotated import read_matrix

MARKERS = np.arange(0, 600, 10)


@pytest.fixture(scope="module")
def counts():
    """Counts of 600 genes, of which every tenth differs between three kinds, and of 6 proteins."""
    rng = np.random.default_rng(0)
    kinds = np.arange(240) % 3
    means = np.exp(rng.normal(-1, 1.5, 600))
    factors = np.ones((3, 600))
    factors[rng.integers(0, 3, len(MARKERS)), MARKERS] = 8.0
    rna = rng.poisson(means * factors[kinds]).astype(np.float32)
    return rna, rng.poisson(500.0, (240, 6)).astype(np.float32)


@pytest.fixture
def mdata(counts):
    rna, protein = (anndata.AnnData(X) for X in counts)
    rna.var_names = [f"gene {number}" for number in range(600)]
    protein.var_names = [f"CD{number}" for number in range(6)]
    return mudata.MuData({"rna": rna, "protein": protein})


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_genes_that_tell_kinds_apart_are_kept_however_they_are_stored(counts, convert):
    kept = keep_variable(Views({"rna": convert(counts[0]), "protein": counts[1]}), 100)
    assert kept.n_features == (101, 6)  # the last is that of all others
    whole = counts[0].sum(axis=0)
    told = [place for place in MARKERS if whole[place] > 240]  # rare ones tell little
    rows = kept.arrays[0].toarray() if sparse.issparse(kept.arrays[0]) else kept.arrays[0]
    found = {column.tobytes() for column in np.ascontiguousarray(rows.T)}
    columns = np.ascontiguousarray(counts[0].T)
    assert np.mean([columns[place].tobytes() in found for place in told]) > 0.9


@pytest.mark.parametrize(
    ("use_hvg", "width"), [(None, 600), (False, 600), (True, 600), (600, 600), (50, 51)]
)
def test_how_many(counts, use_hvg, width):
    assert keep_variable(Views(list(counts)), use_hvg).n_features == (width, 6)


def test_by_default_where_there_are_many(counts, monkeypatch):
    monkeypatch.setattr(genes, "_MANY", 500)
    monkeypatch.setattr(genes, "_KEPT", 80)
    assert keep_variable(Views(list(counts)), None).n_features == (81, 6)


@pytest.mark.parametrize("use_hvg", [0, -1, 2.5, "all"])
def test_other_answers_are_refused(counts, use_hvg):
    with pytest.raises(ValueError, match="use_hvg must be"):
        keep_variable(Views(list(counts)), use_hvg)


def test_as_many_threads_as_are_asked_for(mdata, monkeypatch):
    asked = []
    count_jobs = genes.count_jobs
    monkeypatch.setattr(genes, "count_jobs", lambda n=None: asked.append(n) or count_jobs(n))
    sc.tl.lmvsc(mdata, 3, use_hvg=100, n_jobs=1, n_repeats=1, neighbors=None)
    assert asked == [1]


def test_columns_that_are_not_genes_stay():
    wide = np.random.default_rng(0).normal(size=(50, 300))
    assert keep_variable(Views({"x": wide}), 20).n_features == (300,)


@pytest.mark.parametrize("is_backed", [False, True])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_counts_are_divided_by_the_total_of_all_genes(counts, convert, is_backed, tmp_path):
    cells = anndata.AnnData(convert(counts[0]))
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r" if is_backed else None)
    views = Views({"rna": read_matrix(read)})
    kept = keep_variable(views, 100)[50:150].load()
    rows = kept.arrays[0].toarray() if sparse.issparse(kept.arrays[0]) else kept.arrays[0]
    assert np.array_equal(rows.sum(axis=1), counts[0][50:150].sum(axis=1))
    places = [int(gene) for gene in kept.feature_names[0][:-1]]
    assert kept.feature_names[0][-1] == "all other genes"
    share = counts[0][50:150, places] / counts[0][50:150].sum(axis=1, keepdims=True)
    scaled = fit_scaler(rows, name="rna", kind="lognorm")
    usual = np.median(counts[0][50:150].sum(axis=1))
    assert scaled.shift[:-1] == pytest.approx(np.log1p(usual * share).mean(axis=0))


def test_totals_are_exact_where_single_counts_fit_in_a_byte(counts):
    small = counts[0].astype(np.uint8)
    kept = keep_variable(Views({"rna": small}), 100).arrays[0]
    assert np.array_equal(kept.sum(axis=1), small.sum(axis=1))


@pytest.mark.parametrize(("scaling", "width"), [("standard", 50), (["log", "clr"], 50)])
def test_only_what_divides_by_totals_needs_them(counts, scaling, width):
    kept = keep_variable(Views(list(counts)), 50, scaling=scaling)
    assert kept.n_features == (width, 6)


def test_new_cells_with_the_variable_genes_only_are_refused(mdata):
    sc.tl.lmvsc(mdata, 3, use_hvg=100, n_repeats=1, neighbors=None)
    kept = sc.tl._unpack(mdata.uns["manyview"]["model"]).feature_names_per_view_[0][:-1]
    few = mudata.MuData(
        {"rna": mdata["rna"][:, list(kept)].copy(), "protein": mdata["protein"].copy()}
    )
    with pytest.raises(ValueError, match="Pass cells with all of them"):
        sc.tl.lmvsc_predict(few, mdata)


def test_new_cells_that_lack_genes_are_refused_by_their_names(counts):
    old, few = (anndata.AnnData(counts[0][:, :width]) for width in (600, 590))
    old.var_names = [f"gene {number}" for number in range(600)]
    few.var_names = old.var_names[:590]
    sc.tl.lmvsc(old, 3, n_repeats=1, neighbors=None)
    with pytest.raises(ValueError, match=r"lacks 10 columns of the 600 .* 'gene 590', .* as zeros"):
        sc.tl.lmvsc_predict(few, old)


def test_columns_that_do_not_vary_are_last():
    assert beyond_trend(np.ones(3), np.array([0.0, 1.0, 2.0])).argmin() == 0


def test_files_new_cells_and_parts_of_clusters_have_the_same_genes(mdata, tmp_path):
    mdata.write_h5mu(tmp_path / "cells.h5mu")
    backed = mudata.read_h5mu(tmp_path / "cells.h5mu", backed="r")
    for each in (mdata, backed):
        sc.tl.lmvsc(each, 3, use_hvg=100, n_repeats=1, neighbors=None)
    assert backed.obs["manyview"].tolist() == mdata.obs["manyview"].tolist()
    new = mdata.copy()
    sc.tl.lmvsc_predict(new, mdata)
    assert new.obs["manyview"].tolist() == mdata.obs["manyview"].tolist()
    sc.tl.subcluster(mdata, ["0", "1"], 2, n_repeats=1)
    assert mdata.obs["manyview_sub"].nunique() == 3
    backed.file.close()


def test_known_genes_are_found_in_views_in_another_order(counts):
    rna = pd.DataFrame(counts[0], columns=[f"gene {number}" for number in range(600)])
    views = Views({"protein": counts[1], "rna": rna})
    kept = keep_known(views, {"rna": ["gene 7", "gene 3"], "protein": None})
    assert np.array_equal(kept["rna"], counts[0][:, [7, 3]])


def test_all_genes_but_one_are_known_in_the_same_cells(counts):
    names = [f"g{number}" for number in range(600)]
    frame = Views({"rna": pd.DataFrame(counts[0], columns=names)})
    kept = keep_variable(frame, 599)
    again = keep_known(frame, {"rna": kept.feature_names[0]})
    np.testing.assert_array_equal(again["rna"], kept["rna"])


def test_known_genes_that_are_there_twice_are_refused(counts):
    rna = anndata.AnnData(counts[0])
    rna.var_names = ["gene 1", "gene 1", *(f"gene {number}" for number in range(2, 600))]
    views = Views({"rna": read_matrix(rna)})
    with pytest.raises(ValueError, match="'gene 1' more than once"):
        keep_known(views, {"rna": ["gene 1", "gene 5"]})
    rna.var_names = ["gene 1"] * 600
    with pytest.raises(ValueError, match="'gene 1' more than once"):
        keep_known(Views({"rna": read_matrix(rna)}), {"rna": ["gene 1"] * 100})


def test_genes_are_chosen_by_as_many_threads_as_are_asked_for(counts, monkeypatch):
    asked = []
    monkeypatch.setattr("manyview.sc.genes.count_jobs", lambda n_jobs: asked.append(n_jobs) or 1)
    sc.tl.lmvsc(anndata.AnnData(counts[0]), 3, use_hvg=20, n_jobs=2, n_repeats=1)
    assert asked == [2]
