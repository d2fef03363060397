"""New rows, and training rows again: every setting, seed and number of threads."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from manyview import LMVSC
from manyview.engines import Memory


class TestPredict:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"fusion": "early"},
            {"fusion": "both"},
            {"n_repeats": 2},
            {"fusion": "both", "n_repeats": 3, "locality": 0.1},
            {"alpha": [0.01, 0.1]},
            {"n_anchors": [8, 12]},
            {"n_anchors": [8, 12], "alpha": [0.01, 1.0], "fusion": "both"},
            {"view_weights": "equal"},
            {"view_weights": "agreement"},
            {"view_weights": "amgl"},
            {"view_weights": [0.3, 0.7]},
            {"view_weights": [0.0, 1.0], "fusion": "both"},
            {"n_components": 2},
            {"n_components": 7},
            {"anchor_method": "kmeans-all"},
            {"anchor_method": "random"},
            {"alpha": 0.0},
            {"alpha": 100.0},
            {"locality": 1.0},
            {"scaling": ["standard", "unit"]},
            {"max_iter": 1, "tol": 0.0},
            {"n_neighbors": 3},
            {"n_neighbors": 1, "n_axes": None},
            {"n_axes": 2},
            {"engine": Memory(), "n_repeats": "auto"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("form", ["dense", "sparse", "float32", "int"])
    def test_training_rows_get_their_labels(self, views, options, form, fit):
        convert = {
            "dense": np.asarray,
            "sparse": sparse.csr_array,
            "float32": lambda v: v.astype(np.float32),
            "int": lambda v: np.round(20 * v).astype(int),
        }[form]
        X = [convert(v) for v in views]
        model = fit(X, **options)
        assert np.array_equal(model.predict(X), model.labels_)
        assert np.array_equal(model.transform(X), model.embedding_)
        assert np.isfinite(model.embedding_).all()

    @pytest.mark.parametrize(
        ("way", "options"),
        [
            ("evident", {}),
            ("gap", {"fusion": "both"}),  # one who asks for a graph gets one
            ("modularity", {"fusion": "both", "spread": 4.0}),
        ],
    )
    def test_training_rows_get_their_labels_whichever_way_was_taken(self, blobs, way, options, fit):
        options = {"scaling": "auto", "n_repeats": 2, **options}
        X = blobs(spread=options.pop("spread", 0.3))
        model = fit(X, **options)
        (why,) = {each["why"] for each in model.choices_ if each["parameter"] == "scaling"}
        assert way in why
        assert np.array_equal(model.predict(X), model.labels_)
        assert np.array_equal(model.transform(X), model.embedding_)
        assert np.array_equal(model.predict([v[:7] for v in X]), model.labels_[:7])
        assert len(model.anchors_) >= 1

    def test_training_rows_get_their_labels_where_they_fall_into_pieces(self, fit):
        inner, angles = np.arange(180) % 2, np.linspace(0, 2 * np.pi, 180)
        rings = (4.0 - 3.0 * inner)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        model = fit(rings, 2, scaling="auto")
        assert "pieces" in model.choices_[0]["why"]
        assert adjusted_rand_score(inner, model.labels_) == 1.0
        assert np.array_equal(model.predict(rings), model.labels_)
        assert np.array_equal(model.transform(rings), model.embedding_)

    @pytest.mark.parametrize("options", [{"view_weights": w} for w in ("agreement", "amgl")])
    def test_training_rows_get_their_labels_with_three_weighted_views(self, blobs, options, fit):
        X = [*blobs(), np.random.default_rng(0).normal(size=(90, 5))]
        model = fit(X, **options)
        assert np.array_equal(model.predict(X), model.labels_)
        assert model.view_weights_.sum() == pytest.approx(1.0)

    def test_new_rows_of_clear_groups_are_recognised(self, blobs, fit):
        X = blobs(n=180)
        model = fit([v[:120] for v in X])
        labels = model.predict([v[120:] for v in X])
        assert np.array_equal(labels, model.labels_[np.arange(60) % 3])
        assert labels.dtype == np.int32

    def test_one_row_alone(self, views, fit):
        model = fit(views)
        assert model.predict([v[:1] for v in views]).tolist() == [model.labels_[0]]

    def test_fit_predict_and_fit_transform(self, views, fit):
        model = fit(views)
        again = clone(model)
        assert np.array_equal(again.fit_predict(views), model.labels_)
        assert np.array_equal(again.fit_transform(views), model.embedding_)


class TestSeed:
    def test_the_same_seed_gives_the_same_labels(self, blobs, fit):
        X = blobs(spread=3.0)
        first, second = fit(X, random_state=5), fit(X, random_state=5)
        assert np.array_equal(first.labels_, second.labels_)
        assert np.array_equal(first.embedding_, second.embedding_)

    def test_another_seed_gives_other_anchors(self, views, fit):
        first, second = fit(views, random_state=0), fit(views, random_state=1)
        assert not np.array_equal(first.anchors_[0], second.anchors_[0])

    @pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
    def test_a_generator_is_a_seed(self, views, fit, make):
        first, second = (fit(views, random_state=make(3)) for _ in range(2))
        assert np.array_equal(first.embedding_, second.embedding_)

    def test_fitting_again_forgets_the_first_data(self, views, blobs, fit):
        model = fit(blobs(widths=(3, 3, 3)))
        again = model.fit(views)
        assert np.array_equal(again.embedding_, fit(views).embedding_)
        assert again.n_views_ == 2


class TestThreads:
    @pytest.mark.parametrize("n_jobs", [None, -1, -2, 1, 5, np.int64(2)])
    def test_any_number_gives_the_same_labels(self, views, n_jobs, fit):
        assert np.array_equal(fit(views, n_jobs=n_jobs).labels_, fit(views).labels_)


@pytest.mark.parametrize("form", [Path, lambda path: {"view_0": path}, lambda path: [str(path)]])
def test_a_new_file_is_read_like_the_fitted_one_whatever_its_own_columns_look_like(tmp_path, form):
    codes = np.array(["01", "02", "A3"])[np.arange(90) % 3]
    lines = [f"{i % 3 + i % 7 / 50},{code}" for i, code in enumerate(codes)]
    file, few = tmp_path / "fit.csv", tmp_path / "new.csv"
    file.write_text("\n".join(["x,code", *lines]))
    few.write_text("\n".join(["x,code", lines[0], lines[1]]))  # of which all codes are digits
    model = LMVSC(3, random_state=0, n_repeats=1).fit(file)
    rows = model.transform(form(few))
    np.testing.assert_allclose(rows, model.embedding_[:2], atol=1e-12)
