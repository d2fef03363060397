"""Compiled loops over tiles of graph rows and embedding rows, and nothing else."""

import math

from manyview.simplex.jit import inner, jit


@jit
def add_outer_products(indptr, indices, data, gram):
    """Add z z' of every CSR row z to the upper triangle of gram (in and out); columns ascend."""
    for row in range(indptr.shape[0] - 1):
        end = indptr[row + 1]
        for a in range(indptr[row], end):
            t = data[a]
            target = gram[indices[a]]
            for b in range(a, end):
                target[indices[b]] += t * data[b]


@jit
def times_dense(indptr, indices, data, W, out):
    """Write CSR rows times W (m, c) into out (n, c)."""
    c = W.shape[1]
    for row in range(indptr.shape[0] - 1):
        target = out[row]
        for j in range(c):
            target[j] = 0.0
        for a in range(indptr[row], indptr[row + 1]):
            t = data[a]
            source = W[indices[a]]
            for j in range(c):
                target[j] += t * source[j]


@jit
def nearest(products, half_norms, labels, scores):
    """Write each row's nearest centre: the first j with the largest products[row, j] - half_norms[j].

    products (n, k), half_norms (k): in. labels (n), scores (n): out.
    """
    n, k = products.shape
    for row in range(n):
        best = products[row, 0] - half_norms[0]
        label = 0
        for j in range(1, k):
            score = products[row, j] - half_norms[j]
            if score > best:
                best = score
                label = j
        labels[row] = label
        scores[row] = best


@jit
def nearest_with_lead(products, half_norms, square_norms, doubts, labels, leads):
    """Write each row's nearest centre, and how much farther than it all others are at least.

    products (n, k), half_norms (k), square_norms (n), doubts (n): in; a score products[row, j] -
    half_norms[j] may be off by the row's doubt. labels (n), leads (n): out; the lead is 0 where doubt is
    too large to tell.
    """
    n, k = products.shape
    for row in range(n):
        best, second, label = -math.inf, -math.inf, 0
        for j in range(k):
            score = products[row, j] - half_norms[j]
            if score > second:
                if score > best:
                    second = best
                    best = score
                    label = j
                else:
                    second = score
        doubt = 4.0 * doubts[row]
        near = max(square_norms[row] - 2.0 * best, 0.0) + doubt
        far = max(square_norms[row] - 2.0 * second - doubt, 0.0)
        labels[row] = label
        # Shorter by far more than what rounding adds while moves of centres are taken off.
        leads[row] = 0.999999 * max(math.sqrt(far) - math.sqrt(near), 0.0)


@jit
def multiply_rows(rows, centers, products):
    """Write rows (n, d) times centers (k, d) into products (n, k)."""
    n, d = rows.shape
    for row in range(n):
        for j in range(centers.shape[0]):
            total = 0.0
            for c in range(d):
                total += rows[row, c] * centers[j, c]
            products[row, j] = total


@jit
def add_rows_by_label(rows, labels, sums):
    """Add each row (n, d) to its label's row of sums (k, d; in and out)."""
    n, d = rows.shape
    for row in range(n):
        target = sums[labels[row]]
        for j in range(d):
            target[j] += rows[row, j]


@jit
def add_sparse_rows_by_label(indptr, indices, data, labels, sums):
    """Add each CSR row to its label's row of sums (k, d; in and out)."""
    for row in range(indptr.shape[0] - 1):
        target = sums[labels[row]]
        for a in range(indptr[row], indptr[row + 1]):
            target[indices[a]] += data[a]


@inner
def _interpolate(x, knots, heights):
    """Height at x of the line through the points (knots, heights); level beyond both ends."""
    low, high = 0, knots.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if knots[middle] < x:
            low = middle + 1
        else:
            high = middle
    if low == knots.shape[0]:
        return heights[low - 1]
    if low == 0 or knots[low] == x:
        return heights[low]
    share = (x - knots[low - 1]) / (knots[low] - knots[low - 1])
    return heights[low - 1] + share * (heights[low] - heights[low - 1])


@jit
def interpolate_columns(values, knots, heights, out):
    """Write the height of each value (n, d) by its column's table (d, q) into out (n, d)."""
    n, d = values.shape
    for j in range(d):
        for row in range(n):
            out[row, j] = _interpolate(values[row, j], knots[j], heights[j])


@jit
def interpolate_entries(values, columns, knots, heights, out):
    """Write the height of each value (n,) by the table (d, q) of its column into out (n,)."""
    for i in range(values.shape[0]):
        out[i] = _interpolate(values[i], knots[columns[i]], heights[columns[i]])
