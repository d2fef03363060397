"""
Choosing the number of clusters
===============================

``n_clusters="auto"`` suggests a number: the one for which clusters in the embedding are clearest
and links between them fewest. A suggestion is no proof: see what else would do, and how clusters
join.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram

from manyview import LMVSC, datasets, metrics
from manyview.report import SpectrumDisplay

views = datasets.digits_views()
model = LMVSC(n_clusters="auto", random_state=0).fit(views)
print("suggested:", model.n_clusters_)
print("next best:", model.suggestion_.runners_up())
print(f"NMI with the ten digits: {metrics.nmi(views.target, model.labels_):.2f}")

# %%
# Another number needs no new fit. All cuts are nested: none divides what a finer one keeps
# together.

for n in (2, 5, 10, 20):
    print(f"{n:3} clusters, the largest have", np.sort(np.bincount(model.cut(n)))[::-1][:6])

# %%

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.6), layout="constrained",
    num="The spectrum of the digits' graph, and the tree of the clusters",
)  # fmt: skip
SpectrumDisplay.from_estimator(model, ax=left)
dendrogram(model.hierarchy_, p=model.n_clusters_, truncate_mode="lastp", ax=right, no_labels=True)
right.set(title=f"how {model.n_clusters_} clusters join", yticks=[])
plt.show()

# %%
# **Look at** the gap on the left, another hint: values before it belong to clusters. Where the two
# hints differ, look at both cuts. On the right, joints far up are groups that hardly anything
# connects. On real data the suggestion is often off by one or two; :doc:`/guides/settings` says
# why.
