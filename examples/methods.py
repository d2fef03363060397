"""
Comparing methods
=================

Any method on any data, on the same shuffled rows, each fit in a process of its own. A method of
yours takes part like those that manyview has.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.cluster import AgglomerativeClustering

from manyview import bench

results = bench.compare(
    {
        "LMVSC": "LMVSC", "k-means": "KMeans", "kNN spectral": "SpectralKNN", "FPMVS": "FPMVS",
        "Ward": AgglomerativeClustering(),
    },
    ["3sources", "msrcv1", "prokaryotic", "digits"],
    seeds=1,
)  # fmt: skip
print(results)

# %%
# A dash is a method that cannot do it: Ward takes no sparse rows. Methods other than LMVSC take
# columns as they are or standardise them, as their authors do, which does them no good on counts of
# words. The same table for a paper, the best in bold:

print(results.table(kind="latex"))

# %%

results.draw_scores("scores.png")
figure, axes = plt.subplots(
    figsize=(9, 2.6), layout="constrained", num="NMI of five methods on four data sets"
)
axes.imshow(plt.imread("scores.png"))
axes.set_axis_off()
plt.show()
Path("scores.png").unlink()

# %%
# **Look at** the rows, not at the last line: no method is best everywhere. One seed and four sets
# prove nothing; ``results.draw_ranks`` says which differences are larger than chance. All methods
# on twenty sets, and the traps of the field: :doc:`/guides/methods`.
