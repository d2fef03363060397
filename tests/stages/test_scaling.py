"""Scaling: what each kind does, the same for dense and sparse rows, and what is refused."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse, special, stats
from scipy.spatial.distance import pdist
from sklearn.preprocessing import normalize

from manyview.stages.scaling import (
    KINDS,
    apply_to_sample,
    fit_scaler,
    fit_to_sample,
)
from manyview.views.selection import PartialView, number_present

SCALING_KINDS = [kind for kind in KINDS if kind is not None]

# Sums of some hundred float64 numbers of size one, and one division.
RTOL = 1e-11


def counts(n=200, d=6, seed=0):
    """Counts with many zeros: as dense rows and as sparse rows they are the same view."""
    return np.random.default_rng(seed).poisson(0.7, size=(n, d)).astype(float)


def scaled(sample, kind, rows=None, **options):
    """Give rows (the sample itself, if not given) as the sample's scaler makes them, dense."""
    scaler = fit_scaler(sample, name="a", kind=kind, **options)
    result = scaler.apply(sample if rows is None else rows)
    return as_dense(result)


def as_dense(result):
    """Rows from their parts, without the code under test."""
    matrix = result.matrix.toarray() if sparse.issparse(result.matrix) else result.matrix
    offset = 0.0 if result.offset is None else result.offset
    return matrix - offset - (0.0 if result.lean is None else result.lean[0] @ result.lean[1])


def centred_to_unit_energy(rows):
    centred = rows - rows.mean(axis=0)
    return centred / np.sqrt((centred**2).sum(axis=1).mean())


def normal_scores(column):
    return special.ndtri((stats.rankdata(column) - 0.25) / (len(column) + 0.5))


