"""What LMVSC takes as views, and that it leaves it alone."""

import copy
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_info

from manyview import LMVSC


class TestInput:
    def test_clear_groups_are_found(self, views, groups, fit):
        assert adjusted_rand_score(groups, fit(views).labels_) == 1.0

    def test_one_array_is_one_view(self, views, fit):
        expected = fit(views[0])
        assert expected.n_views_ == 1
        for same in ([views[0]], {"view_0": views[0]}, pd.DataFrame(views[0]), views[0].tolist()):
            assert np.array_equal(fit(same).labels_, expected.labels_)

    def test_sparse_views_give_the_embedding_of_dense_ones_for_the_same_anchors(self, blobs, fit):
        X = [np.maximum(v, 0.0) for v in blobs(widths=(8, 10))]
        anchors = [v[::9] for v in X]
        dense = fit(X, anchor_method=anchors)
        csr = fit([sparse.csr_array(v) for v in X], anchor_method=anchors)
        # Scaled rows differ by rounding, weights by its root over alpha, see the solver's tests.
        assert np.allclose(csr.embedding_, dense.embedding_, rtol=0, atol=1e-5)

    @pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16])
    def test_numbers_of_any_type_give_the_labels_of_their_copy_in_double_precision(
        self, views, groups, dtype, fit
    ):
        X = [np.round(5 * (v - v.min())).astype(dtype) for v in views]
        labels = fit(X).labels_
        assert adjusted_rand_score(groups, labels) == 1.0
        assert np.array_equal(labels, fit([v.astype(np.float64) for v in X]).labels_)

    def test_input_and_parameters_are_left_alone(self, views):
        X = [views[0], sparse.csr_array(views[1])]
        before = copy.deepcopy(X)
        model = LMVSC(3, n_anchors=[5, 7], alpha=[0.01, 0.1], view_weights=[1, 2], random_state=0)
        params = copy.deepcopy(model.get_params())
        model.fit(X).predict(X)
        assert np.array_equal(X[0], before[0])
        assert np.array_equal(X[1].data, before[1].data)
        assert np.array_equal(X[1].indices, before[1].indices)
        assert model.get_params() == params

    def test_read_only_arrays_work(self, views, fit):
        for view in views:
            view.flags.writeable = False
        assert fit(views).labels_.shape == (90,)


class TestWideSparse:
    @pytest.mark.filterwarnings("ignore::manyview.errors.RankWarning")
    def test_34251_columns_are_never_made_dense(self, monkeypatch, fit):
        rng = np.random.default_rng(0)
        n, d = 600, 34_251
        X = sparse.random_array((n, d), density=1e-3, rng=rng).tocsr()
        widest = []
        original = sparse.csr_array.toarray

        def watch(self, *args, **kwargs):
            widest.append(self.shape[0] * (self.shape[1] == d))
            return original(self, *args, **kwargs)

        monkeypatch.setattr(sparse.csr_array, "toarray", watch)
        tracemalloc.start()
        model = fit([X, X[:, :500]], n_anchors=12, n_repeats=1)
        labels = model.predict([X, X[:, :500]])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.array_equal(labels, model.labels_)
        # Only anchors may be dense, 12 and the 30 that tell odd rows: all rows would be 164 MB.
        assert max(widest, default=0) <= 30
        assert peak < 0.5 * n * d * 8


class TestNeighbours:
    """What a fit must not do to the rest of the process, or to stored data."""

    def test_warning_filters_are_as_before(self, views):
        before = list(warnings.filters)
        for seed in range(4):
            LMVSC(3, n_repeats=1, random_state=seed, n_jobs=4).fit(views)
        assert list(warnings.filters) == before

    def test_threads_of_products_are_as_before_when_models_are_used_at_once(self, views, fit):
        model = fit(views)
        before = [(lib["prefix"], lib["num_threads"]) for lib in threadpool_info()]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: model.predict(views), range(9)))
        assert [(lib["prefix"], lib["num_threads"]) for lib in threadpool_info()] == before

    def test_entries_stored_in_two_parts_count_once(self, fit):
        X = sparse.random_array((60, 8), density=0.4, rng=0, format="csr")
        halves = sparse.csr_array(
            (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
        )
        once, twice = fit(X), fit(halves)
        assert np.allclose(once.singular_values_, twice.singular_values_, rtol=1e-12)
        assert halves.nnz == 2 * X.nnz


def test_many_views_of_few_rows_take_the_memory_of_rows_not_of_all_pairs_of_anchors(fit):
    groups, rng = np.arange(120) % 3, np.random.default_rng(0)
    views = [4 * rng.normal(size=(3, 2))[groups] + rng.normal(size=(120, 2)) for _ in range(60)]
    tracemalloc.start()
    model = fit(views, n_anchors=50, n_repeats=1, scaling="standard")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len({*zip(groups, model.labels_, strict=True)}) == 3
    assert peak < 0.25 * 8 * (60 * 50) ** 2  # the Gram matrix of all anchors
