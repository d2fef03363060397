"""
The simplex problem
===================

Every row is written as a mixture of anchors, with weights that are non-negative and sum to one.
The comparison of speed needs the package daqp.
"""

import matplotlib.pyplot as plt
import numpy as np

from manyview.simplex import certify, solve_simplex_qp

angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
anchors = np.column_stack([np.cos(angles), 0.7 * np.sin(angles)])
rows = np.array([[0.72, 0.3], [-1.2, 0.15], [0.1, -0.45]])

# %%
# In views with many columns, most weights come out as zero anyway. In the plane many mixtures give the
# same point, and ``alpha`` prefers those that spread over many anchors; ``locality`` makes distant
# anchors expensive. Every solution comes with a certificate of how close to optimal it is.

figure, panels = plt.subplots(
    1, 2, figsize=(9, 3.4), layout="constrained", sharey=True,
    num="Rows in the plane tied to anchors, without and with locality",
)  # fmt: skip
for axes, locality in zip(panels, (0.0, 0.3), strict=True):
    Z = solve_simplex_qp(rows, anchors, alpha=0.01, locality=locality)
    worst = certify(Z, rows, anchors, alpha=0.01, locality=locality).worst
    print(f"locality {locality}: {Z.nnz / len(rows):.1f} anchors a row, certificate {worst:.0e}")
    axes.scatter(*anchors.T, s=50, color="#94a4a2", zorder=2)
    colours = ("#3f90da", "#bd1f01", "#832db6")
    for row, weights, colour in zip(rows, Z.toarray(), colours, strict=True):
        for j in np.flatnonzero(weights):
            axes.plot(*zip(row, anchors[j], strict=True), color=colour, lw=8 * weights[j])
        axes.scatter(*row, s=70, color=colour, zorder=3)
    axes.set(title=f"locality = {locality}", aspect="equal")
    axes.set_axis_off()
plt.show()

# %%
# How fast is it? daqp is a compiled, exact solver for small problems, called once per row; ours takes
# many rows at once. Both use one thread and the same rows, digits of 64 pixels.

import time

import daqp
from sklearn.cluster import KMeans

from manyview import datasets

X = datasets.digits_views()["pixels"] / 40  # about unit length
X = X - X.mean(axis=0)


def row_by_row(rows, A):
    """Every row by a call of daqp."""
    m = len(A)
    G, upper, lower = A @ A.T + 0.01 * np.eye(m), np.full(m + 1, 1e30), np.zeros(m + 1)
    upper[m] = lower[m] = 1.0
    sense = np.append(np.zeros(m, np.int32), np.int32(5))  # the last one is an equation
    return [daqp.solve(G, -A @ row, np.ones((1, m)), upper, lower, sense) for row in rows]


def all_at_once(rows, A):
    """All rows by one call of ours."""
    return solve_simplex_qp(rows, A, alpha=0.01)


def measure(solve, rows, A):
    """Microseconds of CPU for a row."""
    solve(rows, A)  # once before: compiled, warm
    start = time.process_time()
    solve(rows, A)
    return 1e6 * (time.process_time() - start) / len(rows)


micros = {"daqp, row by row": [], "manyview": []}
sizes = [50, 100, 300]
for m in sizes:
    A = KMeans(m, n_init=1, random_state=0).fit(X).cluster_centers_
    micros["daqp, row by row"].append(measure(row_by_row, X[::200], A))
    micros["manyview"].append(measure(all_at_once, X, A))
for name, values in micros.items():
    print(f"{name:17}", "  ".join(f"{value:8.1f}" for value in values), "microseconds a row")

# %%

figure, axes = plt.subplots(
    figsize=(7, 3),
    layout="constrained",
    num="Microseconds a row of two solvers, against the anchors",
)
for (name, values), colour in zip(micros.items(), ("#9aa7b8", "#3b7ddd"), strict=True):
    axes.plot(sizes, values, "o-", color=colour, label=name)
axes.set(xscale="log", yscale="log", xlabel="anchors", ylabel="microseconds a row")
axes.set_xticks(sizes, sizes)
axes.set_xticks([], minor=True)
axes.legend()
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# **Look at** the gap between the lines, on a logarithmic scale: it widens with the number of anchors.
# ``make bench`` measures it in 240 settings. In the first figure, look at the widths of the lines,
# which are the weights: with locality, a row is explained by the anchors near it. These weights form
# the graph from which clusters are cut; :doc:`/explanation/design` has the rest of the mathematics.
