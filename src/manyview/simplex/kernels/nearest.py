"""The few anchors that are nearest to each row, and its linear terms for them."""

import numpy as np

from manyview.simplex.jit import inner, jit

LANES = 64
"""Anchors that are looked at together."""


@inner
def _write_best(scores, terms, anchors, n_scored, near, chosen):
    """Write the anchors with the largest scores, ascending, and their terms (near, chosen: out).

    Of equals the first is taken. scores: in and out, those of what was taken are lowered.
    """
    r = near.shape[0]
    for i in range(r):
        best = np.int64(0)
        for c in range(1, n_scored):
            better = scores[c] > scores[best]
            if better or (scores[c] == scores[best] and anchors[c] < anchors[best]):
                best = c
        scores[best] = -np.inf
        place = i
        while place > 0 and near[place - 1] > anchors[best]:
            near[place] = near[place - 1]
            chosen[place] = chosen[place - 1]
            place -= 1
        near[place] = anchors[best]
        chosen[place] = terms[best]


def room_for_choosing(m):
    """What :func:`choose_among_likely` needs for rows of m anchors."""
    return np.empty(LANES, np.float32), np.empty(m, np.int64), np.empty((2, m))


@jit
def choose_nearest(B, offsets, scores, near, chosen):
    """Choose for every row of B (n, m) the r anchors with the largest b - offsets.

    offsets (m) : in, half the anchors' squared norms in the units of B. scores (r) : scratch. near,
    chosen (n, r) : out, their numbers, ascending, and their linear terms.
    """
    n, m = B.shape
    r = near.shape[1]
    for row in range(n):
        b = B[row]
        found = near[row]
        for j in range(m):
            score = b[j] - offsets[j]
            place = min(j, r)
            while place > 0 and scores[place - 1] < score:
                place -= 1
            if place < r:
                for i in range(min(j, r - 1), place, -1):
                    scores[i] = scores[i - 1]
                    found[i] = found[i - 1]
                scores[place] = score
                found[place] = j
        for i in range(1, r):
            j = found[i]
            place = i
            while place > 0 and found[place - 1] > j:
                found[place] = found[place - 1]
                place -= 1
            found[place] = j
        for i in range(r):
            chosen[row, i] = b[found[i]]


@jit
def choose_among_likely(rough, errors, X, W, shift, offsets, scratch, near, chosen):
    """Choose as :func:`choose_nearest` does, by scores in single precision and few exact ones.

    rough (n, m), errors (n) : in, b - offsets nearly, and by how much one may be off another.
    X (n, d), W (m, d), shift (m) : in, b = W x + shift. scratch : see
    :func:`room_for_choosing`. near, chosen (n, r) : out; r is LANES at most, and so is what they are
    chosen from at least.
    """
    n, m = rough.shape
    d = X.shape[1]
    r = near.shape[1]
    # Each group has an anchor at least as near as the farthest of the groups' nearest: so many have.
    n_groups = np.int64(4)
    while n_groups < r:
        n_groups *= 2
    nearest, likely, exact = scratch
    scores, terms = exact[0], exact[1]
    whole = m // LANES * LANES
    for row in range(n):
        found = rough[row]
        for lane in range(LANES):
            nearest[lane] = found[lane]
        fours = LANES + (whole - LANES) // (4 * LANES) * (4 * LANES)
        for start in range(LANES, fours, 4 * LANES):  # what is kept is read and written less often
            for lane in range(LANES):
                a, b = found[start + lane], found[start + lane + LANES]
                c, e = found[start + lane + 2 * LANES], found[start + lane + 3 * LANES]
                nearest[lane] = max(nearest[lane], max(max(a, b), max(c, e)))
        for start in range(fours, whole, LANES):
            for lane in range(LANES):
                nearest[lane] = max(nearest[lane], found[start + lane])
        for lane in range(m - whole):
            nearest[lane] = max(nearest[lane], found[whole + lane])
        least = np.float32(np.inf)
        for group in range(n_groups):
            top = nearest[group]
            for lane in range(group, LANES, n_groups):
                top = max(top, nearest[lane])
            least = min(least, top)
        least -= errors[row]
        count = np.int64(0)
        for lane in range(LANES):
            if nearest[lane] >= least:
                for j in range(lane, m, LANES):
                    if found[j] >= least:
                        likely[count] = j
                        count += 1
        x = X[row]
        for i in range(count):
            j = likely[i]
            w = W[j]
            term = 0.0
            for c in range(d):
                term += x[c] * w[c]
            terms[i] = term + shift[j]
            scores[i] = terms[i] - offsets[j]
        _write_best(scores, terms, likely, count, near[row], chosen[row])
