"""Single cells: what is written where, what is left alone, and real cells."""

import warnings

import anndata
import mudata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manyview import LMVSC, Views, metrics, sc
from manyview.sources import is_source

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:Cannot join columns"),
]


@pytest.fixture
def counts():
    """Give raw counts of 150 cells of three kinds: 40 genes, sparse, and 8 proteins."""
    rng = np.random.default_rng(0)
    kinds = np.arange(150) % 3
    rna = rng.poisson(np.exp(rng.normal(-1.5, 1.5, size=(3, 40)))[kinds])
    protein = rng.poisson(np.exp(rng.normal(3, 1, size=(3, 8)))[kinds])
    return kinds, sparse.csr_matrix(rna.astype(np.float32)), protein.astype(np.float32)


def annotate(X, prefix):
    obs = pd.DataFrame(index=[f"cell {i}" for i in range(X.shape[0])])
    var = pd.DataFrame(index=[f"{prefix} {j}" for j in range(X.shape[1])])
    return anndata.AnnData(X, obs=obs, var=var)


@pytest.fixture
def mdata(counts):
    return mudata.MuData({"rna": annotate(counts[1], "gene"), "prot": annotate(counts[2], "CD")})


@pytest.fixture
def adata(counts):
    cells = annotate(counts[1], "gene")
    cells.obsm["protein"] = pd.DataFrame(
        counts[2], index=cells.obs_names, columns=[f"CD {j}" for j in range(8)]
    )
    cells.layers["doubled"] = 2 * cells.X
    return cells


class TestWritten:
    def test_clusters_embedding_and_settings(self, mdata, counts):
        assert sc.tl.lmvsc(mdata, 3, scaling=["hellinger", "clr"]) is None
        clusters = mdata.obs["manyview"]
        assert clusters.cat.categories.tolist() == ["0", "1", "2"]
        assert metrics.ari(counts[0], clusters.astype(int)) > 0.9
        assert mdata.obsm["X_manyview"].shape[0] == 150
        assert mdata.uns["manyview"]["view_names"].tolist() == ["rna", "prot"]
        assert mdata.uns["manyview"]["scaling"].tolist() == ["hellinger", "clr"]

    def test_labels_are_those_of_the_estimator(self, mdata):
        sc.tl.lmvsc(mdata, 3, random_state=4, key_added="k")
        model = LMVSC(3, random_state=4).fit(mdata)
        assert np.array_equal(mdata.obs["k"].astype(int), model.labels_)
        assert np.array_equal(mdata.obsm["X_k"], model.embedding_)

    def test_a_copy_leaves_the_input_alone(self, mdata, adata):
        for data in (mdata, adata):
            made = sc.tl.lmvsc(data, 3, n_repeats=1, copy=True)
            assert "manyview" in made.obs and "manyview" in made.uns
            assert not {"manyview", "X_manyview"} & {*data.obs, *data.obsm, *data.uns}

    def test_other_settings_reach_the_estimator_and_are_noted(self, mdata):
        sc.tl.lmvsc(mdata, "auto", n_anchors=20, n_repeats=1)
        params = mdata.uns["manyview"]["params"]
        assert params["n_anchors"] == "20" and isinstance(params["n_clusters"], int)
        with pytest.raises(TypeError, match="resolution"):
            sc.tl.lmvsc(mdata, 3, resolution=1.0)


