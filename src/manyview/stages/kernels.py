"""Compiled loops over tiles of graph rows and embedding rows, and over graphs of anchors."""

import math

import numpy as np

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


LANES = 64
"""Centres that are looked at together."""


@jit
def choose_likely(products, half_norms, tops, places, likely):
    """Write which centre of each of c groups has the largest score products[row, j] - half_norms[j].

    Every c-th centre is in a group. products (n, k), half_norms (k): in. tops, places (LANES): scratch.
    likely (n, c): out; c is a power of two up to LANES, and below k. Of equals the first is taken.
    """
    n, k = products.shape
    n_groups = likely.shape[1]
    whole = k // LANES * LANES
    for row in range(n):
        product, found = products[row], likely[row]
        for lane in range(LANES):
            tops[lane] = -np.inf
            places[lane] = lane & (n_groups - 1)
        for start in range(0, whole, LANES):
            for lane in range(LANES):
                score = product[start + lane] - half_norms[start + lane]
                is_better = score > tops[lane]
                places[lane] = start + lane if is_better else places[lane]
                tops[lane] = score if is_better else tops[lane]
        for j in range(whole, k):
            score = product[j] - half_norms[j]
            if score > tops[j - whole]:
                tops[j - whole] = score
                places[j - whole] = j
        width = LANES
        while width > n_groups:
            width //= 2
            for lane in range(width):
                top, other = tops[lane], tops[lane + width]
                is_better = other > top or (other == top and places[lane + width] < places[lane])
                tops[lane] = other if is_better else top
                places[lane] = places[lane + width] if is_better else places[lane]
        for group in range(n_groups):
            found[group] = places[group]


@inner
def _closeness(x, center, half_norm):
    """Half of what x . x is above the squared distance to a centre: greatest for the nearest."""
    score = np.float32(0.0)
    for c in range(len(x)):
        score += x[c] * center[c]
    return score - half_norm


@jit
def nearest_likely(rows, likely, centers, half_norms, labels):
    """Write which of its likely centres is nearest to each row (n, d).

    likely (n, c), centers (k, d), half_norms (k): in. labels (n): out.
    """
    for row in range(len(rows)):
        x = rows[row]
        best, label = np.float32(-np.inf), likely[row, 0]
        for i in range(likely.shape[1]):
            j = likely[row, i]
            score = _closeness(x, centers[j], half_norms[j])
            if score > best:
                best = score
                label = j
        labels[row] = label


@jit
def nearest_of_group(rows, groups, ends, centers, half_norms, found):
    """Write which of the centres of its group is nearest to each row (n, d).

    groups (n), ends (g + 1), centers (k, d), half_norms (k): in; those of a group stand side by side.
    Rows of a group below 0 are left alone. found (n): out.
    """
    for row in range(len(rows)):
        group = groups[row]
        best = np.float32(-np.inf)
        if group >= 0:
            x = rows[row]
            for j in range(ends[group], ends[group + 1]):
                score = _closeness(x, centers[j], half_norms[j])
                if score > best:
                    best = score
                    found[row] = j


@jit
def add_rows_by_label(rows, labels, first, sums):
    """Add each row (n, d) to its label's row of sums (k, d; in and out).

    Their labels begin at ``first``: rows of others are left to others, maybe at the same time.
    """
    n, d = rows.shape
    k = sums.shape[0]
    for row in range(n):
        label = labels[row] - first
        if 0 <= label < k:
            target = sums[label]
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
def _height_at(x, low, knots, heights):
    """Height at x of the line through the points (knots, heights); level beyond both ends.

    All knots before low are less than x, but maybe that one; those after it are not.
    """
    low += knots[low] < x
    if low == knots.shape[0]:
        return heights[low - 1]
    if low == 0 or knots[low] == x:
        return heights[low]
    share = (x - knots[low - 1]) / (knots[low] - knots[low - 1])
    return heights[low - 1] + share * (heights[low] - heights[low - 1])


@inner
def _interpolate(x, knots, heights):
    """The same, where it is not known which knots are less."""
    low, left = np.int64(0), knots.shape[0]
    while left > 1:
        half = left >> 1
        low += half * (knots[low + half - 1] < x)  # a branch would be guessed wrong half the time
        left -= half
    return _height_at(x, low, knots, heights)


@inner
def _other_of_two(values):
    """The other one of two values that all are, the same if all are alike; else NaN."""
    one = other = values[0]
    for x in values:
        if x != one and x != other:
            if other != one:
                return np.nan
            other = x
    return other


