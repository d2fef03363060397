"""Colours that stay apart, also for colour-blind eyes, on light and on dark paper.

The first ten are set by hand. Each further one is as far as can be from all before it, where the
distance of two colours is what people with normal eyes see plus three times the smaller of what
red-blind and green-blind people see. On dark paper the same colours are lighter. A number stands
beside every colour in a report: nothing has to be told by colour alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

LIGHT_PAPER, DARK_PAPER = "#ffffff", "#14171c"

# Ottosson's OKLab, and the simulation of Machado, Oliveira and Fernandes (2009), severity 1.
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_RED_BLIND = np.array(
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]
)
_GREEN_BLIND = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
_EYES = (np.eye(3), _RED_BLIND, _GREEN_BLIND)

_FIRST = (
    "#3b7ddd", "#e69f00", "#c22f3d", "#0f8f7e", "#6a2fa0",
    "#c9d23a", "#ee86b7", "#4d3410", "#72c7ec", "#e0632a",
)  # fmt: skip
_LIGHTNESS, _CHROMA = (0.42, 0.76), (0.085, 0.19)
_DARKEST, _SPREAD = (
    0.58,
    0.75,
)  # lightness on dark paper, of the darkest and relative to light paper


@cache
def choose_colours(n_colours: int, *, dark: bool = False) -> tuple[str, ...]:
    """Give ``n_colours`` colours as "#rrggbb"; palettes of different sizes start alike.

    Examples
    --------
    >>> choose_colours(3) == choose_colours(30)[:3]
    True
    """
    chosen = [_linear(_to_rgb(colour)) for colour in _FIRST]
    candidates = _candidates()
    seen = _as_seen(candidates)
    nearest = np.full(len(candidates), np.inf)
    for colour in chosen:
        nearest = np.minimum(nearest, _distances(seen, _as_seen(colour)))
    while len(chosen) < n_colours:
        chosen.append(candidates[int(nearest.argmax())])
        nearest = np.minimum(nearest, _distances(seen, _as_seen(chosen[-1])))
    return tuple(_to_hex(_lighten(c) if dark else c) for c in chosen[:n_colours])


def smallest_distance(colours: tuple[str, ...]) -> float:
    """Give the smallest distance of two colours, to the eyes that see the least (OKLab times 100)."""
    linear = np.array([_linear(_to_rgb(colour)) for colour in colours])
    smallest = np.inf
    for eye in _EYES:
        lab = _to_lab(np.clip(linear @ eye.T, 0.0, 1.0))
        apart = np.linalg.norm(lab[:, None] - lab, axis=2)
        smallest = min(smallest, float(apart[np.triu_indices(len(lab), 1)].min()))
    return 100 * smallest


def contrast(first: str, second: str) -> float:
    """Give the contrast of two colours as WCAG defines it, from 1 to 21.

    Examples
    --------
    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0
    """
    light = np.array([0.2126, 0.7152, 0.0722])
    a, b = (float(light @ _linear(_to_rgb(colour))) + 0.05 for colour in (first, second))
    return max(a, b) / min(a, b)


def _candidates() -> Array:
    """Linear RGB of the colours to choose from (n, 3)."""
    levels, chromas = np.linspace(*_LIGHTNESS, 8), np.linspace(*_CHROMA, 4)
    hues = np.radians(np.arange(0, 360, 6))
    L, C, H = (part.ravel() for part in np.meshgrid(levels, chromas, hues, indexing="ij"))
    linear = _from_lab(np.column_stack([L, C * np.cos(H), C * np.sin(H)]))
    return linear[((linear >= 0) & (linear <= 1)).all(axis=1)]


def _lighten(linear: Array) -> Array:
    """Give the same hue, lighter; paler if the screen could not show it otherwise."""
    lab = _to_lab(linear)
    lab[0] = _DARKEST + _SPREAD * max(lab[0] - _LIGHTNESS[0], -0.1)
    for paler in np.linspace(1.0, 0.0, 41):
        lighter = _from_lab(lab * np.array([1.0, paler, paler]))
        if lighter.min() >= 0 and lighter.max() <= 1:
            break
    return np.clip(lighter, 0.0, 1.0)


def _as_seen(linear: Array) -> list[Array]:
    return [_to_lab(np.clip(linear @ eye.T, 0.0, 1.0)) for eye in _EYES]


def _distances(seen: list[Array], colour: list[Array]) -> Array:
    normal, *blind = (
        np.linalg.norm(lab - place, axis=-1) for lab, place in zip(seen, colour, strict=True)
    )
    distance: Array = normal + 3 * np.min(blind, axis=0)
    return distance


def _from_lab(lab: Array) -> Array:
    linear: Array = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    return linear


def _to_lab(linear: Array) -> Array:
    lab: Array = np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T
    return lab


def _to_rgb(colour: str) -> Array:
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def _linear(rgb: Array) -> Array:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _to_hex(linear: Array) -> str:
    low = 12.92 * linear
    rgb = np.where(linear <= 0.0031308, low, 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * float(value)):02x}" for value in rgb)
