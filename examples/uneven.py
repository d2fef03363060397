"""
Uneven groups and outliers
==========================

Real groups are rarely the same size, and some rows belong to none. Here are groups of 1500, 150 and
30 rows in two views, plus 12 rows of junk. The data is synthetic, so the truth is known.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from manyview import LMVSC, baselines, datasets, metrics

good = datasets.make_uneven((1500, 150, 30), (8, 12), random_state=0)
rng = np.random.default_rng(0)
junk = [25 * rng.normal(size=(12, X.shape[1])) for X in good.arrays]
views = [np.vstack([X, J]) for X, J in zip(good.arrays, junk, strict=True)]
truth = np.r_[good.target, np.full(12, -1)]

model = LMVSC(n_clusters=3, outliers="mark", random_state=0).fit(views)
kmeans = baselines.KMeans(n_clusters=3, random_state=0).fit(views)
print("rows of each cluster:", np.sort(np.bincount(model.labels_[model.labels_ >= 0])))
print("marked as outliers:  ", np.flatnonzero(model.labels_ == -1))
for name, labels in {"manyview": model.labels_, "k-means": kmeans.labels_}.items():
    print(f"{name:9} accuracy without junk {metrics.accuracy(good.target, labels[:1680]):.3f}")

# %%

places = PCA(2, random_state=0).fit(views[0][:1680]).transform(views[0])
figure, panels = plt.subplots(
    1, 3, figsize=(10, 3.4), layout="constrained", sharex=True, sharey=True,
    num="Three uneven groups and junk: the truth, manyview and k-means",
)  # fmt: skip
colours = np.array(["#3b7ddd", "#e69f00", "#2ca47c", "#1b1f24"])
shown = {"truth": truth, "manyview": model.labels_, "k-means": kmeans.labels_}
for axis, (name, labels) in zip(panels, shown.items(), strict=True):
    matched = labels.copy()
    known = labels >= 0
    matched[known] = metrics.match_labels(truth[known], labels[known])
    axis.scatter(*places.T, s=np.where(matched < 0, 30, 6), c=colours[matched])
    axis.set(title=name, xticks=[], yticks=[])
panels[0].set(xlim=(-30, 40), ylim=(-30, 30))
plt.show()

# %%
# **Look at** the small group of 30: it stays whole next to one fifty times its size. k-means merges it
# into its neighbours and turns a bit of junk into a cluster. Black points are junk, found without
# setting a threshold; ``outlier_score_`` ranks all rows. More in :doc:`/guides/answers`.
