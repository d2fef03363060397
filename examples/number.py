"""
Choosing the number of clusters
===============================

``n_clusters="auto"`` suggests a number of clusters: the one for which clusters are clearest in the
embedding and have the fewest links between them. A suggestion is not proof, so look at the
alternatives, and at how clusters merge.
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
# Any other number is available without refitting. The cuts are nested: a coarser one only merges
# clusters of a finer one.

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
# **Look at** the gap on the left: the values before it belong to clusters, which is a second hint.
# Where the two hints differ, look at both cuts. On the right, clusters that merge only near the top
# have hardly any links between them. On real data the suggestion is often off by one or two;
# :doc:`/guides/settings` explains why.
