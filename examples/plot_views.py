"""
What several views bring
========================

The same digits, clustered from each description alone and from all of them together.
"""

import matplotlib.pyplot as plt

from manyview import LMVSC, datasets, metrics

views = datasets.digits_views()


def score(X):
    model = LMVSC(n_clusters=10, random_state=0).fit(X)
    return metrics.nmi(views.target, model.labels_)


scores = {name: score(array) for name, array in views.items()}
scores["all five"] = score(views)

# %%
# All views together do better than the best of them alone.

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
colours = ["#94a4a2"] * len(views.arrays) + ["#3f90da"]
bars = axes.barh(list(scores), list(scores.values()), color=colours)
axes.bar_label(bars, fmt="%.2f", padding=4)
axes.invert_yaxis()
axes.set(xlim=(0, 1), xlabel="normalised mutual information with the true digits")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
