import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.steps.scaling import column_variances, scale_rows, scale_view


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_rows_are_scaled_to_unit_length_without_overflow(make):
    X = make(np.array([[3e200, 4e200], [0.0, 0.0], [3e-200, 4e-200]]))
    scaled = scale_rows(X)
    np.testing.assert_allclose(
        scaled.toarray() if sparse.issparse(scaled) else scaled,
        [[0.6, 0.8], [0, 0], [0.6, 0.8]],
        rtol=1e-14,
    )
    assert X[0, 0] == 3e200


def test_rows_of_the_smallest_integers_are_scaled():
    np.testing.assert_allclose(scale_rows(np.array([[-128, 0]], dtype=np.int8)), [[-1, 0]])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_variances_are_those_of_the_columns(make, dtype):
    X = np.arange(12).reshape(4, 3) ** 2 % 7
    np.testing.assert_allclose(column_variances(make(X.astype(dtype))), X.var(axis=0), rtol=1e-6)


def test_sparse_columns_are_divided_by_their_spread_and_stay_sparse():
    X = np.array([[0.0, 5.0, 1.0], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    scaled = scale_view(sparse.csr_array(X), "standard")
    assert sparse.issparse(scaled)
    np.testing.assert_allclose(scaled.toarray(), X / [*X[:, :2].std(axis=0), 1.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unscaled_values_are_only_brought_to_double_precision(dtype):
    X = np.ones((2, 3), dtype=dtype)
    assert scale_view(X, None).dtype == np.float64
    assert (scale_view(X, None) is X) == (dtype == np.float64)