_SEARCHES, _COLUMNS = 256, 8  # side by side, by one table; columns that are read together


def room_for_interpolating():
    """What :func:`interpolate_columns` needs."""
    return np.empty((_COLUMNS, _SEARCHES)), np.empty(_SEARCHES, np.int64)


@jit
def interpolate_columns(values, knots, heights, scratch, out):
    """Write the height of each value (n, d) by its column's table (d, q) into out (n, d).

    scratch : see :func:`room_for_interpolating`.
    """
    n, d = values.shape
    block, lows = scratch
    for start in range(0, n, _SEARCHES):
        count = min(_SEARCHES, n - start)
        for first in range(0, d, _COLUMNS):
            width = min(_COLUMNS, d - first)
            for i in range(count):
                for c in range(width):
                    block[c, i] = values[start + i, first + c]
            for c in range(width):
                some, table, heights_of = block[c, :count], knots[first + c], heights[first + c]
                one, other = some[0], _other_of_two(some)
                if other == other:  # flags
                    height = _interpolate(one, table, heights_of)
                    height_of_other = _interpolate(other, table, heights_of)
                    for i in range(count):
                        some[i] = height if some[i] == one else height_of_other
                    continue
                for i in range(count):
                    lows[i] = 0
                left = table.shape[0]
                while left > 1:  # side by side: each step of one search waits for its last one
                    half = left >> 1
                    for i in range(count):
                        lows[i] += half * (table[lows[i] + half - 1] < some[i])
                    left -= half
                for i in range(count):
                    some[i] = _height_at(some[i], lows[i], table, heights_of)
            for i in range(count):
                for c in range(width):
                    out[start + i, first + c] = block[c, i]


@jit
def interpolate_entries(values, columns, knots, heights, out):
    """Write the height of each value (n,) by the table (d, q) of its column into out (n,)."""
    for i in range(values.shape[0]):
        out[i] = _interpolate(values[i], knots[columns[i]], heights[columns[i]])


