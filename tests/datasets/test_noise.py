import numpy as np
import pytest
from scipy import sparse

from manyview import Views, datasets
from manyview.datasets import noise

KINDS = sorted(datasets.PAPER_NOISE_LEVELS)

# 400 000 values: means of bounded noise are known to about one part in a thousand.
N, D = 2000, 200


def grey(value=0.5):
    return np.full((N, D), value, dtype=np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_one_view_for_each_level(kind):
    levels = datasets.PAPER_NOISE_LEVELS[kind]
    views = datasets.noisy_views(grey(), kind, levels, random_state=0)
    assert views.names == tuple(f"{kind}-{level}" for level in levels)
    for array in views.arrays:
        assert array.dtype == np.float32
        assert array.shape == (N, D)
        assert array.min() >= 0 and array.max() <= 1


def test_gaussian_noise_has_the_level_as_variance():
    array = datasets.noisy_views(grey(), "gaussian", [0.01], random_state=0).arrays[0]
    assert array.mean() == pytest.approx(0.5, abs=1e-3)
    assert array.var() == pytest.approx(0.01, rel=0.02)


def test_speckle_noise_grows_with_the_pixel():
    for value in (0.2, 0.5):
        array = datasets.noisy_views(grey(value), "speckle", [0.05], random_state=0).arrays[0]
        assert array.mean() == pytest.approx(value, abs=1e-3)
        assert array.var() == pytest.approx(0.05 * value**2, rel=0.02)
        # Uniform, so never further than half the width sqrt(12 * 0.05).
        assert np.abs(array / value - 1).max() <= np.sqrt(12 * 0.05) / 2 + 1e-6


def test_speckle_leaves_black_alone():
    array = datasets.noisy_views(grey(0), "speckle", [0.1], random_state=0).arrays[0]
    assert not array.any()


def test_salt_and_pepper_replaces_half_by_each():
    array = datasets.noisy_views(grey(), "salt-and-pepper", [0.2], random_state=0).arrays[0]
    assert np.mean(array == 0) == pytest.approx(0.1, abs=3e-3)
    assert np.mean(array == 1) == pytest.approx(0.1, abs=3e-3)
    assert np.mean(array == 0.5) == pytest.approx(0.8, abs=3e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_level_zero_changes_nothing(kind):
    array = datasets.noisy_views(grey(), kind, [0.0], random_state=0).arrays[0]
    assert np.array_equal(array, grey())


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_noise_and_each_level_its_own(kind):
    one, two, other = (
        datasets.noisy_views(grey(), kind, [0.1, 0.1000001], random_state=seed)
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one.arrays[0], two.arrays[0])
    assert not np.array_equal(one.arrays[0], other.arrays[0])
    assert not np.allclose(one.arrays[0], one.arrays[1], atol=1e-3)


def test_many_blocks_of_rows(monkeypatch):
    monkeypatch.setattr(noise, "_BLOCK_VALUES", 3 * D)
    array = datasets.noisy_views(grey()[:10], "gaussian", [0.01], random_state=0).arrays[0]
    assert len(np.unique(array)) > 0.9 * array.size


def test_the_input_is_not_changed():
    pixels = grey()
    datasets.noisy_views(pixels, "gaussian", [0.05], random_state=0)
    assert np.array_equal(pixels, grey())


class TestScale:
    def test_bytes_are_of_255(self):
        pixels = np.array([[0, 51, 255]], dtype=np.uint8)
        array = datasets.noisy_views(pixels, "gaussian", [0.0]).arrays[0]
        assert np.allclose(array, [[0, 0.2, 1]])

    @pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u2"])
    def test_a_given_scale(self, dtype):
        pixels = np.array([[0, 51, 255]], dtype=dtype)
        array = datasets.noisy_views(pixels, "gaussian", [0.0], scale=255).arrays[0]
        assert np.allclose(array, [[0, 0.2, 1]])

    def test_floats_above_one_are_not_guessed(self):
        with pytest.raises(ValueError, match=r"between 0 and 255, but scale=1 .*scale=255"):
            datasets.noisy_views([[0.0, 255.0]], "gaussian", [0.1])

    def test_other_integers_are_not_guessed(self):
        with pytest.raises(ValueError, match=r"Pixels are int64.*Pass scale=255"):
            datasets.noisy_views(np.array([[0, 255]]), "gaussian", [0.1])

    @pytest.mark.parametrize("scale", [0, -1, np.nan])
    def test_a_scale_must_be_positive(self, scale):
        with pytest.raises(ValueError, match="scale must be positive"):
            datasets.noisy_views([[0.5]], "gaussian", [0.1], scale=scale)

    @pytest.mark.parametrize("pixels", [[[-0.1, 0.5]], [[np.nan, 0.5]]])
    def test_negative_or_missing_pixels(self, pixels):
        with pytest.raises(ValueError, match="Pixels lie between"):
            datasets.noisy_views(pixels, "gaussian", [0.1])


def test_views_of_one_view_keep_their_target():
    given = Views(grey()[:3], target=[1, 2, 3])
    views = datasets.noisy_views(given, "gaussian", [0.1, 0.2], random_state=0)
    assert views.target.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "kind", "levels", "message"),
    [
        ([[0.5]], "poisson", [0.1], r"kind must be one of .*'poisson'"),
        ([[0.5]], "gaussian", [], "levels is empty"),
        ([[0.5]], "gaussian", [-0.1], "between 0 and inf"),
        ([[0.5]], "salt-and-pepper", [1.5], "between 0 and 1"),
        ([[0.5]], "gaussian", [0.1, 0.1], "levels must differ"),
        ([np.ones((2, 2)), np.ones((2, 2))], "gaussian", [0.1], "one dense view"),
        (sparse.csr_array(np.eye(2)), "gaussian", [0.1], "one dense view"),
    ],
)
def test_bad_arguments(data, kind, levels, message):
    with pytest.raises(ValueError, match=message):
        datasets.noisy_views(data, kind, levels)
