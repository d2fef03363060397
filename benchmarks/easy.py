"""The easy family: made data that anyone might try first, one draw a seed.

Sizes of 1:1 to 1:100, 2 to 12 clusters, 2 to 100 columns (often 2 to 5), 1 to 4 views, some of them of
noise (also one beside a single good one), round and stretched blobs, moons, circles, spirals, a sparse
view, copies of rows. Some draws are hard for everyone: the rivals' labels tell which are easy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from manyview import Views, datasets

N_DRAWS = 300
MOST_ROWS = 6_000


class Draw(NamedTuple):
    """Made views, and what they were made of."""

    views: Views
    settings: dict[str, Any]

    def __str__(self) -> str:
        words = {name: value for name, value in self.settings.items() if value}
        return ", ".join(f"{name} {value}" for name, value in words.items())


def draw_easy(seed: int) -> Draw:
    """The draw of a seed: the same one on every machine, in every version."""
    rng = np.random.default_rng([2020, seed])
    shape = str(rng.choice(["blobs", "moons", "circles", "spirals"], p=[0.7, 0.1, 0.1, 0.1]))
    stretch = float(rng.uniform(2, 6)) if shape == "blobs" and rng.random() < 0.35 else 1.0
    n_views = int(rng.choice([1, 2, 3, 4], p=[0.35, 0.3, 0.2, 0.15]))
    has_noise, is_sparse, has_copies = rng.random(3) < (0.3, 0.1, 0.12)
    settings = {
        "sizes": _draw_sizes(rng, shape),
        "n_features": [_draw_width(rng) for _ in range(n_views)],
        "shape": shape,
        "separation": round(float(rng.uniform(7, 14)) * (1 + (stretch - 1) / 2), 2),
        "stretch": round(stretch, 2),
        "noise_features": [_draw_width(rng)] if has_noise else [],
        "n_words": int(rng.integers(200, 1000)) if is_sparse else 0,
        "duplicates": round(float(rng.uniform(0.1, 0.5)), 2) if has_copies else 0.0,
    }
    return Draw(datasets.make_uneven(**settings, random_state=rng), settings)


def _draw_width(rng: np.random.Generator) -> int:
    if rng.random() < 0.45:
        return int(rng.integers(2, 6))
    return int(np.exp(rng.uniform(np.log(6), np.log(100))))


def _draw_sizes(rng: np.random.Generator, shape: str) -> list[int]:
    """Equal, in steps of one factor, one large, or one small; curves up to 1:5 and never thin."""
    is_curve = shape != "blobs"
    k = {"blobs": int(rng.integers(2, 13)), "moons": 2}.get(shape, int(rng.integers(2, 4)))
    ratio = (5.0 if is_curve else 100.0) ** rng.random()
    smallest = np.exp(rng.uniform(*np.log((150, 400) if is_curve else (8, 60))))
    equal = smallest if is_curve else np.exp(rng.uniform(np.log(30), np.log(400)))
    kind = rng.choice(["equal", "steps", "one large", "one small"])
    shares = {
        "equal": np.full(k, equal / smallest),
        "steps": ratio ** np.linspace(0, 1, k),
        "one large": np.r_[ratio, np.ones(k - 1)],
        "one small": np.r_[1.0, np.full(k - 1, ratio)],
    }[str(kind)]
    sizes = smallest * shares
    return [int(size) for size in sizes * min(1.0, MOST_ROWS / sizes.sum())]