class TestAllOrNothing:
    """What is refused, or fails late, leaves the object as it was."""

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"neighbors": 0}, "neighbors must be None or a whole number"),
            ({"neighbors": True}, "neighbors must be None or a whole number"),
            ({"key_added": "a/b"}, "without '/'"),
            ({"key_added": ""}, "key_added must be a name"),
        ],
    )
    def test_refused(self, adata, settings, message):
        with pytest.raises(ValueError, match=message):
            sc.tl.lmvsc(adata, 3, **settings)

    def test_a_failure_after_the_fit(self, adata, monkeypatch):
        def fail(*_):
            raise MemoryError

        monkeypatch.setattr(sc.tl, "look_at_cells", fail)
        before = adata.copy()
        with pytest.raises(MemoryError):
            sc.tl.lmvsc(adata, 3, n_repeats=1)
        for part in ("obs", "obsm", "obsp", "uns"):
            assert [*getattr(adata, part)] == [*getattr(before, part)]

    @pytest.mark.parametrize("seed", [None, np.random.default_rng(0)], ids=["None", "generator"])
    def test_seeds_that_are_no_numbers(self, adata, seed, tmp_path):
        sc.tl.lmvsc(adata, 3, n_repeats=1, random_state=seed)
        assert adata.uns["manyview"]["params"]["random_state"] == repr(seed)
        adata.write_h5ad(tmp_path / "cells.h5ad")

    def test_columns_can_be_written_whatever_matrices_are_called(self, adata, tmp_path):
        adata.obsm["layers_doubled"] = adata.obsm["protein"]
        sc.tl.lmvsc(adata, 3, n_repeats=1, use_rep=["layers/doubled", "layers_doubled", "protein"])
        said = [name for name in adata.obs if "_say_" in name]
        assert said == [
            f"manyview_say_{n}" for n in ("layers_doubled_0", "layers_doubled_1", "protein")
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of names with "/"
            adata.write_h5ad(tmp_path / "cells.h5ad")


class TestSingleCells:
    """What is told of single cells, and of their neighbours."""

    def test_confidence_oddness_and_say(self, mdata):
        sc.tl.lmvsc(mdata, 3, n_repeats=1)
        model = LMVSC(3, n_repeats=1, random_state=0).fit(mdata)
        assert np.array_equal(mdata.obs["manyview_confidence"], model.confidence_)
        assert np.array_equal(mdata.obs["manyview_outlier_score"], model.outlier_score_)
        said = mdata.obs[["manyview_say_rna", "manyview_say_prot"]].to_numpy()
        assert said.min() >= 0.0 and np.allclose(said.sum(axis=1), 1.0)

    def test_a_modality_of_noise_has_less_say(self, counts):
        rng = np.random.default_rng(0)
        noise = rng.normal(size=(150, 8))
        mdata = mudata.MuData({"prot": annotate(counts[2], "CD"), "noise": annotate(noise, "x")})
        sc.tl.lmvsc(mdata, 3, n_repeats=1, alpha=0.01)
        assert mdata.obs["manyview_say_prot"].mean() > 0.6

    @pytest.mark.parametrize("exact", [False, True])
    def test_neighbours_are_of_the_same_kind(self, mdata, counts, exact):
        sc.tl.lmvsc(mdata, 3, n_repeats=1, alpha=0.01, neighbors=10, exact_neighbors=exact)
        found = mdata.uns["neighbors"]
        assert found["params"]["n_neighbors"] == 10
        links, nearest = mdata.obsp["connectivities"].tocoo(), mdata.obsp["distances"]
        assert (np.diff(nearest.indptr) == 10).all() and nearest.data.min() > 0
        assert (counts[0][links.row] == counts[0][links.col]).mean() > 0.9
        assert (abs(links - links.T) > 0).nnz == 0 and 0 < links.data.min() <= links.data.max() <= 1
        assert not (links.row == links.col).any()

    def test_no_neighbours_where_none_are_wanted(self, mdata):
        sc.tl.lmvsc(mdata, 3, n_repeats=1, neighbors=None)
        assert "neighbors" not in mdata.uns and not len(mdata.obsp)


class TestLater:
    """New cells, and clusters within clusters."""

    def test_the_model_in_the_object_labels_new_cells(self, mdata, tmp_path):
        sc.tl.lmvsc(mdata, 3, n_repeats=1)
        mdata.write_h5mu(tmp_path / "cells.h5mu")
        new = mdata[::-1].copy()
        for data in (new.obs, new.obsm, new.uns):
            data.clear() if data is new.uns else [data.pop(key) for key in list(data)]
        sc.tl.lmvsc_predict(new, mudata.read_h5mu(tmp_path / "cells.h5mu"))
        assert new.obs["manyview"].tolist() == mdata.obs["manyview"].tolist()[::-1]
        assert np.allclose(new.obsm["X_manyview"], mdata.obsm["X_manyview"][::-1])
        assert np.allclose(new.obs["manyview_confidence"], mdata.obs["manyview_confidence"][::-1])

    def test_the_same_matrices_are_read(self, adata):
        sc.tl.lmvsc(adata, 3, n_repeats=1, use_rep=["layers/doubled", "protein"])
        new = adata.copy()
        sc.tl.lmvsc_predict(new, adata)
        assert new.obs["manyview"].tolist() == adata.obs["manyview"].tolist()

    def test_a_reference_without_a_model_is_refused(self, adata):
        with pytest.raises(KeyError, match="no model in uns"):
            sc.tl.lmvsc_predict(adata, adata)

    def test_what_is_no_reference_is_refused(self, adata):
        with pytest.raises(TypeError, match="or a model; got NoneType"):
            sc.tl.lmvsc_predict(adata, None)

    @pytest.mark.parametrize(
        ("name", "message"), [(None, "no cluster 'None'"), ([], "is empty"), ("9", "it has")]
    )
    def test_parts_of_no_cluster_are_refused(self, adata, name, message):
        adata.obs["manyview"] = pd.Categorical(["0", "1"] * 75)
        with pytest.raises(ValueError, match=message):
            sc.tl.subcluster(adata, name)

    @pytest.mark.parametrize("kind", [pd.Index, pd.Series, pd.Categorical, set, np.array])
    def test_clusters_may_be_named_by_any_collection(self, adata, kind):
        adata.obs["manyview"] = pd.Categorical(["0", "1", "2"] * 50)
        sc.tl.subcluster(adata, kind(["0", "1"]), 2, n_repeats=1)
        assert (adata.obs["manyview_sub"] == "2").sum() == 50

    def test_parts_of_a_cluster(self, mdata, counts):
        mdata.obs["coarse"] = pd.Categorical(np.where(counts[0] == 0, "a", "b"))
        sc.tl.subcluster(mdata, "b", 2, key="coarse", n_repeats=1, alpha=0.01)
        assert set(mdata.obs["coarse_sub"]) == {"a", "b,0", "b,1"}
        assert metrics.ari(counts[0], mdata.obs["coarse_sub"].cat.codes) > 0.9
        with pytest.raises(ValueError, match="no cluster 'c'; it has"):
            sc.tl.subcluster(mdata, "c", key="coarse")


class TestRepresentations:
    def test_x_and_entries_of_obsm_are_views(self, adata, mdata):
        sc.tl.lmvsc(adata, 3, n_repeats=1, use_rep=["X", "protein"])
        sc.tl.lmvsc(mdata, 3, n_repeats=1)
        assert metrics.ari(adata.obs["manyview"], mdata.obs["manyview"]) == 1.0
        assert adata.uns["manyview"]["view_names"].tolist() == ["X", "protein"]

    @pytest.mark.parametrize("use_rep", [None, "X", "protein", "obsm/protein", "layers/doubled"])
    def test_one_matrix_of_an_anndata(self, adata, use_rep):
        sc.tl.lmvsc(adata, 3, n_repeats=1, use_rep=use_rep)
        assert adata.obs["manyview"].notna().all()

    @pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
    def test_raw_has_all_genes_wherever_it_is(self, adata, tmp_path, convert):
        """As scanpy keeps counts of all genes when it goes on with a few that are scaled."""
        adata.X = convert(adata.X.toarray())
        adata.raw = adata
        few = adata[:, :5].copy()
        sc.tl.lmvsc(adata, 3, n_repeats=1, use_rep="raw")
        sc.tl.lmvsc(few, 3, n_repeats=1, use_rep="raw")
        assert (few.obs["manyview"] == adata.obs["manyview"]).all()
        few.write_h5ad(tmp_path / "few.h5ad")
        backed = anndata.read_h5ad(tmp_path / "few.h5ad", backed="r")
        sc.tl.lmvsc(backed, 3, n_repeats=1, use_rep="raw", key_added="again")
        assert (backed.obs["again"] == few.obs["manyview"]).all()
        new = few[::3].copy()
        sc.tl.lmvsc_predict(new, few)
        assert (new.obs["manyview"] == few.obs["manyview"][::3]).all()

    def test_modalities_are_chosen_by_name(self, mdata):
        mdata.mod["rna"].obsm["X_pca"] = np.asarray(mdata.mod["rna"].X[:, :5].todense())
        sc.tl.lmvsc(mdata, 3, n_repeats=1, use_rep={"rna": "X_pca"})
        assert mdata.uns["manyview"]["view_names"].tolist() == ["rna"]

    @pytest.mark.parametrize(
        ("use_rep", "error", "message"),
        [
            ("X_pca", KeyError, "no 'X_pca'; it has 'X', 'protein', 'layers/doubled'"),
            ("raw", KeyError, "no 'raw'; it has 'X', 'protein', 'layers/doubled'"),
            ([], ValueError, "at least one matrix"),
            (["X", "X"], ValueError, "none of them twice"),
            ({"rna": "X"}, TypeError, "a name or a list of names"),
            (3, TypeError, "a name or a list of names; got 3"),
            ([None], TypeError, "a name or a list of names"),
        ],
    )
    def test_what_an_anndata_does_not_have(self, adata, use_rep, error, message):
        with pytest.raises(error, match=message):
            sc.tl.lmvsc(adata, 3, n_repeats=1, use_rep=use_rep)

    @pytest.mark.parametrize(
        ("use_rep", "error", "message"),
        [
            ("X_pca", KeyError, "Modality 'rna' has no 'X_pca'"),
            ({"atac": "X"}, KeyError, "no modality 'atac'"),
            (["rna"], TypeError, "one name for all modalities"),
        ],
    )
    def test_what_a_mudata_does_not_have(self, mdata, use_rep, error, message):
        with pytest.raises(error, match=message):
            sc.tl.lmvsc(mdata, 3, n_repeats=1, use_rep=use_rep)

    def test_arrays_are_refused(self, counts):
        with pytest.raises(TypeError, match="takes an AnnData or a MuData; got ndarray"):
            sc.tl.lmvsc(counts[2], 3)


class TestFiles:
    def test_backed_files_are_not_read_at_once(self, mdata, tmp_path):
        mdata.write_h5mu(tmp_path / "cells.h5mu")
        backed = mudata.read_h5mu(tmp_path / "cells.h5mu", backed="r")
        views = Views(backed)
        assert all(is_source(array) for array in views.arrays)
        assert views.feature_names[0][:2] == ("gene 0", "gene 1")
        before = (tmp_path / "cells.h5mu").stat()
        sc.tl.lmvsc(backed, 3, n_repeats=1)
        sc.tl.lmvsc(mdata, 3, n_repeats=1)
        assert backed.obs["manyview"].tolist() == mdata.obs["manyview"].tolist()
        after = (tmp_path / "cells.h5mu").stat()
        assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)

    def test_a_copy_of_a_backed_file_is_refused(self, adata, tmp_path):
        del adata.obsm["protein"]
        adata.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        with pytest.raises(ValueError, match="copy=False"):
            sc.tl.lmvsc(backed, 3, n_repeats=1, copy=True)
        assert sc.tl.lmvsc(backed, 3, n_repeats=1) is None

    def test_a_slice_of_a_backed_file_is_refused(self, adata, tmp_path):
        adata.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        with pytest.raises(ValueError, match=r"to_memory\(\)"):
            sc.tl.lmvsc(backed[:100], 3, n_repeats=1)
        loaded = backed[:100].to_memory()
        sc.tl.lmvsc(loaded, 3, n_repeats=1)
        assert len(loaded.obs["manyview"]) == 100

    def test_columns_first_give_the_same_clusters(self, counts, tmp_path):
        whole = annotate(counts[1].tocsc(), "gene")
        whole.write_h5ad(tmp_path / "cells.h5ad")
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        for each in (whole, backed):
            sc.tl.lmvsc(each, 3, n_repeats=1, neighbors=None)
        assert backed.obs["manyview"].tolist() == whole.obs["manyview"].tolist()


