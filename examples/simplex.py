"""
The simplex problem
===================

Every row is written as a mixture of anchors: weights that are not negative and sum to one.
"""

import matplotlib.pyplot as plt
import numpy as np

from manyview.simplex import certify, solve_simplex_qp

angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
anchors = np.column_stack([np.cos(angles), 0.7 * np.sin(angles)])
rows = np.array([[0.72, 0.3], [-1.2, 0.15], [0.1, -0.45]])

# %%
# In views with many columns most weights are zero by themselves. In the plane many mixtures give the
# same point, and ``alpha`` prefers those of many anchors; ``locality`` makes far anchors costly. Every
# solution comes with a proof of its quality.

figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
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
