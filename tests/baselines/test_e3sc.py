import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines import E3SC, e3sc
from manyview.metrics import accuracy

SOLVERS = ["admm", "proximal", "l0"]


def subspaces(n_each=20, dim=2, width=12, n_clusters=3, noise=0.0, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [
            rng.normal(size=(n_each, dim)) @ rng.normal(size=(dim, width))
            + offset * rng.normal(size=width)
            for _ in range(n_clusters)
        ]
    )
    return X + noise * rng.normal(size=X.shape), np.repeat(np.arange(n_clusters), n_each)


def model(solver, **options):
    return E3SC(
        3, **({"solver": solver, "alpha": 20.0, "n_nonzero": 4, "random_state": 0} | options)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_independent_subspaces_are_recovered(solver):
    X, truth = subspaces()
    assert accuracy(truth, model(solver).fit(X).labels_) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_affine_subspaces_are_recovered(solver):
    X, truth = subspaces(offset=2.0)
    found = model(solver, affine=True, unit_rows=False, max_iter=500).fit(X)
    assert accuracy(truth, found.labels_) > 0.95
    np.testing.assert_allclose(found.representation_.sum(axis=1), 1, atol=0.01)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_subspaces_are_recovered_with_exemplars(solver):
    X, truth = subspaces(n_each=40)
    found = model(solver, n_exemplars=45).fit(X)
    assert found.representation_.shape == (120, 45)
    assert not found.representation_[found.exemplars_].diagonal().any()
    assert accuracy(truth, found.labels_) > 0.95


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_blocks_of_rows_do_not_change_the_weights(solver, monkeypatch):
    X, _ = subspaces(noise=0.1)
    as_far = {"max_iter": 60, "tol": 1e-12}
    whole = model(solver, **as_far).fit(X)
    monkeypatch.setattr(e3sc, "_BYTES_AT_ONCE", 50000)
    split = model(solver, **as_far).fit(X)
    assert abs(whole.representation_ - split.representation_).max() < 1e-10
    np.testing.assert_allclose(whole.objective_, split.objective_)
    assert len(split.objective_) == split.n_iter_ == 60


@pytest.mark.parametrize("affine", [False, True])
def test_admm_and_proximal_gradient_agree(affine):
    X, _ = subspaces(n_each=10, noise=0.1)
    first, second = (
        model(solver, affine=affine, max_iter=50000, tol=tol).fit(X).representation_
        for solver, tol in [("admm", 1e-9), ("proximal", 1e-11)]
    )
    assert abs(first - second).max() < 1e-5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_graph_is_that_of_weights_relative_to_the_largest():
    found = model("proximal").fit(subspaces(noise=0.1)[0])
    C = np.abs(found.representation_.toarray())
    C /= C.max(axis=1, keepdims=True)
    np.testing.assert_allclose(found.affinity_.toarray(), C + C.T)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_view_gives_the_weights_of_a_dense_one(solver):
    X, _ = subspaces(noise=0.1)
    X[np.abs(X) < 0.3] = 0
    as_far = {"max_iter": 60, "tol": 1e-12}
    dense = model(solver, **as_far).fit(X)
    thin = model(solver, **as_far).fit(sparse.csr_array(X))
    assert abs(dense.representation_ - thin.representation_).max() < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_too_few_iterations_warn_and_say_what_to_change(solver):
    X, _ = subspaces(noise=0.1)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 with a residual of .*Raise max_iter"):
        model(solver, max_iter=3, tol=1e-9).fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_rows_and_duplicates_are_no_trouble(solver):
    X, _ = subspaces()
    X = np.vstack([X, X[:3], np.zeros((2, 12))])
    found = model(solver).fit(X)
    assert np.isfinite(found.embedding_).all()
    assert found.labels_.shape == (65,)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 1.0}, "alpha must be a number greater than 1"),
        ({"penalty": 0.0}, "penalty must be a number greater than 0"),
        ({"penalty": "fast"}, "penalty must be one of .*got 'fast'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": -1.0}, "tol must be a number greater than 0"),
        ({"n_exemplars": 0}, "n_exemplars must be an integer of at least 1"),
    ],
)
def test_parameters_out_of_range_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        E3SC(2, **options).fit(subspaces()[0])


def test_one_row_alone_cannot_be_affine():
    with pytest.raises(ValueError, match="at least two rows"):
        E3SC(1, affine=True).fit([[1.0, 2.0]])
    assert E3SC(1).fit([[1.0, 2.0]]).labels_.tolist() == [0]


def test_exemplars_are_offered_where_memory_is_short(monkeypatch):
    monkeypatch.setattr("manyview.baselines.steps.memory.free_memory", lambda: 10**5)
    with pytest.raises(MemoryError, match="Set n_exemplars"):
        E3SC(3).fit(subspaces()[0])
