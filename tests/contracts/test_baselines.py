"""One suite for every baseline: the same input rules, errors, attributes and promises."""

import copy
import inspect
import logging
import re
import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from manyview import Views, baselines
from manyview.datasets import make_subspaces
from manyview.metrics import accuracy
from tests.templates import FarthestFirst

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

METHODS = {name: getattr(baselines, name) for name in baselines.names()}
METHODS["FarthestFirst"] = FarthestFirst  # the guide's example

SINGLE_VIEW = {"SSCOMP", "E3SC"}

# Methods that look for nearness, not for subspaces, recover subspaces that lie apart.
NEEDS_DISTANCE = set(METHODS) - {"SSCOMP", "E3SC", "MLRSSC", "MSCIAS"}

# Settings with which a method does what its memory does not suffice for.
WHAT_NEEDS_MEMORY = {"MSCIAS": {"form": "exact", "n_neighbors": None}}

# What makes a method quick on little data, where how well it does is not the point.
QUICK = {"FastMICE": {"n_members": 4, "n_anchors": 40}, "EOMSC": {"max_iter": 4}}

WITH_PROGRESS = sorted(set(METHODS) - {"SpectralKNN", "FarthestFirst"})
WITH_PREDICT = [name for name in METHODS if hasattr(METHODS[name], "predict")]

EXPECTED_FAILED_CHECKS = {
    "SSCOMP": {
        "check_clustering": "three blobs in a plane are no union of subspaces: any two rows that "
        "are not parallel represent all others"
    },
}


# Methods that refuse what does not fit in memory.
WITH_FORCE = [name for name in METHODS if "force" in METHODS[name]().get_params()]


