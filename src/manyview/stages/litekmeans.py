"""K-means as the figures of this field were made: by MATLAB's ``litekmeans``, several runs at once.

A run starts from k random rows and moves centres to the mean of their rows until no label changes. An
empty cluster takes the row that is farthest from its own centre. Of all runs, the one with the least sum
of plain, not squared, distances is kept.

Every round is one sum over tiles for all runs that still move. Most distances are spared, and most
others are made in single precision, but no label depends on it: a row's label is the first centre with
the largest score x'c - ||c||^2/2 in double precision, summed in a fixed order, and a cheaper way counts
only where it cannot be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from manyview.stages.kmeans import sums_by_label
from manyview.stages.rows import Array, ScaledRows
from manyview.stages.sampling import choose_rows

Labels = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Over = Callable[[Callable[[ScaledRows, int], Any]], Any]
"""A function of a tile and the number of its first row in, the sum of what it returns for all out."""

N_RUNS, MOST_ROUNDS = 10, 100
"""What published figures were made with."""

_RUN_BYTES = 64 << 20  # centres of the runs that go together
_NOTE_BYTES = 256 << 20
_EXACT_BYTES = 1 << 20  # rows compared at a time


@dataclass(frozen=True)
class Solution:
    """The run that was kept."""

    distance: float  # sum of the rows' distances to their centre
    inertia: float  # sum of their squares
    centers: Array  # (k, d), means of their rows
    compared: Array  # (k, d), what rows were last compared with: the same, if the run settled
    n_iter: int

    @property
    def is_settled(self) -> bool:
        """Whether no label changed in the last round."""
        return np.array_equal(self.centers, self.compared)


def draw_starts(
    n_rows: int, n_centers: int, rng: np.random.Generator, *, n_runs: int = N_RUNS
) -> npt.NDArray[np.int64]:
    """Numbers (r, k), ascending, of the rows that each run starts from; all, if there are no more."""
    return np.stack([choose_rows(n_rows, n_centers, rng) for _ in range(n_runs)])


def litekmeans(over: Over, starts: Iterable[Array], *, max_iter: int = MOST_ROUNDS) -> Solution:
    """The best of as many runs as there are ``starts``, each of shape (k, d)."""
    best: list[Solution] = []
    starts = iter(starts)
    while batch := _take(starts):
        best = [*best, *_run(over, np.stack(batch), max_iter)]
        best = [min(best, key=lambda solution: solution.distance)]
    return best[0]


def _take(starts: Iterator[Array]) -> list[Array]:
    """As many starts as may go together."""
    batch = []
    for start in starts:
        batch.append(start)
        if (len(batch) + 1) * start.nbytes > _RUN_BYTES:
            break
    return batch


def _run(over: Over, starts: Array, max_iter: int) -> list[Solution]:
    runs = moving = np.arange(len(starts))
    compared, shifts = starts.astype(np.float64), np.zeros(starts.shape[:2])
    centers, n_iter = compared.copy(), np.zeros(len(runs), np.int64)
    notes, number = TileNotes(len(runs)), 0
    while len(moving):
        current = Round.of(number, moving, compared, shifts, notes)
        found = over(partial(sum_rows, current=current))
        for i, run in enumerate(moving):
            sums, counts = _fill_empty(over, found.sums[i], found.counts[i], current, i)
            means = sums / np.maximum(counts, 1)[:, None]
            centers[run] = np.where(counts[:, None] > 0, means, compared[run])
        number += 1
        n_iter[moving] = number
        moving = moving[(centers != compared)[moving].any(axis=(1, 2))]
        if number == max_iter:
            break
        shifts[moving] = np.linalg.norm(centers[moving] - compared[moving], axis=2)
        compared[moving] = centers[moving]
    last = Round.of(number, runs, compared, np.zeros_like(shifts), notes)
    sums = over(partial(measure_rows, current=last, centers=centers))
    return [
        Solution(float(distance), float(inertia), *found)
        for (distance, inertia), *found in zip(
            sums, centers, compared, n_iter.tolist(), strict=True
        )
    ]


def _fill_empty(
    over: Over, sums: Array, counts: Counts, current: Round, i: int
) -> tuple[Array, Counts]:
    """Sums and counts of a run after its empty clusters took the rows farthest from their centre."""
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        sums, counts = sums.copy(), counts.copy()
        far = over(partial(farthest_rows, current=current, i=i, n_wanted=len(empty)))
        for cluster, row, label in zip(empty, far.rows, far.labels, strict=False):
            for to, sign in ((cluster, 1), (label, -1)):
                sums[to] += sign * row
                counts[to] += sign
    return sums, counts


class TileNotes:
    """Labels of each tile's rows, and how far centres may move before they change: their leads.

    They spare work and change no result: a tile without notes is compared with all centres. So they stay
    where they were made, and there are no more of them than memory can spare.
    """

    def __init__(self, n_runs: int) -> None:
        self._n_runs, self._n_bytes = n_runs, 0
        self._tiles: dict[int, tuple[int, Labels, Array]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return TileNotes, (self._n_runs,)

    def labels(self, tile: int, number: int) -> Labels | None:
        """Labels (r, n) in the round with this number, if they were kept."""
        found = self._tiles.get(tile)
        return None if found is None or found[0] != number else found[1]

    def begin(self, tile: int, number: int, n_rows: int) -> tuple[Labels, Array]:
        """Labels and leads (r, n) of the round before this one, to write over; else no lead at all."""
        if self.labels(tile, number - 1) is not None:
            _, labels, leads = self._tiles[tile]
            return labels.copy(), leads.copy()
        shape = self._n_runs, n_rows
        return np.zeros(shape, np.int32), np.full(shape, -1.0)

    def end(self, tile: int, number: int, labels: Labels, leads: Array) -> None:
        """Keep what a round found; nobody may write over it now."""
        if tile not in self._tiles:
            self._n_bytes += labels.nbytes + leads.nbytes
        if tile in self._tiles or self._n_bytes <= _NOTE_BYTES:
            self._tiles[tile] = number, labels, leads


@dataclass(frozen=True)
class Round:
    """Where the centres of the runs that move are, and how they came there."""

    number: int
    runs: npt.NDArray[np.int64]
    centers: Array  # (r, k, d)
    half_norms: Array  # (r, k), half the squared length of each centre
    losses: Array  # (r, k), what a row may lose of its lead, by its label
    notes: TileNotes

    @classmethod
    def of(
        cls,
        number: int,
        runs: npt.NDArray[np.int64],
        centers: Array,
        shifts: Array,
        notes: TileNotes,
    ) -> Round:
        """A round of some of the runs, whose centres have moved by ``shifts`` (r, k)."""
        own, moved = centers[runs], shifts[runs]
        # Its own centre moves away by that much, and another one towards it.
        most = moved.argmax(axis=1)[:, None]
        others = np.repeat(moved.max(axis=1)[:, None], moved.shape[1], axis=1)
        np.put_along_axis(moved, most, -np.inf, 1)
        np.put_along_axis(others, most, np.maximum(moved.max(axis=1), 0.0)[:, None], 1)
        losses = shifts[runs] + others
        return cls(number, runs, own, 0.5 * np.einsum("rkd,rkd->rk", own, own), losses, notes)

    def labels(self, rows: ScaledRows, first_row: int) -> Labels:
        """The nearest centre of each row, (r, n)."""
        known = self.notes.labels(first_row, self.number)
        if known is None:
            known, leads = self.notes.begin(first_row, self.number, len(rows))
            compare = _Comparison(rows)
            for i, run in enumerate(self.runs):
                leads[run] -= self.losses[i][known[run]]
                near = np.flatnonzero(leads[run] <= 0)
                if near.size:
                    found = compare(near, self.centers[i], self.half_norms[i])
                    known[run, near], leads[run, near] = found
            self.notes.end(first_row, self.number, known, leads)
        return known[self.runs]


class _Comparison:
    """Finds the nearest centres of some of a tile's rows."""

    def __init__(self, rows: ScaledRows) -> None:
        self._rows, self._norms = rows, rows.square_norms
        offset = 0.0 if rows.offset is None else float(np.linalg.norm(rows.offset))
        self._reach = np.sqrt(self._norms) + 2.0 * offset  # no shorter than what is multiplied
        self._single: ScaledRows | None = None

    def __call__(
        self, near: npt.NDArray[np.int64], centers: Array, half_norms: Array
    ) -> tuple[Labels, Array]:
        """Labels and leads of the rows with the numbers ``near``."""
        labels, leads = np.empty(len(near), np.int32), np.empty(len(near))
        length = float(np.sqrt(2.0 * half_norms.max()))
        products = self._products(near, centers, length)
        self._decide(near, products, half_norms, length, labels, leads)
        unsure = np.flatnonzero(leads <= 0)
        step = max(1, _EXACT_BYTES // centers[0].nbytes)
        for first in range(0, len(unsure), step):
            some = unsure[first : first + step]
            of_some, leads_of_some = labels[some], leads[some]
            exact = _exact_products(self._rows[near[some]].dense(), centers)
            self._decide(near[some], exact, half_norms, length, of_some, leads_of_some)
            labels[some], leads[some] = of_some, leads_of_some
        return labels, leads

    def _products(self, near: npt.NDArray[np.int64], centers: Array, length: float) -> Array:
        rows, largest = self._rows, float(self._reach.max()) * length
        if rows.offset is None and 1e-30 < largest < 1e30:
            if self._single is None:
                self._single = rows.single()
            rows, centers = self._single, centers.astype(np.float32)
        if len(near) < len(rows):
            rows = rows[near]
        return np.ascontiguousarray(rows.products(np.ascontiguousarray(centers.T)))

    def _decide(
        self,
        near: npt.NDArray[np.int64],
        products: npt.NDArray[np.floating],
        half_norms: Array,
        length: float,
        labels: Labels,
        leads: Array,
    ) -> None:
        from manyview.stages import kernels

        reach, of_products = self._reach[near], np.finfo(products.dtype)
        # How far a score may be off, in whatever order its terms were added.
        doubts = of_products.eps * reach * length + of_products.tiny
        doubts += np.finfo(np.float64).eps * (reach + length) ** 2
        doubts *= self._rows.matrix.shape[1] + 8
        kernels.nearest_with_lead(products, half_norms, self._norms[near], doubts, labels, leads)


def _exact_products(rows: Array, centers: Array) -> Array:
    """Rows times centres, (n, k), each summed in the same order wherever its row stands."""
    from manyview.stages import kernels

    products = np.empty((len(rows), len(centers)))
    kernels.multiply_rows(np.ascontiguousarray(rows), centers, products)
    return products


# What is summed over tiles.


@dataclass(frozen=True)
class RunSums:
    """Sums over rows by run and label; adds up over tiles."""

    sums: Array  # (r, k, d)
    counts: Counts  # (r, k)

    def __add__(self, other: RunSums) -> RunSums:
        return RunSums(self.sums + other.sums, self.counts + other.counts)

    def __iadd__(self, other: RunSums) -> RunSums:
        for mine, others in ((self.sums, other.sums), (self.counts, other.counts)):
            mine += others
        return self


def sum_rows(rows: ScaledRows, first_row: int, *, current: Round) -> RunSums:
    """Sums over a tile's rows, by the nearest centre of each run."""
    labels, k = current.labels(rows, first_row), current.centers.shape[1]
    counts = np.stack([np.bincount(of_run, minlength=k) for of_run in labels])
    sums = map(sums_by_label, [rows] * len(labels), labels, counts)
    return RunSums(np.stack(list(sums)), counts)


@dataclass(frozen=True)
class FarthestRows:
    """The rows that are farthest from their centre, farthest first; adds up over tiles."""

    n_wanted: int
    squares: Array  # (n,), squared distances
    rows: Array  # (n, d)
    labels: Labels  # (n,)

    def __add__(self, other: FarthestRows) -> FarthestRows:
        squares, rows, labels = (
            np.concatenate([getattr(part, name) for part in (self, other)])
            for name in ("squares", "rows", "labels")
        )
        first = np.argsort(-squares, kind="stable")[: self.n_wanted]
        return FarthestRows(self.n_wanted, squares[first], rows[first], labels[first])


def farthest_rows(
    rows: ScaledRows, first_row: int, *, current: Round, i: int, n_wanted: int
) -> FarthestRows:
    """The rows of a tile that are farthest from their centre in one run."""
    labels = current.labels(rows, first_row)[i]
    squares = _own_squares(rows, labels, current.centers[i])
    first = np.argsort(-squares, kind="stable")[:n_wanted]
    return FarthestRows(n_wanted, squares[first], rows[first].dense(), labels[first])


def measure_rows(rows: ScaledRows, first_row: int, *, current: Round, centers: Array) -> Array:
    """Sums (r, 2) over a tile's rows: distances to their own of the centres (r, k, d), and squares."""
    labels = current.labels(rows, first_row)
    squares = np.stack(list(map(_own_squares, [rows] * len(labels), labels, centers)))
    return np.stack([np.sqrt(squares).sum(axis=1), squares.sum(axis=1)], axis=1)


def _own_squares(rows: ScaledRows, labels: Labels, centers: Array) -> Array:
    """Squared distance of each row to the centre it is labelled with."""
    products = rows.products(np.ascontiguousarray(centers.T))
    own: Array = np.take_along_axis(products, labels[:, None], 1)[:, 0]
    lengths = np.einsum("kd,kd->k", centers, centers)
    squares: Array = np.maximum(rows.square_norms - 2.0 * own + lengths[labels], 0.0)
    return squares