@inner
def _nth_largest(values, order, count, n):
    """The n-th largest of the first values, n from 1 to count. order : scratch, as long.

    Every eighth of many tells what is too small to be it, so that few need be put in order.
    """
    least, stride, wanted = 0.0, np.int64(1), np.int64(n)
    if count > 16 * n + 32:
        stride, wanted = np.int64(8), np.int64(n // 4 + 4)
    while True:
        kept = np.int64(0)
        for a in range(0, count, stride):
            order[kept] = values[a]
            kept += values[a] >= least
        if kept < wanted:
            least = 0.0
            continue
        low, high = np.int64(0), kept - 1
        while low < high:
            pivot = order[(low + high) >> 1]
            i, j = low, high
            while i <= j:
                while order[i] > pivot:
                    i += 1
                while order[j] < pivot:
                    j -= 1
                if i <= j:
                    order[i], order[j] = order[j], order[i]
                    i += 1
                    j -= 1
            if wanted <= j + 1:
                high = j
            elif wanted > i:
                low = i
            else:
                break
        least = order[wanted - 1]
        if stride == 1:
            return least
        stride, wanted = np.int64(1), np.int64(n)


@jit
def strongest_links(rows, columns, first, n_links, scratch, near, indptr, indices, data):
    """Write the n_links largest entries of some rows of B'B, their own left out, as a CSR matrix.

    rows, columns : in, indptr, indices and data of B (n, m) and of B', no weight below zero. first : in,
    the number of the first row. scratch (3, m) : zeros. near (m) : scratch. indptr (c + 1) : zeros, for
    c rows. indices, data (c n_links) : out.
    """
    row_ends, row_indices, row_data = rows
    column_ends, column_indices, column_data = columns
    sums, links, order = scratch[0], scratch[1], scratch[2]
    m = sums.shape[0]
    end = np.int64(0)
    for at in range(indptr.shape[0] - 1):
        i = first + at
        for a in range(column_ends[i], column_ends[i + 1]):
            row, t = column_indices[a], column_data[a]
            for b in range(row_ends[row], row_ends[row + 1]):
                sums[row_indices[b]] += t * row_data[b]
        sums[i] = 0.0
        count = np.int64(0)
        for j in range(m):  # all that follows looks at those with a link alone
            link = sums[j]
            sums[j] = 0.0
            links[count] = link
            near[count] = j
            count += link > 0.0
        bar = _nth_largest(links, order, count, n_links) if count > n_links else 0.0
        n_equal = n_links  # of those that are equal to the bar the first ones, as many as have room
        for a in range(count):
            n_equal -= links[a] > bar
        for a in range(count):
            is_equal = links[a] == bar and n_equal > 0
            if links[a] > bar or is_equal:
                n_equal -= is_equal
                indices[end] = near[a]
                data[end] = links[a]
                end += 1
        indptr[at + 1] = end


@inner
def _links(graph, group, inside, i, link, near):
    """Add node i's links to the groups of its neighbours to link (in and out; zeros before).

    Only neighbours j with inside[j] == inside[i] count. near : out, the groups met, its own first.
    What you get is how many.
    """
    indptr, indices, data = graph
    near[0] = group[i]
    count = np.int64(1)
    for a in range(indptr[i], indptr[i + 1]):
        j = indices[a]
        if j != i and inside[j] == inside[i]:
            g = group[j]
            if link[g] == 0.0 and g != near[0]:
                near[count] = g
                count += 1
            link[g] += data[a]
    return count


@jit
def move_nodes(graph, degrees, rate, queue, group, volume, size, link, scratch):
    """Move nodes to the group that gains most modularity, until no move gains any.

    graph : in, indptr, indices and data of a symmetric CSR matrix (n, n), weights above zero.
    degrees (n) : in, its row sums. rate : in, the resolution over their sum. queue (n) : in, all nodes
    in the order they are looked at; one whose neighbours moved is looked at again. group (n), volume
    (n), size (n) : in and out, with the sum of degrees and the number of nodes of each group. link (n)
    and scratch (4, n; int32) : zeros.
    """
    indptr, indices, _ = graph
    near, empty, seen, inside = scratch[0], scratch[1], scratch[2], scratch[3]
    n = queue.shape[0]
    n_empty = np.int64(0)
    for g in range(n):
        if size[g] == 0:
            empty[n_empty] = g
            n_empty += 1
    head = np.int64(0)
    waiting = np.int64(n)
    while waiting > 0:
        i = queue[head]
        head = (head + 1) % n
        waiting -= 1
        seen[i] = 1
        own, degree = group[i], degrees[i]
        count = _links(graph, group, inside, i, link, near)
        volume[own] -= degree
        size[own] -= 1
        best, most = own, link[own] - rate * degree * volume[own]
        least = 1e-12 * degree  # of a gain that is not rounding
        for a in range(1, count):
            gain = link[near[a]] - rate * degree * volume[near[a]]
            if gain > most + least:
                best, most = near[a], gain
        for a in range(count):
            link[near[a]] = 0.0
        if size[own] == 0:
            empty[n_empty] = own
            n_empty += 1
        if most < -least:
            best = empty[n_empty - 1]
        if size[best] == 0:  # only the last one of the empty can have been chosen
            n_empty -= 1
        volume[best] += degree
        size[best] += 1
        if best == own:
            continue
        group[i] = best
        for a in range(indptr[i], indptr[i + 1]):
            j = indices[a]
            if group[j] != best and seen[j] == 1:
                queue[(head + waiting) % n] = j
                waiting += 1
                seen[j] = 0


@jit
def split_groups(graph, degrees, rate, order, group, volume, part, weight, cut, link, near):
    """Split each group into parts that hang together: Leiden's refinement, without its dice.

    Nodes start alone. One that is still alone, and well linked to its group, joins the well linked
    part of it that gains most modularity.

    graph, degrees, rate, group, volume : in, as for :func:`move_nodes`. order (n) : in. part (n) : out,
    each named by one of its nodes. weight (n), cut (n) : out, the sum of degrees of each part and its
    links to the rest of its group. link (n) : zeros. near (n) : scratch.
    """
    indptr, indices, data = graph
    n = order.shape[0]
    for i in range(n):
        part[i] = i
        weight[i] = degrees[i]
        cut[i] = 0.0
        for a in range(indptr[i], indptr[i + 1]):
            if indices[a] != i and group[indices[a]] == group[i]:
                cut[i] += data[a]
    for at in range(n):
        i = order[at]
        degree, whole = degrees[i], volume[group[i]]
        is_alone = part[i] == i and weight[i] == degree
        if not is_alone or cut[i] < rate * degree * (whole - degree):
            continue
        count = _links(graph, part, group, i, link, near)
        best, most = part[i], 1e-12 * degree
        for a in range(1, count):
            p = near[a]
            gain = link[p] - rate * degree * weight[p]
            if gain > most and cut[p] >= rate * weight[p] * (whole - weight[p]):
                best, most = p, gain
        if best != i:
            part[i] = best
            weight[best] += degree
            cut[best] += cut[i] - 2.0 * link[best]
        for a in range(count):
            link[near[a]] = 0.0