@pytest.fixture(scope="module", params=METHODS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(name):
    """A fitted method for three clusters, only to look at."""
    X, Y = two_views()
    return make(name).fit({"long": X, "wide": Y})


@pytest.fixture
def model(name):
    """A method for three clusters that accepts several views."""
    return make(name)


def make(name, n_clusters=3, **options):
    options = QUICK.get(name, {}) | options
    options |= {"view": 0} if name in SINGLE_VIEW else {}
    return METHODS[name](n_clusters, random_state=0, **options)


def linear_subspaces(n_features=(12, 15)):
    return make_subspaces(25, 3, 3, n_features, random_state=0)


def distant_subspaces(n_features=(12, 15)):
    views = linear_subspaces(n_features)
    rng = np.random.default_rng(0)
    offsets = [20 * rng.normal(size=(3, width)) for width in n_features]
    moved = [X + b[views.target] for X, b in zip(views.arrays, offsets, strict=True)]
    return Views(moved, target=views.target)


def two_views():
    return list(distant_subspaces().arrays)


@pytest.mark.slow
def test_passes_the_checks_of_scikit_learn(name):
    model = METHODS[name](random_state=0, **QUICK.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(
            model, expected_failed_checks=EXPECTED_FAILED_CHECKS.get(name), on_skip=None
        )


def test_noise_free_subspaces_are_recovered(name, model):
    views = (distant_subspaces if name in NEEDS_DISTANCE else linear_subspaces)()
    assert accuracy(views.target, model.fit_predict(views)) > 0.95


@pytest.mark.parametrize("name", WITH_PREDICT, indirect=True)
def test_predict_gives_the_labels_that_fitted_rows_have(name, fitted):
    X, Y = two_views()
    np.testing.assert_array_equal(fitted.predict({"wide": Y, "long": X}), fitted.labels_)
    np.testing.assert_array_equal(fitted.predict([X[40:50], Y[40:50]]), fitted.labels_[40:50])


@pytest.mark.parametrize("name", WITH_PREDICT, indirect=True)
def test_predict_refuses_other_columns(name, fitted):
    X, Y = two_views()
    with pytest.raises(ValueError, match=rf"3 features, but {name} is expecting 12 .*'long'"):
        fitted.predict({"long": X[:, :3], "wide": Y})


def test_sparse_views_give_the_same_labels_as_dense_ones_or_are_refused(name, fitted, model):
    views = [sparse.csr_array(X) for X in two_views()]
    if METHODS[name]._takes_sparse:
        assert accuracy(fitted.labels_, model.fit_predict(views)) == 1.0
        return
    with pytest.raises(TypeError, match=r"is sparse .*made dense silently"):
        model.fit(views)


def test_samples_that_lack_views_are_clustered_or_refused(name, model):
    X, Y = two_views()
    X[:10], Y[20:30] = np.nan, np.nan
    if not METHODS[name]._takes_missing:
        with pytest.raises(ValueError, match="View 'view_0' has NaN at row 0"):
            model.fit([X, Y])
        return
    labels = model.fit_predict([X, Y])
    assert accuracy(distant_subspaces().target, labels) > 0.8
    np.testing.assert_array_equal(model.predict([X, Y]), labels)
    X[20], Y[20] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"no view at all.*row\(s\) 20"):
        model.predict([X, Y])


def test_labels_are_small_integers_one_a_row(fitted):
    labels = fitted.labels_
    assert labels.shape == (75,) and labels.dtype == np.int32
    assert set(labels) <= {0, 1, 2}


def test_same_seed_gives_the_same_labels(fitted, model):
    np.testing.assert_array_equal(model.fit_predict(two_views()), fitted.labels_)
    np.testing.assert_array_equal(model.fit_predict(two_views()), fitted.labels_)


@pytest.mark.parametrize("kind", [list, tuple, Views])
def test_list_tuple_dict_and_views_are_the_same_input(fitted, model, kind):
    np.testing.assert_array_equal(model.fit_predict(kind(two_views())), fitted.labels_)


def test_one_array_is_one_view(name):
    X = two_views()[0]
    model = METHODS[name](3, random_state=0).fit(X)
    assert (model.n_views_, model.n_features_in_) == (1, X.shape[1])
    assert model.labels_.shape == (75,)


def test_names_and_shape_of_the_views_are_recorded(fitted):
    assert fitted.view_names_ == ("long", "wide")
    assert (fitted.n_views_, fitted.n_features_in_) == (2, 27)
    assert not hasattr(fitted, "feature_names_in_")


def test_iterations_are_counted(fitted):
    assert fitted.n_iter_ >= 1


@pytest.mark.parametrize("make_view", [np.asarray, sparse.csr_array])
def test_input_and_parameters_are_not_changed(model, make_view):
    views = [make_view(X) for X in two_views()]
    before, parameters = copy.deepcopy(views), model.get_params()
    with suppress(TypeError):  # where sparse views are refused
        model.fit(views)
    assert all(abs(X - Y).max() == 0 for X, Y in zip(views, before, strict=True))
    assert model.get_params() == parameters


def test_single_precision_and_integers_are_accepted(model):
    X, Y = two_views()
    assert model.fit_predict([X.astype(np.float32), Y.round().astype(np.int16)]).shape == (75,)


def test_views_of_different_lengths_are_refused(model):
    X, Y = two_views()
    with pytest.raises(ValueError, match="View 'view_1' has 74 rows but 'view_0' has 75"):
        model.fit([X, Y[1:]])


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_value_that_is_not_finite_is_named_by_view_row_and_column(model, value, word):
    X, Y = two_views()
    Y[7, 2] = value
    with pytest.raises(ValueError, match=f"View 'b' has {word} at row 7, column 2"):
        model.fit({"a": X, "b": Y})


def test_more_clusters_than_rows_are_refused(model):
    with pytest.raises(ValueError, match=r"n_clusters must not exceed .* 76 for 75 samples"):
        model.set_params(n_clusters=76).fit(two_views())


@pytest.mark.parametrize("n_clusters", [0, -1, 2.0, True, "three"])
def test_number_of_clusters_must_be_a_positive_integer(model, n_clusters):
    with pytest.raises((TypeError, ValueError), match="n_clusters"):
        model.set_params(n_clusters=n_clusters).fit(two_views())


@pytest.mark.parametrize("name", WITH_PROGRESS, indirect=True)
def test_progress_is_logged_where_it_is_asked_for(name, model, caplog):
    with caplog.at_level(logging.INFO, "manyview.baselines"):
        model.fit(two_views())
        assert not caplog.records
        model.set_params(verbose=1).fit(two_views())
    assert caplog.records


def test_one_cluster_is_one_cluster(model):
    assert set(model.set_params(n_clusters=1).fit_predict(two_views())) == {0}


def test_rows_that_are_all_the_same_do_no_harm(model):
    labels = model.fit_predict([np.ones((12, 3)), np.ones((12, 2))])
    assert labels.shape == (12,) and set(labels) <= {0, 1, 2}


def test_view_of_zeros_does_no_harm(name):
    X = two_views()[0]
    model = make(name, **({"view": 1} if name in SINGLE_VIEW else {}))
    labels = model.fit_predict([np.zeros((75, 2)), X])
    assert labels.shape == (75,) and set(labels) <= {0, 1, 2}


def test_clone_has_the_same_parameters_and_is_not_fitted(fitted):
    copied = clone(fitted)
    assert copied.get_params() == fitted.get_params()
    assert not hasattr(copied, "labels_")


def test_unknown_parameter_is_refused(name):
    with pytest.raises(TypeError):
        METHODS[name](3, not_a_parameter=1)


def test_unknown_value_of_a_named_option_is_refused(model):
    options = [option for option, value in model.get_params().items() if isinstance(value, str)]
    for option in options:
        with pytest.raises((TypeError, ValueError), match=option):
            clone(model).set_params(**{option: "nonsense"}).fit(two_views())


@pytest.mark.parametrize("name", WITH_FORCE, indirect=True)
def test_what_does_not_fit_in_memory_is_refused_in_bytes_unless_forced(name, model, monkeypatch):
    model.set_params(**WHAT_NEEDS_MEMORY.get(name, {}))
    monkeypatch.setattr("manyview.baselines.steps.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"needs [\d.]+ [kM]B of memory and 1\.0 kB are free"):
        model.fit(two_views())
    assert model.set_params(force=True).fit(two_views()).labels_.shape == (75,)


@pytest.mark.parametrize("name", sorted(SINGLE_VIEW), indirect=True)
def test_a_view_must_be_chosen_for_a_method_of_one_view(name):
    with pytest.raises(ValueError, match=r"\['view_0', 'view_1'\].*fit_each_view"):
        METHODS[name](3).fit(two_views())


def test_docstring_says_what_every_parameter_is(name):
    method = METHODS[name]
    text = inspect.getdoc(method)  # Python 3.13 keeps docstrings without their indentation
    for option in method().get_params():
        assert re.search(rf"^(\w+, )*{option}(, \w+)* : ", text, re.MULTILINE), option


def test_all_names_are_public():
    assert set(baselines.names()) <= set(baselines.__all__) <= set(dir(baselines))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = baselines.Nothing