class TestCells:
    def test_names_of_genes_and_cells_are_kept(self, mdata):
        views = Views(mdata)
        assert views.ids[3] == "cell 3"
        assert views.feature_names[1][:2] == ("CD 0", "CD 1")

    def test_modalities_in_another_order_are_matched(self, counts):
        rna, protein = annotate(counts[1], "gene"), annotate(counts[2], "CD")
        views = Views(mudata.MuData({"rna": rna, "prot": protein[::-1].copy()}))
        assert np.array_equal(views["prot"], counts[2])

    def test_a_mudata_of_shared_columns_is_refused(self, counts):
        first, second = annotate(counts[1], "gene")[:70].copy(), annotate(counts[1], "gene")[70:]
        shared = mudata.MuData({"a": first, "b": second.copy()}, axis=1)
        with pytest.raises(ValueError, match="shares axis 1"):
            Views(shared)

    def test_cells_that_a_modality_lacks(self, counts):
        rna, protein = annotate(counts[1], "gene"), annotate(counts[2], "CD")
        views = Views(mudata.MuData({"rna": rna[:120].copy(), "prot": protein[30:].copy()}))
        assert views.n_rows == 150
        assert views.present.sum(axis=0).tolist() == [120, 120]
        row = views.ids.tolist().index("cell 140")
        assert views.present[row].tolist() == [False, True]

    def test_cells_are_clustered_by_what_they_have(self, counts, tmp_path):
        rna, protein = annotate(counts[1], "gene"), annotate(counts[2], "CD")
        mdata = mudata.MuData({"rna": rna[:120].copy(), "prot": protein[30:].copy()})
        mdata.write_h5mu(tmp_path / "cells.h5mu")
        sc.tl.lmvsc(mdata, 3, n_repeats=1)
        kinds = np.array([int(name.split()[1]) % 3 for name in mdata.obs_names])
        assert metrics.ari(kinds, mdata.obs["manyview"].astype(int)) > 0.8
        backed = mudata.read_h5mu(tmp_path / "cells.h5mu", backed="r")
        sc.tl.lmvsc(backed, 3, n_repeats=1)
        assert backed.obs["manyview"].tolist() == mdata.obs["manyview"].tolist()


@pytest.mark.slow
def test_blood_cells_are_told_apart_without_tuning(data):
    cells = data("citeseq_pbmc10x")
    mdata = mudata.MuData({name: anndata.AnnData(X) for name, X in cells.items()})
    sc.tl.lmvsc(mdata, 7)
    labels = mdata.obs["manyview"].astype(int)
    assert metrics.nmi(cells.target, labels) > 0.71
    assert metrics.purity(cells.target, labels) > 0.93


def test_batches_that_mean_nothing_cost_nothing(data):
    """Cells whose batch was taken off are cells still: rare kinds stay apart."""
    cells = data("citeseq_pbmc10x")
    rng = np.random.default_rng(0)
    some, chance = rng.permutation(cells.n_rows)[:1500], rng.choice(["a", "b"], 1500)
    model = LMVSC(7, random_state=0)
    without, with_key = (
        metrics.nmi(cells.target[some], model.fit(cells[some], groups=groups).labels_)
        for groups in (None, chance)
    )
    assert with_key > without - 0.05
