"""Which kind of scaling suits a view, by what its values look like."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.scaling import choose_kind, fit_scaler, is_mostly_binary


class TestChosenKind:
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize(
        ("rate", "shift", "expected"),
        [
            (0.2, 0, "hellinger"),
            (3.0, 0, "normal-scores"),
            (0.2, -1, "normal-scores"),
            (0.0, 0, "hellinger"),
        ],
    )
    def test_depends_on_zeros_and_signs(self, convert, rate, shift, expected):
        X = np.random.default_rng(0).poisson(rate, size=(100, 5)) + shift
        assert choose_kind(convert(X))[0] == expected

    def test_nearly_all_zero_is_enough_with_signs_too(self):
        X = sparse.random_array((100, 50), density=0.05, rng=np.random.default_rng(0))
        X = X.tocsr()
        X.data -= 0.5
        assert choose_kind(X) == ("hellinger", "95 % zeros")

    def test_principal_components_keep_their_variances(self):
        X = np.random.default_rng(0).normal(size=(100, 10)) * np.linspace(3.0, 0.5, 10)
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        kind, why = choose_kind(U * s)
        assert kind == "energy" and "principal components" in why
        assert choose_kind(X[:, ::-1])[0] == "normal-scores"

    def test_stored_zeros_are_zeros(self):
        X = sparse.csr_array(np.ones((10, 5)))
        X.data[:40] = 0.0
        assert choose_kind(X) == choose_kind(X.toarray())
        assert choose_kind(X)[0] == "hellinger"

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_is_what_auto_uses(self, convert):
        X = convert(np.random.default_rng(0).poisson(0.7, size=(200, 6)).astype(float))
        scaler = fit_scaler(X, name="a", kind="auto")
        assert (scaler.kind, scaler.why) == choose_kind(X)


class TestMostlyBinary:
    def test_yes_and_no_in_most_columns(self):
        rng = np.random.default_rng(0)
        assert is_mostly_binary(np.c_[rng.integers(0, 2, (50, 3)), rng.normal(size=(50, 2))])
        assert not is_mostly_binary(np.c_[rng.integers(0, 2, (50, 2)), rng.normal(size=(50, 3))])

    def test_columns_that_never_vary_do_not_count(self):
        rng = np.random.default_rng(0)
        assert not is_mostly_binary(np.c_[np.ones((50, 5)), rng.normal(size=(50, 1))])
        assert not is_mostly_binary(np.ones((5, 2)))

    def test_the_same_stored_sparse(self):
        rng = np.random.default_rng(0)
        marks = sparse.random_array((40, 30), density=0.2, rng=rng, format="csr")
        assert not is_mostly_binary(marks)
        marks.data[:] = 1.0
        assert is_mostly_binary(marks)
