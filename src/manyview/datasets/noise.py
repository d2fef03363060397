"""Noisy copies of images as views of them, as in the LMVSC paper's experiment on MNIST."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manyview.datasets.synthetic import RandomState
from manyview.views.container import Views, as_views

NoiseKind = Literal["gaussian", "salt-and-pepper", "speckle"]
Pixels = npt.NDArray[np.float32]

PAPER_NOISE_LEVELS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "gaussian": (0.01, 0.03, 0.05),
        "salt-and-pepper": (0.05, 0.1, 0.2),
        "speckle": (0.05, 0.1, 0.15),
    }
)
"""The levels of the LMVSC paper's experiment on MNIST, by kind of noise."""

# Values drawn at a time. Part of what a seed means: another number would give other noise.
_BLOCK_VALUES = 1 << 22


def noisy_views(
    X: Any,
    kind: NoiseKind,
    levels: Sequence[float],
    *,
    scale: float | Literal["auto"] = "auto",
    random_state: RandomState = None,
) -> Views:
    """Several noisy copies of the same images, one view for each level of noise.

    Pixels are first scaled to 0..1, and clipped to 0..1 after the noise is added.

    Parameters
    ----------
    X : array-like of shape (n, d), or Views of one view
        Images, one a row. The target of Views is kept.
    kind : {"gaussian", "salt-and-pepper", "speckle"}
        Gaussian: zero mean, and the level as variance. Salt and pepper: the level is the share of
        pixels replaced, half of them by 0 and half by 1. Speckle: x + e x, with e uniform of zero
        mean, and the level as variance of e.
    levels : sequence of float
        One view for each; ``PAPER_NOISE_LEVELS`` has the paper's.
    scale : float or "auto", default="auto"
        The value of a full pixel. "auto" is 255 for uint8 and 1 for floats, and refuses other
        types. Values outside 0..scale are refused, never rescaled by a guess.
    random_state : int, Generator or None
        Seed. The same seed gives the same noise; each level has noise of its own.

    Returns
    -------
    Views
        float32, named ``gaussian-0.01`` and so on. Working memory beyond the views is small.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview.datasets import noisy_views
    >>> images = np.array([[0, 255, 128], [255, 0, 64]], dtype=np.uint8)
    >>> noisy_views(images, "gaussian", [0.01, 0.03], random_state=0)
    Views(2 rows; gaussian-0.01: 3, gaussian-0.03: 3)
    """
    if kind not in _NOISES:
        raise ValueError(f"kind must be one of {sorted(_NOISES)}; got {kind!r}.")
    checked = _check_levels(kind, levels)
    images = as_views(X, in_memory=True)
    pixels = images.arrays[0]
    if images.n_views != 1 or not isinstance(pixels, np.ndarray):
        raise ValueError(f"Expected one dense view of pixels; got {images}.")
    full = _check_scale(pixels, scale)
    generators = np.random.default_rng(random_state).spawn(len(checked))
    arrays = [
        _add_noise(pixels, full, kind, level, rng)
        for level, rng in zip(checked, generators, strict=True)
    ]
    return Views(arrays, names=[f"{kind}-{level}" for level in checked], target=images.target)


def _check_levels(kind: str, levels: Sequence[float]) -> list[float]:
    checked = [float(level) for level in levels]
    if not checked:
        raise ValueError("levels is empty; give one level of noise for each view.")
    highest = 1.0 if kind == "salt-and-pepper" else np.inf
    if not all(0 <= level <= highest for level in checked):
        raise ValueError(f"Levels of {kind} noise lie between 0 and {highest:g}; got {checked}.")
    if len(set(checked)) != len(checked):
        raise ValueError(f"levels must differ, because they name the views; got {checked}.")
    return checked


def _check_scale(pixels: npt.NDArray[Any], scale: float | str) -> float:
    if scale == "auto":
        if pixels.dtype == np.uint8:
            return 255.0
        if pixels.dtype.kind != "f":
            raise ValueError(
                f"Pixels are {pixels.dtype}, so scale='auto' cannot tell what a full pixel is. "
                "Pass scale=255, or whatever it is."
            )
        scale = 1.0
    full = float(scale)
    if not full > 0:
        raise ValueError(f"scale must be positive; got {scale}.")
    low, high = float(pixels.min()), float(pixels.max())
    if not (low >= 0 and high <= full):
        raise ValueError(
            f"Pixels lie between {low:g} and {high:g}, but scale={full:g} means 0 to {full:g}. "
            "Pass the value of a full pixel as scale=, for instance scale=255."
        )
    return full


def _add_noise(
    pixels: npt.NDArray[Any], full: float, kind: str, level: float, rng: np.random.Generator
) -> Pixels:
    noisy = np.empty(pixels.shape, dtype=np.float32)
    n_rows = max(1, _BLOCK_VALUES // pixels.shape[1])
    for start in range(0, len(pixels), n_rows):
        block = noisy[start : start + n_rows]
        np.divide(pixels[start : start + n_rows], np.float32(full), out=block, casting="same_kind")
        _NOISES[kind](block, level, rng)
        np.clip(block, 0, 1, out=block)
    return noisy


def _gaussian(block: Pixels, level: float, rng: np.random.Generator) -> None:
    block += rng.standard_normal(block.shape, dtype=np.float32) * np.float32(np.sqrt(level))


def _salt_and_pepper(block: Pixels, level: float, rng: np.random.Generator) -> None:
    draw = rng.random(block.shape, dtype=np.float32)
    block[draw < level] = 1
    block[draw < level / 2] = 0


def _speckle(block: Pixels, level: float, rng: np.random.Generator) -> None:
    # A uniform variable on an interval of width w has variance w^2 / 12.
    width = np.float32(np.sqrt(12 * level))
    block *= 1 + width * (rng.random(block.shape, dtype=np.float32) - np.float32(0.5))


_NOISES: dict[str, Callable[[Pixels, float, np.random.Generator], None]] = {
    "gaussian": _gaussian,
    "salt-and-pepper": _salt_and_pepper,
    "speckle": _speckle,
}
