import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.mixture import GaussianMixture

from manyview import Views, datasets
from manyview.baselines import SMVSC
from manyview.bench.methods import GRIDS, Method, as_methods, names


@pytest.fixture(scope="module")
def views():
    return datasets.make_views(60, 3, (4, 5), separation=9.0, random_state=0)


class Recorder:
    """A clusterer without parameters, that keeps what it was given."""

    given = None

    def fit_predict(self, X):
        Recorder.given = X
        return np.zeros(len(X), int)


class Plain:
    """A clusterer that is no estimator of scikit-learn's, and must be told the number of clusters."""

    def __init__(self, n_clusters, *, random_state, share=0.5):
        self.n_clusters, self.random_state, self.share = n_clusters, random_state, share
        self.state = "not a parameter"

    def fit_predict(self, X):
        return np.arange(len(X)) % self.n_clusters


class Hidden(Plain):
    def __init__(self, n_clusters):
        self.k = n_clusters


def make_plain():
    return Plain(5, random_state=0)


@pytest.mark.parametrize("name", [name for name in names() if name != "UMAPKMeans"])
def test_every_name_is_an_estimator_that_knows_its_number_of_clusters(name):
    (method,) = as_methods(name)
    assert method.name == name
    model = method.make(3, 7, {})
    assert (model.n_clusters, model.random_state) == (3, 7)
    assert method.estimator.n_clusters == 8  # not changed


@pytest.mark.parametrize("name", sorted(GRIDS))
def test_every_setting_of_a_grid_is_known_to_its_method(name):
    (method,) = as_methods(name)
    assert all(method.make(4, 0, settings) is not None for settings in method.grid(4))
    assert len(method.grid(4)) > 1


def test_settings_in_words_are_those_that_differ_from_the_defaults():
    assert as_methods("SMVSC")[0].settings == {}
    (method,) = as_methods("mine=SMVSC(lam=0.5, init='first')")
    assert (method.name, method.settings) == ("mine", {"lam": 0.5, "init": "first"})
    assert as_methods("FPMVS")[0].settings == {"lam": 0.0}


def test_classes_objects_and_paths_are_methods_too(views):
    found = as_methods(
        {"a": AgglomerativeClustering, "b": SMVSC(lam=0.3), "c": "sklearn.cluster:Birch"}
    )
    assert [one.name for one in found] == ["a", "b", "c"]
    assert all(len(set(one.labels(views, 3, 0, {}))) == 3 for one in found)


@pytest.mark.parametrize("plain", [Plain, f"{__name__}:Plain", f"{__name__}:make_plain"])
def test_plain_classes_are_told_the_number_of_clusters_and_the_seed(plain, views):
    (method,) = as_methods(plain)
    model = method.make(3, 7, {})
    assert (model.n_clusters, model.random_state) == (3, 7)
    assert len(set(method.labels(views, 3, 0, {}))) == 3


def test_settings_of_plain_classes_are_their_parameters():
    assert as_methods(Plain)[0].settings == {}
    (method,) = as_methods(f"mine={__name__}:Plain(share=0.1)")
    assert (method.settings, method.make(3, 0, {}).share) == ({"share": 0.1}, 0.1)


def test_a_class_whose_number_of_clusters_cannot_be_set_is_refused():
    with pytest.raises(TypeError, match="Hidden must keep n_clusters as an attribute"):
        as_methods(Hidden)


def test_a_mixtures_number_of_components_is_that_of_the_clusters(views):
    (method,) = as_methods(GaussianMixture())
    assert method.make(3, 0, {}).n_components == 3


def test_methods_of_others_get_all_views_standardised_side_by_side(views):
    Method("recorder", Recorder()).labels(views, 3, 0, {})
    assert Recorder.given.shape == (60, 9)
    np.testing.assert_allclose(Recorder.given.mean(axis=0), 0, atol=1e-12)
    energies = [float((part**2).sum()) for part in np.split(Recorder.given, [4], axis=1)]
    assert energies[0] == pytest.approx(energies[1])


def test_methods_that_take_views_say_so(views):
    method = Recorder()
    method.takes_views = True
    Method("recorder", method).labels(views, 3, 0, {})
    assert isinstance(Recorder.given, Views)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("Nothing", r"No method 'Nothing'. There are LMVSC, .* and MODULE:CLASS"),
        ("sklearn.cluster:Nothing", "Cannot use 'sklearn.cluster:Nothing'"),
        ("json:dumps", "Cannot use 'json:dumps': dumps.* missing .*'obj'"),
        ("os:getcwd", "Cannot use 'os:getcwd': A method has fit_predict"),
        ("sys:maxsize", "Cannot use 'sys:maxsize': A method has fit_predict"),
        (":Birch", "Cannot use ':Birch'"),
        (f"{__name__}:Plain(size=3)", "Plain has no parameter 'size'"),
        ("KMeans(n_clusters=3)", "n_clusters of KMeans is set by the bench"),
        (
            "sklearn.mixture:GaussianMixture(n_components=3)",
            "n_components of .* is set by the bench",
        ),
        ("SMVSC(random_state=3)", "random_state of SMVSC is set by the bench"),
        ("SMVSC(lambda=1)", "Cannot read"),
        ("SMVSC(1)", "Cannot read"),
        ("SMVSC(lamb=1)", "SMVSC has no parameter 'lamb'"),
        (["KMeans", "KMeans"], "Two methods are called 'KMeans'"),
        ([], "No methods"),
    ],
)
def test_what_is_no_method_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        as_methods(wrong)


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(TypeError, match="fit_predict"):
        as_methods([3])


def test_a_module_that_fails_when_it_is_imported_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_method.py").write_text("raise RuntimeError('no licence')")
    with pytest.raises(ValueError, match="Cannot use 'broken_method:A': no licence"):
        as_methods("broken_method:A")