class TestKinds:
    def test_standard_columns_have_equal_variance(self):
        X = counts() * [1, 10, 1e3, 1e-3, 1, 1]
        expected = centred_to_unit_energy((X - X.mean(axis=0)) / X.std(axis=0))
        assert np.allclose(scaled(X, "standard"), expected, rtol=RTOL, atol=1e-12)

    def test_unit_rows_have_unit_length_before_centring(self):
        X = counts()
        assert np.allclose(scaled(X, "unit"), centred_to_unit_energy(normalize(X)), atol=1e-12)

    def test_hellinger_is_unit_rows_of_square_roots(self):
        X = counts()
        expected = centred_to_unit_energy(normalize(np.sqrt(X)))
        assert np.allclose(scaled(X, "hellinger"), expected, atol=1e-12)

    def test_hellinger_keeps_signs(self):
        X = counts() - 1.0
        expected = centred_to_unit_energy(normalize(np.sign(X) * np.sqrt(np.abs(X))))
        assert np.allclose(scaled(X, "hellinger"), expected, atol=1e-12)

    def test_energy_divides_by_one_number(self):
        X = counts() * [1, 10, 1e3, 1e-3, 1, 1]
        assert np.allclose(scaled(X, "energy"), centred_to_unit_energy(X), rtol=RTOL, atol=1e-12)

    def test_none_only_centres(self):
        X = 1e3 * counts()
        assert np.allclose(scaled(X, None), X - X.mean(axis=0), rtol=RTOL, atol=1e-9)

    def test_log_is_standardised_log_of_one_more(self):
        X = counts() * [1, 10, 1e3, 1, 1, 1]
        assert np.allclose(scaled(X, "log"), scaled(np.log1p(X), "standard"), atol=1e-12)

    def test_lognorm_is_the_log_of_counts_in_rows_of_the_same_total(self):
        X = counts() + np.eye(6)[np.arange(200) % 6]
        totals = X.sum(axis=1, keepdims=True)
        expected = centred_to_unit_energy(np.log1p(X / totals * np.median(totals)))
        assert np.allclose(scaled(X, "lognorm"), expected, atol=1e-12)

    def test_lognorm_forgets_how_much_was_counted(self):
        X = counts() + np.eye(6)[np.arange(200) % 6]
        deeper = X * np.random.default_rng(0).integers(1, 9, (200, 1))
        assert np.allclose(scaled(X, "lognorm", deeper), scaled(X, "lognorm"), atol=1e-12)

    def test_tf_idf_is_unit_rows_of_columns_weighted_by_rarity(self):
        X = counts()
        weights = np.log1p(len(X) / (X > 0).sum(axis=0))
        expected = centred_to_unit_energy(normalize(X * weights))
        assert np.allclose(scaled(X, "tf-idf"), expected, atol=1e-12)

    @pytest.mark.parametrize("factor", [1.0, 7.0])
    def test_clr_of_counts_is_the_log_of_one_more_less_its_mean_over_the_row(self, factor):
        X = factor * counts()
        logs = np.log(X + 1.0)
        expected = centred_to_unit_energy(logs - logs.mean(axis=1, keepdims=True))
        assert np.allclose(scaled(X, "clr"), expected, atol=1e-12)

    def test_clr_of_proportions_adds_what_is_small_among_them_instead_of_one(self):
        X = counts() + np.eye(6)[np.arange(200) % 6]
        X /= X.sum(axis=1, keepdims=True)
        logs = np.log(X + np.quantile(X[X > 0], 0.05))
        expected = centred_to_unit_energy(logs - logs.mean(axis=1, keepdims=True))
        assert np.allclose(scaled(X, "clr"), expected, atol=1e-12)

    def test_clr_forgets_how_much_there_is_of_all(self):
        """But for the one that is added, which counts for little where counts are large."""
        rng = np.random.default_rng(0)
        X = rng.gamma(9.0, 1e6, size=(50, 4))
        times = rng.uniform(1, 9, size=(50, 1))
        assert np.allclose(scaled(X, "clr"), scaled(X * times, "clr"), atol=1e-4)

    @pytest.mark.parametrize("kind", ["log", "clr"])
    def test_logarithms_keep_signs(self, kind):
        X = counts() - 1.0
        logs = np.sign(X) * np.log1p(np.abs(X))
        expected = scaled(logs, "standard")
        if kind == "clr":
            expected = centred_to_unit_energy(logs - logs.mean(axis=1, keepdims=True))
        assert np.allclose(scaled(X, kind), expected, atol=1e-12)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("d", [1, 3, 7])
    def test_clr_of_columns_that_are_alike_is_zero(self, convert, d):
        """What is left of a row is rounding, and must not be blown up."""
        X = np.repeat(np.maximum(np.random.default_rng(0).normal(size=(50, 1)), 0), d, axis=1)
        assert np.abs(scaled(convert(X), "clr")).max() <= 1e-12

    @pytest.mark.parametrize("n", [2, 5, 40, 1000])
    def test_normal_scores_are_normal_quantiles_of_ranks(self, n):
        rng = np.random.default_rng(n)
        X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.exponential(size=n)])
        expected = centred_to_unit_energy(np.column_stack([normal_scores(c) for c in X.T]))
        assert np.allclose(scaled(X, "normal-scores"), expected, atol=1e-12)

    def test_normal_scores_of_long_columns_are_close_to_those_of_ranks(self):
        # A thousand sampled quantiles place a rank to one in a thousand; where normal quantiles are
        # steepest inside (0.01, 0.99), their slope is 37, so to 0.04 (and 0.02 from the ends).
        X = np.random.default_rng(0).lognormal(size=(5000, 1))
        inside = np.abs(stats.rankdata(X[:, 0]) / 5000 - 0.5) < 0.49
        expected = centred_to_unit_energy(normal_scores(X[:, 0])[:, None])
        assert np.abs(scaled(X, "normal-scores") - expected)[inside].max() < 0.06

    def test_normal_scores_forget_any_increasing_change_of_a_column(self):
        X = np.random.default_rng(0).normal(size=(100, 2))
        changed = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3])
        assert np.allclose(scaled(X, "normal-scores"), scaled(changed, "normal-scores"), atol=1e-12)

    def test_normal_scores_of_new_values_lie_in_order_between_their_neighbours(self):
        sample = np.arange(10.0)[:, None]
        new = np.array([[-1e9], [0.0], [0.5], [1.0], [8.7], [9.0], [1e9]])
        scores = scaled(sample, "normal-scores", new)[:, 0]
        assert (np.diff(scores) >= 0).all()
        assert scores[1] < scores[2] < scores[3] < scores[4] < scores[5]
        assert np.isfinite(scores).all()


