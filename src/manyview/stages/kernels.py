"""Compiled loops over tiles of graph rows and embedding rows, and nothing else."""

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
