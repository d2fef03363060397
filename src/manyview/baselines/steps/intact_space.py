"""Several views -> one latent space that explains them all, with little say for outliers.

Multi-view intact space learning (Xu, Tao and Xu, TPAMI 2015): each view is a linear image of the
same latent points, fitted under the Cauchy loss by reweighted least squares, in time linear in n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from manyview.baselines.steps import FloatArray
from manyview.views.container import Block

_SMALLEST_SCALE = 1e-3
"""Least scale of the Cauchy loss, as a share of a view's root energy: exact fits leave none."""

_BLOCK_ENTRIES = 4_000_000
"""Entries of the small systems solved at once."""

_RANGE_SWEEPS, _SPARE_VECTORS = 6, 10


@dataclass(frozen=True)
class IntactSpace:
    """Latent points and how each view sees them."""

    points: FloatArray  # H (n, r), a row a sample
    maps: tuple[FloatArray, ...]  # W_v (d_v, r): view v is about points @ maps[v].T
    scale: float  # c of the Cauchy loss, about the median residual
    objective: tuple[float, ...]  # of the start, and after each sweep; it never rises


def learn_intact_space(
    views: Sequence[Block],
    n_components: int,
    *,
    ridge: float,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    report: Callable[[int, float], None] = lambda sweep, objective: None,
) -> IntactSpace:
    r"""Fit latent points and maps from them to every view.

    .. math:: \min_{H, W, c} \sum_v \sum_i \left[ \log\left(1 + \|x_i^v - W_v h_i\|^2 / c^2\right)
              + \log c \right] + \rho \left( n \sum_v \|W_v\|_F^2 + \|H\|_F^2 \right)

    A sweep replaces each logarithm by its tangent, with weight
    :math:`q_i^v = 1 / (c^2 + \|x_i^v - W_v h_i\|^2)`, solves for H and for every W_v, then for c,
    where the mean of :math:`c^2 q_i^v` is one half: residuals count as small or large about their
    median. It starts from a principal component analysis of all views, with long rows shortened.

    Views (n, d_v) are in double precision, each with a mean squared row norm of about one;
    ``n_components`` r is at most n and the number of columns of all views; ``ridge`` is rho. It
    ends after ``max_iter`` sweeps, or when the objective falls by no more than ``tol`` for each row
    of each view; ``report`` is told the number of each sweep and the objective after it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> H = rng.normal(size=(40, 2))
    >>> views = [H @ rng.normal(size=(2, 6)), H @ rng.normal(size=(2, 9))]
    >>> space = learn_intact_space(views, 2, ridge=1e-6, max_iter=50, tol=1e-4, rng=rng)
    >>> bool(np.abs(views[1] - space.points @ space.maps[1].T).max() < 1e-3)
    True
    """
    n = views[0].shape[0]
    H = principal_scores([_shorten_outliers(X) for X in views], n_components, rng)
    H, maps = _balance(H, [_fit_map(X, H, np.ones(n), ridge) for X in views])
    squares = np.column_stack(
        [_squared_residuals(X, H, W) for X, W in zip(views, maps, strict=True)]
    )
    scale = _choose_scale(squares)
    objective = [_objective(squares, H, maps, scale=scale, ridge=ridge)]
    for sweep in range(1, max_iter + 1):
        weights = 1 / (scale**2 + squares)
        H = _fit_points(views, maps, weights, ridge)
        H, maps = _balance(H, [_fit_map(X, H, weights[:, v], ridge) for v, X in enumerate(views)])
        squares = np.column_stack(
            [_squared_residuals(X, H, W) for X, W in zip(views, maps, strict=True)]
        )
        scale = _choose_scale(squares)
        objective.append(_objective(squares, H, maps, scale=scale, ridge=ridge))
        report(sweep, objective[-1])
        if objective[-2] - objective[-1] <= tol * squares.size:
            break
    return IntactSpace(H, tuple(maps), scale, tuple(objective))


def principal_scores(
    views: Sequence[Block], n_components: int, rng: np.random.Generator
) -> FloatArray:
    """Leading left singular vectors of all views side by side, times singular values; (n, r).

    By subspace iteration on products with the views, so that sparse ones stay sparse.

    Examples
    --------
    >>> X = np.diag([3.0, 2.0, 1.0])
    >>> scores = principal_scores([X[:, :2], X[:, 2:]], 2, np.random.default_rng(0))
    >>> np.abs(scores).round(6).tolist()
    [[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]
    """
    n = views[0].shape[0]
    n_vectors = min(n, sum(X.shape[1] for X in views), n_components + _SPARE_VECTORS)
    Q = rng.standard_normal((n, n_vectors))
    for _ in range(_RANGE_SWEEPS):
        Q, _ = linalg.qr(sum(X @ (X.T @ Q) for X in views), mode="economic")
    small = sum((X.T @ Q).T @ (X.T @ Q) for X in views)
    values, rotation = linalg.eigh(small)
    values, rotation = values[::-1][:n_components], rotation[:, ::-1][:, :n_components]
    return np.asarray(Q @ rotation * np.sqrt(np.maximum(values, 0.0)))


