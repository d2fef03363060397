"""Samples that lack views: what is there decides, however its absence is said, in every engine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score

from manyview import LMVSC, Views, select
from manyview.compose import per_view
from manyview.datasets import make_views
from manyview.engines import Disk
from manyview.simplex import solve_simplex_qp

K = 3


@pytest.fixture(scope="module")
def views() -> Views:
    return make_views(400, K, (6, 9, 7), random_state=0)


@pytest.fixture(scope="module")
def present(views) -> np.ndarray:
    return holes(len(views), views.n_views, 0.4)


def holes(n: int, v: int, share: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    present = rng.random((n, v)) >= share
    present[np.arange(n), rng.integers(0, v, n)] = True
    return present


def with_nan(views: Views, present: np.ndarray) -> dict[str, np.ndarray]:
    return {
        name: np.where(present[:, v, None], X, np.nan) for v, (name, X) in enumerate(views.items())
    }


def compact(views: Views, present: np.ndarray) -> Views:
    """Tables that hold the rows there are, in an order of their own."""
    tables = {}
    for v, (name, X) in enumerate(views.items()):
        ids = np.random.default_rng(v).permutation(np.flatnonzero(present[:, v]))
        tables[name] = (ids, X[ids])
    joined = Views.from_tables(tables, how="outer")
    return joined[np.argsort(joined.ids.astype(int))]


def model(**params) -> LMVSC:
    cheap = {"n_anchors": 20, "n_repeats": 2, "scaling": "standard"}
    return LMVSC(**{"n_clusters": K, "random_state": 0} | cheap | params)


def assert_same(a: LMVSC, b: LMVSC) -> None:
    assert np.array_equal(a.embedding_, b.embedding_)
    assert np.array_equal(a.labels_, b.labels_)


class TestViews:
    def test_all_there_is_none(self, views):
        assert views.present is None
        assert Views(views, present=np.ones((len(views), 3), bool)).present is None

    def test_masks_nan_and_tables_say_the_same(self, views, present):
        for given_as in (
            Views(views, present=present),
            Views(views, present=dict(zip(views.names, present.T, strict=True))),
            Views(with_nan(views, present)),
            compact(views, present),
        ):
            assert np.array_equal(given_as.present, present)
            assert np.array_equal(given_as[5:50].present, present[5:50])

    def test_masks_add_up(self, views, present):
        other = holes(len(views), 3, 0.3, seed=1)
        both = Views(Views(views, present=present), present=other)
        assert np.array_equal(both.present, present & other)

    def test_compact_tables_hold_no_more_than_they_were_given(self, views, present):
        joined = compact(views, present)
        assert [len(view.rows) for view in joined.arrays] == present.sum(axis=0).tolist()

    @pytest.mark.parametrize("wrong", [np.ones((3, 3), bool), np.ones((400, 3)), [True]])
    def test_a_mask_of_another_shape_or_type_is_refused(self, views, wrong):
        with pytest.raises(ValueError, match=r"shape \(400, 3\)"):
            Views(views, present=wrong)

    def test_a_mask_of_an_unknown_view_is_refused(self, views):
        with pytest.raises(ValueError, match="nonsense"):
            Views(views, present={"nonsense": np.ones(len(views), bool)})

    def test_methods_that_need_all_say_so(self, views, present):
        from manyview.baselines import KMeans

        with pytest.raises(ValueError, match="samples lack view"):
            KMeans(K).fit(Views(views, present=present))


class TestFit:
    def test_with_nothing_missing_all_is_as_without(self, views):
        everywhere = Views(views, present=np.ones((len(views), 3), bool))
        assert_same(model().fit(everywhere), model().fit(views))

    def test_it_does_not_matter_how_absence_is_said(self, views, present):
        expected = model().fit(Views(views, present=present))
        assert_same(model().fit(with_nan(views, present)), expected)
        assert_same(model().fit(compact(views, present)), expected)

    @pytest.mark.parametrize("view_weights", ["agreement", "amgl", (1.0, 2.0, 5.0)])
    def test_a_view_that_no_sample_has_is_no_view(self, views, view_weights):
        two = views.select(views.names[::2])
        mask = np.ones((len(views), 3), bool)
        mask[:, 1] = False
        weights = view_weights if isinstance(view_weights, str) else (1.0, 5.0)
        with pytest.warns(UserWarning, match="view_1"):
            fitted = model(view_weights=view_weights).fit(Views(views, present=mask))
        assert_same(fitted, model(view_weights=weights).fit(two))
        assert fitted.view_names_ == ["view_0", "view_2"]
        assert np.array_equal(fitted.predict(Views(views, present=mask)), fitted.labels_)

    def test_every_sample_counts_by_the_share_of_the_views_it_has(self, views, present):
        some = Views(views, present=present)
        fitted = model().fit(some)
        for B in fitted.model_.fused_graphs(some.arrays):
            totals = B @ (B.T @ np.ones(len(views)))
            assert np.allclose(totals, present @ fitted.view_weights_, rtol=0, atol=1e-12)

    def test_the_place_of_a_sample_is_the_average_over_what_it_has(self, views):
        """A sample with one view twice is where a sample with it once is."""
        double = {"a": views.arrays[0], "b": views.arrays[0], "c": views.arrays[1]}
        params = {"fusion": "late", "anchor_method": "random", "n_repeats": 1}
        fitted = model(**params, n_anchors=len(views)).fit(double)
        once, twice = ({name: double[name] for name in names} for names in ("a", "ab"))
        assert np.allclose(fitted.transform(once), fitted.transform(twice), rtol=0, atol=1e-8)

    def test_rows_of_the_graph_are_what_they_are_defined_to_be(self, views, present):
        """Against the definition, worked out row by row."""
        some = Views(views, present=present)
        fitted = model(n_repeats=1, scaling="energy").fit(some).model_
        n = len(views)
        scaled = [
            s.apply(X).dense() * s.axis_weights(fitted.graphs[0].whitening)
            for s, X in zip(fitted.scalers, views.arrays, strict=True)
        ]
        expected = []
        for graph in fitted.graphs:
            Z = np.zeros((n, len(graph.anchors)))
            ends = np.cumsum([0, *(scaled[v].shape[1] for v in graph.views)])
            for i in range(n):
                has = [j for j, v in enumerate(graph.views) if present[i, v]]
                if not has:
                    continue
                share = sum(graph.view_scales[j] ** 2 for j in has) / sum(
                    s**2 for s in graph.view_scales
                )
                x = [graph.view_scales[j] * scaled[graph.views[j]][i] for j in has]
                A = [graph.anchors[:, ends[j] : ends[j + 1]] for j in has]
                Z[i] = (
                    solve_simplex_qp(
                        np.concatenate(x)[None] / share**0.5,
                        np.concatenate(A, axis=1) / share**0.5,
                        alpha=graph.alpha,
                        locality=graph.locality,
                    ).toarray()
                    * share
                )
            expected.append(Z)
        found = fitted._build(list(some.arrays), 0).parts[0].toarray()
        assert np.allclose(found, np.hstack(expected), rtol=0, atol=1e-8)

    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_given_anchors_the_order_of_samples_does_not_matter(self, views, present, fusion):
        anchors = [X[:25] for X in views.arrays]
        some = Views(views, present=present)
        order = np.random.default_rng(3).permutation(len(views))
        params = {"n_anchors": "auto", "anchor_method": anchors, "fusion": fusion}
        params |= {"n_repeats": 1, "n_components": K}
        there, here = model(**params).fit(some[order]), model(**params).fit(some)
        assert np.allclose(there.embedding_, here.embedding_[order], rtol=0, atol=1e-8)

    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_the_order_of_views_does_not_matter(self, views, present, fusion):
        some = Views(views, present=present)
        turned = some.select(some.names[::-1])
        params = {"fusion": fusion, "n_repeats": 1, "n_components": K}
        params["anchor_method"] = "random"  # of which rounding makes no others
        there, here = model(**params).fit(turned), model(**params).fit(some)
        assert np.allclose(there.embedding_, here.embedding_, rtol=0, atol=1e-8)
        assert np.allclose(there.view_weights_[::-1], here.view_weights_)

    def test_anchors_of_a_view_are_drawn_by_its_name(self, views):
        late = model(fusion="late", n_repeats=1)
        whole = late.fit(views).anchors_
        others = model(fusion="late", n_repeats=1).fit(views.select(["view_2", "view_0"])).anchors_
        assert np.array_equal(others[0], whole[2])
        assert np.array_equal(others[1], whole[0])

    def test_values_in_missing_rows_are_never_looked_at(self, views, present):
        poisoned = {
            name: np.where(present[:, v, None], X, np.inf)
            for v, (name, X) in enumerate(views.items())
        }
        expected = model().fit(Views(views, present=present))
        assert_same(model().fit(Views(poisoned, present=present)), expected)

    @pytest.mark.parametrize("fusion", ["late", "early", "both"])
    def test_sparse_views_are_as_dense_ones(self, fusion):
        rng = np.random.default_rng(0)
        groups = rng.integers(0, K, 300)
        counts = [rng.poisson(np.exp(rng.normal(size=(K, d)))[groups]) for d in (12, 15)]
        mask = holes(300, 2, 0.4)
        params = {"fusion": fusion, "scaling": "standard", "n_repeats": 1, "n_components": K}
        dense = model(**params).fit(Views([X.astype(float) for X in counts], present=mask))
        csr = model(**params).fit(Views([sparse.csr_array(X) for X in counts], present=mask))
        assert np.allclose(dense.embedding_, csr.embedding_, rtol=0, atol=1e-6)

    def test_many_views_and_many_patterns(self):
        views = make_views(600, K, [8] * 9, separation=9.0, random_state=1)
        mask = holes(600, 9, 0.6)
        assert len(np.unique(mask, axis=0)) > 150
        found = model(n_repeats=1).fit(Views(views, present=mask)).labels_
        assert adjusted_rand_score(views.target, found) > 0.8

    @pytest.mark.parametrize("anchor_method", ["kmeans", "kmeans-all", "random"])
    @pytest.mark.parametrize("fusion", ["late", "early"])
    def test_every_way_to_anchors_does_without_what_is_missing(
        self, views, present, anchor_method, fusion
    ):
        some = Views(views, present=present)
        found = model(anchor_method=anchor_method, fusion=fusion, n_repeats=1).fit(some)
        assert adjusted_rand_score(views.target, found.labels_) > 0.7

    def test_a_view_of_few_samples_has_few_anchors(self, views):
        mask = np.ones((len(views), 3), bool)
        mask[7:, 2] = False
        fitted = model(n_repeats=1, fusion="late").fit(Views(views, present=mask))
        assert [len(A) for A in fitted.anchors_] == [20, 20, 7]
        assert [graph["n_rows"] for graph in fitted.solver_report_["graphs"]] == [400, 400, 7]

    def test_a_view_of_noise_still_gets_little_weight(self, views, present):
        noise = np.random.default_rng(5).normal(size=(len(views), 8))
        mask = np.column_stack([present, holes(len(views), 3, 0.3, seed=9)[:, 0]])
        noisy = Views({**dict(views.items()), "noise": noise}, present=mask)
        weights = model().fit(noisy).view_weights_
        assert weights[3] < 0.1 < weights[:3].min()

    def test_samples_with_nothing_but_a_view_without_weight_are_told(self, views, present):
        mask = present.copy()
        mask[:4] = [False, False, True]
        with pytest.warns(UserWarning, match=r"16 sample\(s\) have no view but \['view_2'\]"):
            model(view_weights=(1.0, 1.0, 0.0)).fit(Views(views, present=mask))

    def test_settings_are_compared(self, views, present):
        cheap = {"n_repeats": 1, "scaling": "standard"}
        tried = [cheap, cheap | {"alpha": 10.0}]
        found = select.compare(Views(views, present=present), K, tried)
        assert all(0 <= trial.excess_cut < 1 for trial in found.trials)

    def test_the_number_of_clusters_is_suggested_where_views_are_missing(self):
        views = make_views(400, 2, (5, 6, 4, 5), random_state=0)
        mask = holes(400, 4, 0.6)
        open_number = model(n_clusters="auto", n_anchors="auto", n_repeats=1)
        whole = clone(open_number).fit(views)
        some = open_number.fit(Views(views, present=mask))
        assert whole.n_clusters_ == some.n_clusters_ == 2

    def test_a_row_of_nan_is_missing_in_a_view_that_lacks_others(self):
        views = make_views(60, 2, (3, 4), random_state=0)
        first = views.arrays[0].copy()
        first[5] = np.nan
        mask = np.ones((60, 2), bool)
        mask[7, 0] = False
        by_nan = Views([first, views.arrays[1]], present=mask)
        mask[5, 0] = False
        assert np.array_equal(by_nan.present, mask)
        by_mask = Views(views, present=mask)
        found = [model(n_repeats=1).fit(v).labels_ for v in (by_nan, by_mask)]
        assert np.array_equal(*found)


class TestRefused:
    def test_samples_without_any_view_are_named(self, views, present):
        empty = present.copy()
        empty[[3, 41]] = False
        with pytest.raises(ValueError, match=r"2 sample\(s\) have no view.*3, 41"):
            model().fit(Views(views, present=empty))

    def test_also_where_files_are_read_block_by_block(self, views, present, tmp_path):
        filled = with_nan(views, present)
        for name, X in filled.items():
            X[41] = np.nan
            np.save(tmp_path / f"{name}.npy", X)
        with pytest.raises(ValueError, match=r"no view at all.*row\(s\) 41"):
            model().fit([tmp_path / f"{name}.npy" for name in filled])

    @pytest.mark.parametrize("n_clusters", [K, "auto"])
    @pytest.mark.parametrize("n_rows", [10_500, 12_000])  # one is sampled whole, one in part
    def test_by_their_own_numbers_where_only_some_rows_are_looked_at(
        self, tmp_path, n_rows, n_clusters
    ):
        filled = {name: X.copy() for name, X in make_views(n_rows, K, (3, 4, 5)).items()}
        for name, X in filled.items():
            X[9_000:10_400] = np.nan
            np.save(tmp_path / f"{name}.npy", X)
        paths = [tmp_path / f"{name}.npy" for name in filled]
        with pytest.raises(ValueError, match=r"no view at all.*row\(s\) (9\d\d\d, ){4}9\d\d\d "):
            LMVSC(n_clusters, n_anchors=42, random_state=0).fit(paths)

    def test_single_missing_values_are_counted(self, views):
        X = views.arrays[0].copy()
        X[[4, 9], 2] = np.nan
        with pytest.raises(ValueError, match=r"row 4, column 2 \(2 such values.*SimpleImputer"):
            model().fit([X, views.arrays[1]])

    def test_the_number_of_the_row_is_that_of_the_sample(self, views, present):
        X = views.arrays[0].copy()
        row = int(np.flatnonzero(present[:, 0])[30])
        X[row, 1] = np.nan
        with pytest.raises(ValueError, match=f"row {row}, column 1"):
            model().fit(Views([X, *views.arrays[1:]], present=present))

    def test_single_missing_values_are_filled_by_a_transformer(self, views, present):
        filled = with_nan(views, present)
        filled["view_0"][np.flatnonzero(present[:, 0])[:40], 2] = np.nan
        fitted = model().fit(per_view(SimpleImputer()).fit_transform(filled))
        assert adjusted_rand_score(views.target, fitted.labels_) > 0.9
        assert fitted.solver_report_["graphs"][0]["n_rows"] == present[:, 0].sum()


@pytest.fixture(scope="module")
def fitted(views, present):
    return model().fit(Views(views, present=present))


class TestPredict:
    @pytest.mark.parametrize("names", [["view_0"], ["view_2", "view_1"]])
    def test_any_of_the_views_will_do(self, fitted, views, names):
        some = {name: views[name] for name in names}
        mask = np.isin(views.names, names) & np.ones((len(views), 1), bool)
        assert np.array_equal(fitted.predict(some), fitted.predict(Views(views, present=mask)))
        assert adjusted_rand_score(views.target, fitted.predict(some)) > 0.6

    def test_a_model_of_complete_rows_predicts_incomplete_ones(self, views, present):
        whole = model().fit(views)
        found = whole.predict(Views(views, present=present))
        assert adjusted_rand_score(whole.labels_, found) > 0.9
        complete = present.all(axis=1)
        assert np.array_equal(found[complete], whole.labels_[complete])

    def test_samples_with_views_of_no_weight_only_are_told(self):
        views = make_views(200, K, (5, 6, 4), random_state=0)
        noise = np.random.default_rng(0).normal(size=(200, 5))
        fitted = model().set_params(view_weights=[1, 1, 1, 0]).fit([*views.arrays, noise])
        with pytest.warns(UserWarning, match=r"200 sample\(s\) have no view but \['view_3'\]"):
            fitted.predict({"view_3": noise})


class TestElsewhere:
    """Other engines, streams, checkpoints and pages."""

    def test_a_checkpoint_knows_other_holes(self, views, present, tmp_path):
        from manyview.errors import CheckpointError

        engine = Disk(checkpoint=tmp_path / "fit")
        some = Views(views, present=present)
        first = model(engine=engine).fit(some)
        assert_same(model(engine=engine).fit(some), first)
        with pytest.raises(CheckpointError):
            model(engine=engine).fit(Views(views, present=holes(len(views), 3, 0.2)))

    def test_streams_take_batches_with_holes(self, views, present):
        some = Views(views, present=present)
        stream = model()
        for start in range(0, len(views), 100):
            stream.partial_fit(some[start : start + 100])
        assert adjusted_rand_score(views.target, stream.predict(some)) > 0.9

    def test_streams_take_batches_without_a_view(self, views):
        stream = model().partial_fit(views[:200])
        stream.partial_fit({"view_0": views.arrays[0][200:], "view_2": views.arrays[2][200:]})
        assert stream.n_samples_seen_ == 400
        assert adjusted_rand_score(views.target, stream.predict(views)) > 0.9

    def test_modalities_that_share_some_cells(self, views, present):
        class Part:
            def __init__(self, ids, X):
                self.obs_names, self.X = ids, X

        names = np.array([f"cell {i}" for i in range(len(views))])
        cells = Part(names, None)
        cells.mod = {
            name: Part(names[present[:, v]], X[present[:, v]])
            for v, (name, X) in enumerate(views.items())
        }
        assert_same(model().fit(cells), model().fit(Views(views, present=present)))
