"""Rules of scikit-learn: parameters, clones, pipelines, searches."""

import copy
import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import manyview
from manyview import LMVSC
from tests.scikit_learn_checks import EXPECTED_TO_FAIL, SPARSE, WEIGHTS

NAMES = [
    "n_clusters", "views", "categories", "n_anchors", "alpha", "locality", "scaling", "fusion",
    "n_repeats", "view_weights", "n_components", "anchor_method", "n_neighbors", "n_axes", "max_iter",
    "tol", "outliers", "random_state", "n_jobs", "engine", "verbose",
]  # fmt: skip


def test_there_are_these_parameters():
    assert list(inspect.signature(LMVSC).parameters) == NAMES
    assert sorted(LMVSC().get_params()) == sorted(NAMES)


@parametrize_with_checks(
    [LMVSC(3), LMVSC(2, n_repeats=1, scaling="log"), LMVSC.as_published(3, 4, 0.1)],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL,
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


class KMeansWithProbabilities(KMeans):
    def predict_proba(self, X):
        return np.eye(self.n_clusters)[self.predict(X)]


@pytest.mark.filterwarnings("ignore")
class TestWhyFourChecksFail:
    """Each is scikit-learn's doing, not ours: its own clusterers fail alike, or nothing could pass."""

    @pytest.mark.parametrize("check", WEIGHTS)
    def test_weights_equal_copies_where_anchors_are_given_and_not_in_kmeans(self, check):
        check = getattr(estimator_checks, check)
        anchors = np.random.default_rng(0).random((6, 30))
        check("LMVSC", LMVSC(3, anchor_method=[anchors], scaling=None, n_axes=None))
        with pytest.raises(AssertionError, match="not equivalent to fitting with removed"):
            check("KMeans", KMeans(3))

    @pytest.mark.parametrize("check", SPARSE)
    def test_any_clusterer_with_probabilities_and_sparse_input_fails(self, check):
        with pytest.raises(AssertionError, match="fail gracefully on sparse") as raised:
            getattr(estimator_checks, check)("KMeans", KMeansWithProbabilities(4))
        assert "'NoneType' object has no attribute 'multi_class'" in str(raised.value.__cause__)


class TestScikitLearn:
    def test_clone_keeps_every_parameter(self):
        model = LMVSC(4, alpha=[0.1, 1.0], scaling=["unit", None], fusion="both", n_jobs=2)
        assert clone(model).get_params() == model.get_params()

    def test_set_params(self, views):
        model = LMVSC(3).set_params(n_clusters=2, random_state=0)
        assert len(set(model.fit(views).labels_)) == 2
        with pytest.raises(ValueError, match="Invalid parameter 'n_anchor'"):
            model.set_params(n_anchor=5)

    def test_set_output_gives_tables(self, views):
        model = LMVSC(3, n_components=3, n_repeats=1, random_state=0)
        model.set_output(transform="pandas").fit(views)
        table = model.transform(views)
        assert isinstance(table, pd.DataFrame)
        assert list(table.columns) == ["lmvsc0", "lmvsc1", "lmvsc2"]
        assert np.array_equal(table.to_numpy(), model.embedding_)
        assert list(model.get_feature_names_out()) == list(table.columns)

    def test_pipeline(self, views, groups):
        pipeline = make_pipeline(StandardScaler(), LMVSC(3, n_repeats=1, random_state=0))
        labels = pipeline.fit_predict(views[0])
        assert adjusted_rand_score(groups, labels) > 0.9
        assert np.array_equal(pipeline.predict(views[0]), labels)

    def test_feature_names_of_a_table_are_kept_and_checked(self, views, fit):
        table = pd.DataFrame(views[0], columns=list("abcd"))
        model = fit(table)
        assert model.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="feature names"):
            model.predict(table[list("dcba")])

    def test_repr_shows_what_was_changed(self):
        assert repr(LMVSC(5, alpha=0.1)) == "LMVSC(alpha=0.1, n_clusters=5)"

    def test_copies_predict_the_same(self, views, fit):
        model = fit(views)
        assert np.array_equal(copy.deepcopy(model).predict(views), model.labels_)


def test_the_package_gives_the_class_of_the_module():
    assert manyview.LMVSC is LMVSC
