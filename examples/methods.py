"""
Comparing methods
=================

Any method on any data: all get the same shuffled rows, and every fit runs in its own process. Your
own method takes part just like the built-in ones; here it is scikit-learn's Ward clustering.
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
# A dash means that the method cannot handle the data: Ward does not take sparse rows. Methods other
# than LMVSC use the columns as they are or standardise them, as their authors did, which hurts them on
# word counts. The same table for a paper, with the best in bold:

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
# **Look at** the rows, not just the last line: no method is best everywhere. One seed and four data
# sets prove nothing; ``results.draw_ranks`` shows which differences exceed chance.
# :doc:`/guides/methods` compares twenty methods on 21 data sets, and lists the traps of the field.
