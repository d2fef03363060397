import numpy as np
import pytest
from scipy import sparse

from manyview.baselines import SSCOMP, sscomp
from manyview.baselines.sscomp import pursue
from manyview.baselines.steps.scaling import scale_rows
from manyview.metrics import accuracy


def subspaces(n_each=30, dim=3, width=20, n_clusters=4, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [rng.normal(size=(n_each, dim)) @ rng.normal(size=(dim, width)) for _ in range(n_clusters)]
    )
    return X + noise * rng.normal(size=X.shape), np.repeat(np.arange(n_clusters), n_each)


def greedy_reference(X, i, n_nonzero, tol):
    """Orthogonal matching pursuit of one row, by its definition."""
    c, support, residual = np.zeros(len(X)), [], X[i]
    while len(support) < n_nonzero and np.linalg.norm(residual) > tol * np.linalg.norm(X[i]):
        correlations = np.abs(X @ residual)
        correlations[[i, *support]] = -1
        support.append(int(np.argmax(correlations)))
        weights = np.linalg.lstsq(X[support].T, X[i], rcond=None)[0]
        residual = X[i] - weights @ X[support]
    c[support] = weights
    return c


@pytest.fixture(scope="module")
def noisy():
    """A fitted model of noisy subspaces, only to look at."""
    return SSCOMP(4, n_nonzero=5, random_state=0).fit(subspaces(noise=0.2)[0])


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("n_nonzero", [1, 3, 8])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_pursuit_of_all_rows_equals_the_greedy_definition(noise, n_nonzero, make):
    X = scale_rows(subspaces(n_each=12, noise=noise)[0])
    C = SSCOMP(4, n_nonzero=n_nonzero, random_state=0).fit(make(X)).representation_.toarray()
    expected = [greedy_reference(X, i, n_nonzero, 1e-6) for i in range(len(X))]
    np.testing.assert_allclose(C, expected, atol=1e-9)


def test_blocks_do_not_change_the_representation(monkeypatch):
    X, _ = subspaces(noise=0.1)
    whole = SSCOMP(4, random_state=0).fit(X)
    monkeypatch.setattr(sscomp, "_BYTES_AT_ONCE", 8 * 120 * 50)
    split = SSCOMP(4, random_state=0).fit(X)
    assert abs(whole.representation_ - split.representation_).max() < 1e-12
    np.testing.assert_allclose(whole.objective_, split.objective_)


def test_left_over_falls_with_every_step_and_is_what_it_says():
    X = scale_rows(subspaces(noise=0.3)[0])
    model = SSCOMP(4, n_nonzero=6, random_state=0).fit(X)
    assert model.n_iter_ == 6 and (np.diff(model.objective_) < 0).all()
    left = np.linalg.norm(X - model.representation_ @ X) ** 2
    assert model.objective_[-1] == pytest.approx(left)


def test_rows_of_a_subspace_need_no_more_atoms_than_its_dimension():
    model = SSCOMP(4, n_nonzero=10, random_state=0).fit(subspaces(dim=3)[0])
    assert model.n_iter_ == 3
    assert np.diff(model.representation_.indptr).max() == 3


def test_no_row_uses_itself_or_more_than_s_rows(noisy):
    assert not noisy.representation_.diagonal().any()
    assert np.diff(noisy.representation_.indptr).max() <= 5


def test_affinity_is_symmetric_sparse_and_from_unit_rows(noisy):
    C = np.abs(noisy.representation_.toarray())
    C /= np.linalg.norm(C, axis=1, keepdims=True)
    np.testing.assert_allclose(noisy.affinity_.toarray(), (C + C.T) / 2)


@pytest.mark.parametrize("n_exemplars", [None, 60])
def test_independent_subspaces_are_recovered(n_exemplars):
    X, truth = subspaces()
    model = SSCOMP(4, n_nonzero=3, n_exemplars=n_exemplars, random_state=0).fit(X)
    assert accuracy(truth, model.labels_) > 0.95


def test_independent_subspaces_are_recovered_by_neighbours_that_share_exemplars():
    # Rows that share no exemplar are all equally far, and rounding decides which are neighbours.
    # With few exemplars to many rows each row has ten of its own subspace that are clearly nearer.
    X, truth = subspaces(n_each=100)
    options = {"n_nonzero": 3, "n_exemplars": 40, "affinity": "neighbors", "n_neighbors": 10}
    model = SSCOMP(4, **options, random_state=0).fit(X)
    C = scale_rows(model.representation_).toarray()
    likeness = C @ C.T
    np.fill_diagonal(likeness, -1.0)
    is_own = truth[:, None] == truth
    tenth_own = np.sort(np.where(is_own, likeness, -1.0), axis=1)[:, -10]
    nearest_other = np.where(is_own, -1.0, likeness).max(axis=1)
    assert (tenth_own - nearest_other).min() > 1e-3
    assert not model.affinity_.toarray()[~is_own].any()
    assert accuracy(truth, model.labels_) == 1


def test_scale_of_rows_does_not_matter():
    X, _ = subspaces(noise=0.1)
    scales = 10.0 ** np.random.default_rng(0).integers(-5, 5, len(X))[:, None]
    plain, scaled = (SSCOMP(4, random_state=0).fit(data) for data in (X, scales * X))
    assert abs(plain.representation_ - scaled.representation_).max() < 1e-9


def test_rows_keep_their_length_where_asked():
    X, _ = subspaces(n_each=12, noise=0.1)
    model = SSCOMP(4, n_nonzero=4, unit_rows=False, random_state=0).fit(X)
    expected = [greedy_reference(X, i, 4, 1e-6) for i in range(len(X))]
    np.testing.assert_allclose(model.representation_.toarray(), expected, atol=1e-9)


def test_connected_components_are_reported():
    X, _ = subspaces()
    assert SSCOMP(4, n_nonzero=3, random_state=0).fit(X).n_connected_components_ >= 4


def test_no_exemplars_at_all_are_refused():
    with pytest.raises(ValueError, match="n_exemplars must be an integer of at least 1; got 0"):
        SSCOMP(2, n_exemplars=0).fit(np.eye(4))


def test_exemplars_alone_are_used():
    X, _ = subspaces(noise=0.1)
    model = SSCOMP(4, n_exemplars=50, n_nonzero=4, random_state=0).fit(X)
    assert model.representation_.shape == model.affinity_.shape == (120, 50)
    own = model.representation_[model.exemplars_].diagonal()
    assert not own.any()
    unit = scale_rows(X)
    i = int(model.exemplars_[7])
    position = np.flatnonzero(model.exemplars_ == i)[0]
    expected = greedy_reference(unit[model.exemplars_], position, 4, 1e-6)
    np.testing.assert_allclose(model.representation_[[i]].toarray()[0], expected, atol=1e-9)


def test_duplicates_and_zero_rows_are_no_trouble():
    X, _ = subspaces(n_each=10)
    X = np.vstack([X, X[:5], np.zeros((3, 20))])
    model = SSCOMP(4, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert not model.representation_[[45, 46, 47]].toarray().any()
    np.testing.assert_allclose(model.representation_[[0]].toarray()[0, 40], 1)


def test_dependent_atoms_end_a_pursuit():
    atoms = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    support, weights, left = pursue(
        np.array([[1.0, 1.0, 1.0]]), atoms, np.array([-1]), n_nonzero=3, tol=1e-6
    )
    assert (support >= 0).sum() == 2
    np.testing.assert_allclose(weights[0] @ atoms[support[0]], [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(left[1:], 1)