class TestEveryKind:
    @pytest.mark.parametrize("kind", SCALING_KINDS)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_mean_squared_norm_is_one(self, kind, convert):
        rows = scaled(convert(counts()), kind)
        assert (rows**2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_mean_is_zero(self, kind, convert):
        rows = scaled(convert(counts()), kind)
        assert np.abs(rows.mean(axis=0)).max() <= 1e-14 * max(1.0, np.abs(rows).max())

    @pytest.mark.parametrize("kind", KINDS)
    def test_sparse_rows_are_scaled_as_dense_rows(self, kind):
        X, new = counts(), counts(seed=1)
        dense = scaled(X, kind, new)
        assert np.allclose(
            scaled(sparse.csr_array(X), kind, sparse.csr_array(new)), dense, atol=1e-12
        )

    @pytest.mark.parametrize("kind", KINDS)
    def test_sparse_rows_stay_sparse(self, kind):
        X = sparse.csr_array(counts())
        result = fit_scaler(X, name="a", kind=kind).apply(X)
        assert isinstance(result.matrix, sparse.csr_array)
        assert result.matrix.nnz <= X.nnz

    @pytest.mark.parametrize("kind", ["log", "clr", "lognorm", "tf-idf"])
    def test_logarithms_of_sparse_rows_never_take_the_memory_of_dense_ones(self, kind):
        X = sparse.csr_array(sparse.eye_array(300, 20_000))
        tracemalloc.start()
        fit_scaler(X, name="a", kind=kind).apply(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 300 * 20_000 * 8 / 4

    @pytest.mark.parametrize("kind", KINDS)
    def test_stored_zeros_are_zeros(self, kind):
        X = counts()
        stored = sparse.csr_array(X + 1.0)
        stored.data -= 1.0  # every entry is stored
        assert np.allclose(scaled(stored, kind), scaled(X, kind), atol=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
    def test_types_of_numbers_do_not_matter(self, kind, dtype):
        X = np.minimum(counts(), 1.0)
        expected = scaled(X, kind)
        assert np.allclose(scaled(X.astype(dtype), kind), expected, atol=1e-12)
        assert np.allclose(scaled(sparse.csr_array(X.astype(dtype)), kind), expected, atol=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("value", [0.0, 0.1, 1.0 / 3.0, 1e9 / 7.0])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_constant_columns_do_no_harm(self, kind, value, convert):
        X = counts(n=50)
        X[:, 2] = value
        rows = scaled(convert(X), kind)
        others = np.delete(rows, 2, axis=1)
        assert np.isfinite(rows).all()
        # Where columns are scaled one by one, a constant one says nothing.
        alone = ("standard", "normal-scores", "log")
        spread = 1e-12 if kind in alone else np.inf
        assert np.abs(rows[:, 2]).max() <= spread
        assert (others**2).sum() > 0

    @pytest.mark.parametrize("kind", ["standard", "log"])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_constants_of_many_rows_are_not_blown_up(self, kind, convert):
        constants = np.random.default_rng(0).lognormal(sigma=5.0, size=200)
        scaler = fit_scaler(convert(np.tile(constants, (9000, 1))), name="v", kind=kind)
        assert not scaler.scale.any()

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_rows_sorted_by_value_have_the_variance_of_all(self, convert):
        X = np.sort(np.random.default_rng(0).lognormal(size=(9000, 3)), axis=0)
        scaler = fit_scaler(convert(X), name="v", kind="standard")
        np.testing.assert_allclose(scaler.shift, X.mean(axis=0), rtol=1e-12)
        # Scales are of one length for the whole view: energy is divided by the columns.
        np.testing.assert_allclose(scaler.scale**2 * X.var(axis=0), 1.0 / 3.0, rtol=1e-10)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("value", [0.1, 2.0])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_a_view_without_any_difference_becomes_zeros(self, kind, value, convert):
        rows = scaled(convert(np.full((20, 3), value)), kind)
        assert np.abs(rows).max() <= 1e-12

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_rows_of_zeros_are_finite(self, kind, convert):
        X = counts()
        X[::3] = 0.0
        assert np.isfinite(scaled(convert(X), kind)).all()

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_single_row_becomes_zeros(self, kind):
        assert np.abs(scaled(np.array([[3.0, -1.0]]), kind)).max() <= 1e-12

    @pytest.mark.parametrize("kind", KINDS)
    def test_input_is_left_alone(self, kind):
        X = counts()
        before = X.copy()
        scaled(X, kind)
        assert np.array_equal(X, before)

    @pytest.mark.parametrize("kind", KINDS)
    def test_order_in_memory_does_not_change_a_bit(self, kind):
        X = counts()
        scaler = fit_scaler(X, name="a", kind=kind)
        result = scaler.apply(np.asfortranarray(X)).matrix
        assert np.array_equal(result, scaler.apply(X).matrix)
        assert result.flags.c_contiguous

    @pytest.mark.parametrize("kind", ["standard", "energy", None])
    def test_linear_kinds_can_be_inverted(self, kind):
        X = counts() * [1, 10, 1e3, 1e-3, 1, 1]
        scaler = fit_scaler(X, name="a", kind=kind)
        assert scaler.is_linear
        assert np.allclose(scaler.invert(scaler.apply(X).matrix), X, rtol=RTOL, atol=1e-12)

    def test_inverting_gives_constant_columns_their_value(self):
        X = counts()
        X[:, 1] = 7.0
        scaler = fit_scaler(X, name="a", kind="standard")
        assert np.allclose(scaler.invert(scaler.apply(X).matrix)[:, 1], 7.0)

    @pytest.mark.parametrize(
        "kind", ["normal-scores", "hellinger", "unit", "log", "clr", "lognorm"]
    )
    def test_other_kinds_say_that_they_are_not_linear(self, kind):
        assert not fit_scaler(counts(), name="a", kind=kind).is_linear


class TestAxes:
    """Rows as coordinates along principal axes."""

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_all_of_them_keep_distances(self, kind, convert):
        X = convert(counts())
        plain = scaled(X, kind)
        scaler = fit_scaler(X, name="a", kind=kind, n_axes=6)
        turned = scaler.apply(X).matrix
        assert turned.shape == (200, scaler.width)
        assert np.allclose(pdist(turned), pdist(plain), atol=1e-7)

    def test_the_first_axis_of_peaks_is_left_out_where_it_is_depth(self):
        """Two kinds of cells that differ in two fifths of the peaks, and far more in depth."""
        rng = np.random.default_rng(0)
        kinds, depth = np.arange(400) % 2, np.exp(rng.normal(0, 1.0, 400))
        open_peaks = 0.02 + 0.02 * (np.arange(500) // 100 == kinds[:, None])
        X = sparse.csr_array(rng.poisson(depth[:, None] * open_peaks).astype(float))
        totals = np.log(X.sum(axis=1) + 1.0)
        plain = fit_scaler(X, name="a", kind="unit", n_axes=5).apply(X).matrix
        rows = fit_scaler(X, name="a", kind="tf-idf", n_axes=5).apply(X).matrix
        assert max(abs(np.corrcoef(totals, axis)[0, 1]) for axis in plain.T) > 0.75
        assert abs(np.corrcoef(totals, rows[:, 0])[0, 1]) < 0.75

    def test_few_of_them_say_most(self):
        scaler = fit_scaler(counts(), name="a", kind="standard", n_axes=2)
        rows = scaler.apply(counts()).matrix
        best = np.linalg.svd(scaled(counts(), "standard"), compute_uv=False)[:2] ** 2
        assert np.allclose((rows**2).sum(axis=0), best, rtol=1e-9)

    @pytest.mark.parametrize("whitening", [0.0, 0.5, 1.0])
    def test_weighted_rows_have_unit_energy_and_can_be_turned_back(self, whitening):
        X = counts() * [1, 10, 1e3, 1e-3, 1, 1]
        scaler = fit_scaler(X, name="a", kind="standard", n_axes=6)
        rows = scaler.apply(X).matrix * scaler.axis_weights(whitening)
        assert (rows**2).sum(axis=1).mean() == pytest.approx(1.0, rel=1e-9)
        assert np.allclose(scaler.invert(rows, whitening), X, rtol=1e-9, atol=1e-9)

    def test_auto_is_50_at_most(self):
        X = np.random.default_rng(0).normal(size=(300, 70))
        assert fit_scaler(X, name="a", kind="standard", n_axes="auto").width == 50
        assert fit_scaler(X[:, :9], name="a", kind="standard", n_axes="auto").width == 9

    @pytest.mark.parametrize(("kind", "share"), [(None, 0.5), ("hellinger", 0.99)])
    def test_views_that_are_not_scaled_and_text_have_none(self, kind, share):
        X = np.where(np.random.default_rng(0).random((100, 40)) < share, 0.0, 1.0)
        scaler = fit_scaler(X, name="a", kind=kind, n_axes="auto")
        assert scaler.axes is None and scaler.width == 40
        assert fit_scaler(X, name="a", kind=kind, n_axes=5).width == 5  # unless they are asked for

    def test_rows_without_any_difference_have_none(self):
        assert fit_scaler(np.ones((20, 3)), name="a", kind="standard", n_axes=2).axes is None

    @pytest.mark.parametrize("missing", [False, True])
    def test_a_sample_is_turned_once(self, missing):
        X = counts()
        present = np.arange(200) % 3 > 0
        sample = PartialView(X[present], number_present(present)) if missing else X
        scaler = fit_scaler(sample, name="a", kind="log", n_axes=4)
        turned, applied = apply_to_sample(scaler, sample)
        again, expected = applied.apply(turned), scaler.apply(sample)
        assert np.allclose(again.matrix, expected.matrix, rtol=0, atol=1e-12)
        assert applied.width == scaler.width == 4
        assert (again.present is None) == (not missing)

    @pytest.mark.parametrize("kind", ["auto", "log", "clr", "standard", None])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_fitted_and_turned_at_once_is_the_same(self, kind, convert):
        X = convert(counts())
        scaler, (turned, applied) = fit_to_sample(X, name="a", kind=kind, n_axes="auto")
        alone = fit_scaler(X, name="a", kind=kind, n_axes="auto")
        expected, also_applied = apply_to_sample(alone, X)
        assert np.array_equal(scaler.scale, alone.scale)
        assert applied.is_applied == also_applied.is_applied
        rows, same = applied.apply(turned).dense(), also_applied.apply(expected).dense()
        np.testing.assert_allclose(rows, same, atol=1e-14)

    def test_a_sample_without_axes_stays_as_it_is(self):
        X, scaler = counts(), fit_scaler(counts(), name="a", kind="log")
        turned, applied = apply_to_sample(scaler, X)
        assert turned is X and applied is scaler


class TestRefused:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize(
        ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
    )
    def test_a_value_that_is_no_number_is_named(self, kind, convert, value, word):
        scaler = fit_scaler(convert(counts()), name="hog", kind=kind)
        X = counts(n=20)
        X[13, 4] = value
        with pytest.raises(ValueError, match=f"View 'hog' contains {word} at row 4109, column 4"):
            scaler.apply(convert(X), first_row=4096)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_a_sample_with_such_a_value_names_view_and_column(self, convert):
        X = counts()
        X[13, 4] = np.nan
        with pytest.raises(
            ValueError, match=r"View 'hog' contains NaN at .*column 4.*SimpleImputer"
        ):
            fit_scaler(convert(X), name="hog", kind="standard")

    def test_values_too_large_to_be_squared_are_refused(self):
        with pytest.raises(ValueError, match=r"View 'hog' has values of .* too large"):
            fit_scaler(np.full((5, 2), 1e308), name="hog", kind="standard")


@pytest.fixture
def wide():
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(5, 500)) * np.logspace(-3, 3, 500)
    return (rng.normal(size=(300, 5)) @ mixing + 100.0).astype(np.float32)


def test_wide_rows_have_the_same_coordinates_whatever_precision_they_come_in(wide):
    scaler = fit_scaler(wide, name="a", kind="standard", n_axes=3)
    found, same = (scaler.apply(rows).matrix for rows in (wide, wide.astype(np.float64)))
    np.testing.assert_array_equal(found, same)
    assert found.dtype == np.float64


def test_wide_rows_are_turned_as_exactly_as_single_precision_allows(wide):
    scaler = fit_scaler(wide, name="a", kind="standard", n_axes=3)
    found = scaler.apply(wide).matrix
    scaled = (wide - scaler.shift) * scaler.scale
    exact = scaled @ scaler.axes.directions
    # A rounding of each value and direction, and one of each sum, in units of the row's length.
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    assert (abs(found - exact) <= np.finfo(np.float32).eps * (2 + wide.shape[1]) * lengths).all()


def test_values_too_large_for_single_precision_are_turned_in_double(wide):
    scaler = fit_scaler(wide, name="a", kind="standard", n_axes=3)
    large = np.full((1, wide.shape[1]), 1e40)
    expected = (large - scaler.shift) * scaler.scale @ scaler.axes.directions
    np.testing.assert_allclose(scaler.apply(large).matrix, expected)