def _shorten_outliers(X: Block) -> Block:
    """Scale rows longer than twice the median to that length; sparse stays sparse."""
    lengths = row_norms(X)
    longest = 2 * float(np.median(lengths))
    if longest == 0 or lengths.max() <= longest:
        return X
    factors = longest / np.maximum(lengths, longest)
    return (
        sparse.csr_array(sparse.diags_array(factors) @ X)
        if sparse.issparse(X)
        else factors[:, None] * X
    )


def _fit_points(
    views: Sequence[Block], maps: Sequence[FloatArray], weights: FloatArray, ridge: float
) -> FloatArray:
    """Rows h_i = (sum_v q_iv W_v'W_v + rho I)^-1 sum_v q_iv W_v' x_iv."""
    n, r = views[0].shape[0], maps[0].shape[1]
    grams = np.stack([W.T @ W for W in maps])
    right = sum(weights[:, v, None] * (X @ maps[v]) for v, X in enumerate(views))
    points = np.empty((n, r))
    size = max(1, _BLOCK_ENTRIES // r**2)
    for rows in gen_batches(n, size):
        left = np.tensordot(weights[rows], grams, axes=1) + ridge * np.eye(r)
        points[rows] = np.linalg.solve(left, np.asarray(right)[rows, :, None])[..., 0]
    return points


def _fit_map(X: Block, H: FloatArray, weights: FloatArray, ridge: float) -> FloatArray:
    """W = X'QH (H'QH + rho n I)^-1."""
    weighted = weights[:, None] * H
    left = H.T @ weighted + ridge * len(H) * np.eye(H.shape[1])
    return np.asarray(linalg.solve(left, (X.T @ weighted).T, assume_a="pos").T)


def _balance(H: FloatArray, maps: list[FloatArray]) -> tuple[FloatArray, list[FloatArray]]:
    """Move length between points and maps, direction by direction, to where the penalty is least.

    The fit does not change. Solving for H and W in turn would get there too, but very slowly.
    """
    of_points = np.sqrt((H**2).sum(axis=0))
    of_maps = np.sqrt(len(H) * sum((W**2).sum(axis=0) for W in maps))
    is_used = (of_points > 0) & (of_maps > 0)
    factors = np.sqrt(np.where(is_used, of_maps, 1.0) / np.where(is_used, of_points, 1.0))
    return H * factors, [W / factors for W in maps]


def _squared_residuals(X: Block, H: FloatArray, W: FloatArray) -> FloatArray:
    """||x_i - W h_i||^2 of every row."""
    n, d = X.shape
    if sparse.issparse(X):
        crossed = np.einsum("ij,ij->i", X @ W, H)
        fitted = np.einsum("ij,ij->i", H @ (W.T @ W), H)
        return np.asarray(np.maximum(row_norms(X, squared=True) - 2 * crossed + fitted, 0.0))
    squares = np.empty(n)
    size = max(1, _BLOCK_ENTRIES // d)
    for rows in gen_batches(n, size):
        squares[rows] = row_norms(X[rows] - H[rows] @ W.T, squared=True)
    return squares


def _choose_scale(squares: FloatArray) -> float:
    """The c >= 0.001 that minimises sum log(1 + squares / c^2) + log c, by bisection on log c."""
    low, high = np.log(_SMALLEST_SCALE), np.log(max(float(np.sqrt(squares.max())), _SMALLEST_SCALE))
    while high - low > 1e-12:
        middle = (low + high) / 2
        # The sum is convex in log c; its slope has the sign of this share minus one half.
        share = float(np.mean(1 / (1 + squares * np.exp(-2 * middle))))
        low, high = (middle, high) if share < 0.5 else (low, middle)
    return float(np.exp((low + high) / 2))


def _objective(
    squares: FloatArray, H: FloatArray, maps: Sequence[FloatArray], *, scale: float, ridge: float
) -> float:
    losses = np.log1p(squares / scale**2) + np.log(scale)
    penalty = len(H) * sum(float((W**2).sum()) for W in maps) + float((H**2).sum())
    return float(losses.sum()) + ridge * penalty
