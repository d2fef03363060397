"""
Text: news in three sources
===========================

169 stories that the BBC, the Guardian and Reuters all reported, as counts of words; each source has
words of its own. People gave each story one of six topics, which only the scores below look at.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from manyview import LMVSC, datasets, metrics
from manyview.report import AgreementDisplay

views = datasets.load("3sources", download="unverified")
print(views)

model = LMVSC(n_clusters=6, random_state=0).fit(views)
counts = np.hstack([X.toarray() for X in views.arrays])
words = normalize(np.sqrt(counts))  # as is usual for k-means on words
kmeans = KMeans(n_clusters=6, n_init=10, random_state=0).fit(words)
print(f"manyview NMI {metrics.nmi(views.target, model.labels_):.2f}")
print(f"k-means  NMI {metrics.nmi(views.target, kmeans.labels_):.2f}")

# %%
# manyview takes counts as they are: sparse views stay sparse, and how to scale them was chosen from
# the data.

for choice in model.choices_[:3]:
    print(f"{choice['parameter']} {choice['value']}: {choice['why']}")

# %%
# How far do the sources agree?

matched = metrics.match_labels(views.target, model.labels_)
table = np.zeros((6, 6), int)
np.add.at(table, (views.target, matched), 1)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained",
    num="Topics against clusters, and how far three sources of news agree",
)  # fmt: skip
left.imshow(table, cmap="Blues")
for place, n in np.ndenumerate(table):
    if n:
        left.text(*place[::-1], n, ha="center", va="center", color="w" if n > 25 else "k")
left.set(xlabel="cluster", ylabel="topic", title="stories")
AgreementDisplay.from_estimator(model, views, ax=right)
plt.show()

# %%
# **Look at** the table on the left: all off its diagonal is not as people sorted it. On the right,
# every source is clustered alone: they agree more with all of them together than with each other,
# which is why it pays to have three.
