"""scikit-learn's digits described in five ways, each computed from the images alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manyview.views.container import Views

Array = npt.NDArray[np.float64]

_N_ORIENTATIONS = 8
_CELL, _STEP = 4, 2
_INK = 0.25  # of full black: a pixel this dark belongs to the stroke


def digits_views() -> Views:
    """1797 handwritten digits, 8 x 8 pixels, described in five ways.

    Needs no download: the images come with scikit-learn. No view uses the classes.

    Returns
    -------
    Views
        ``pixels`` (64, scaled to 0..1), ``fourier`` (40 magnitudes, which do not change when the
        image is shifted round), ``gradients`` (72: nine overlapping cells of eight orientations),
        ``profiles`` (48: sums of rows and columns, and how far the stroke is from each side) and
        ``moments`` (12: mass, centre, and central moments up to order four), float64, with the
        digit as ``target``.

    Examples
    --------
    >>> from manyview.datasets import digits_views
    >>> digits_views()
    Views(1797 rows; pixels: 64, fourier: 40, gradients: 72, profiles: 48, moments: 12)
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    images: Array = digits.images / 16.0
    views = {
        "pixels": images.reshape(len(images), -1),
        "fourier": _fourier(images),
        "gradients": _gradients(images),
        "profiles": _profiles(images),
        "moments": _moments(images),
    }
    return Views(views, target=digits.target.astype(np.int32))


def _fourier(images: Array) -> Array:
    # The other half of the plane mirrors this one, because images are real.
    return np.abs(np.fft.rfft2(images)).reshape(len(images), -1)


def _gradients(images: Array) -> Array:
    """Histograms of gradient directions, weighted by steepness, in overlapping cells."""
    down, right = np.gradient(images, axis=(1, 2))
    steepness = np.hypot(down, right)
    turn = np.arctan2(down, right) / (2 * np.pi) % 1.0
    # A direction between two bins counts for both, so that a small turn changes little.
    distance = np.abs(turn[..., None] * _N_ORIENTATIONS - np.arange(_N_ORIENTATIONS))
    distance = np.minimum(distance, _N_ORIENTATIONS - distance)
    votes = np.maximum(1 - distance, 0) * steepness[..., None]
    starts = range(0, images.shape[1] - _CELL + 1, _STEP)
    cells = [
        votes[:, i : i + _CELL, j : j + _CELL].sum(axis=(1, 2)) for i in starts for j in starts
    ]
    return np.concatenate(cells, axis=1)


def _profiles(images: Array) -> Array:
    """Sums of rows and columns, and the distance from each side to the stroke."""
    size = images.shape[1]
    sums = [images.sum(axis=2) / size, images.sum(axis=1) / size]
    ink = images >= _INK
    sides = [ink, ink[:, :, ::-1], ink.transpose(0, 2, 1), ink.transpose(0, 2, 1)[:, :, ::-1]]
    distances = [np.where(s.any(axis=2), s.argmax(axis=2), size) / size for s in sides]
    return np.concatenate([*sums, *distances], axis=1)


def _moments(images: Array) -> Array:
    """Mass and centre of the ink, then moments about the centre, free of its amount."""
    size = images.shape[1]
    place = np.linspace(-1, 1, size)
    mass = images.sum(axis=(1, 2))
    share = images / mass[:, None, None]
    y = np.einsum("nij,i->n", share, place)
    x = np.einsum("nij,j->n", share, place)
    dy, dx = place - y[:, None], place - x[:, None]
    orders = [(2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3), (4, 0), (0, 4)]
    central = [np.einsum("nij,ni,nj->n", share, dy**p, dx**q) for p, q in orders]
    return np.stack([mass / size**2, y, x, *central], axis=1)
