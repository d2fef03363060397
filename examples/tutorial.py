"""
Tutorial: from views to clusters
================================

You will cluster handwritten digits from five descriptions of each, see what the several views
bring, label digits that the model has never seen, and make a report. It takes ten minutes and
downloads nothing.

Views
-----

A *view* is one table of numbers with a row for every thing. Several views describe the same things,
in the same order, by different numbers:
"""

from manyview import LMVSC, datasets, metrics

views = datasets.digits_views()
print(views)
print(views["fourier"].shape)

# %%
# The views come with ``views.target``, the digits that people saw. Nothing below uses it to find
# clusters, only to check them. The first images, and the numbers by which one view knows them:

import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, 8, figsize=(9, 2.6), num="Eight digits, and their gradients as bars")
for i in range(8):
    axes[0, i].imshow(views["pixels"][i].reshape(8, 8), cmap="Greys")
    axes[1, i].bar(range(72), views["gradients"][i], width=1.0, color="#3b7ddd")
    axes[0, i].set_axis_off()
    axes[1, i].set_axis_off()
plt.show()

# %%
# Fit
# ---

model = LMVSC(n_clusters=10, random_state=0).fit(views)
print(model.labels_[:10])
print(model.embedding_.shape)

# %%
# ``labels_`` has the cluster of every row. ``embedding_`` has the coordinates in which the clusters
# were found: rows that lie close together there are alike in all views taken together. There are
# more coordinates than clusters, which often helps where some clusters have more than one form, as
# a 1 with and without a foot. All settings were chosen from the data; :doc:`guides/settings` says
# how, and what to set when.
#
# How good are they?
# ------------------
#
# Cluster numbers mean nothing by themselves, so scores compare groupings:

for name, value in metrics.scores(views.target, model.labels_).items():
    print(f"{name:15}{value:.2f}")

# %%
# *Accuracy* matches clusters to digits one to one and counts the right ones. *NMI* is the
# information that clusters and digits share. *Purity* asks whether a cluster is mostly one digit,
# *inverse purity* whether a digit is mostly in one cluster; look at both. Where do clusters and
# digits differ?

import numpy as np

found = metrics.match_labels(views.target, model.labels_)
table = np.zeros((10, 10), int)
np.add.at(table, (views.target, found), 1)
figure, axes = plt.subplots(figsize=(5, 4.4), layout="constrained", num="Digits against clusters")
axes.imshow(table, cmap="Blues")
for place, n in np.ndenumerate(table):
    if n:
        axes.text(*place[::-1], n, ha="center", va="center", color="w" if n > 90 else "k")
axes.set(xlabel="cluster", ylabel="digit", xticks=range(10), yticks=range(10))
plt.show()

# %%
# What do several views bring?
# ----------------------------

scores = {}
for name, array in views.items():
    alone = LMVSC(n_clusters=10, random_state=0).fit(array)
    scores[name] = metrics.nmi(views.target, alone.labels_)
scores["together"] = metrics.nmi(views.target, model.labels_)
for name, value in scores.items():
    print(f"{name:10} {value:.2f}")

# %%

figure, axes = plt.subplots(
    figsize=(7, 2.8), layout="constrained", num="NMI of each view alone and of all together"
)
bars = axes.barh(list(scores), list(scores.values()), color=["#9aa7b8"] * 5 + ["#3b7ddd"])
axes.bar_label(bars, fmt="%.2f", padding=4)
axes.invert_yaxis()
axes.set(xlim=(0, 1), xlabel="NMI with the true digits")
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A view alone may tell the digits apart as well as all of them together, but most do not, and
# without labels nothing says which one would.
#
# New rows
# --------
#
# Fit on the first 1400 digits, and label the others. A ``Views`` is indexed by rows:

model = LMVSC(n_clusters=10, random_state=0).fit(views[:1400])
new = views[1400:]
print(f"accuracy on new digits {metrics.accuracy(new.target, model.predict(new)):.2f}")

# %%
# How sure is it of each? Those below .6 are worth a look:

labels, confidence = model.predict_with_confidence(new)
print(f"{(confidence < 0.6).sum()} of {len(labels)} are doubtful")

# %%
# Keep the model
# --------------
#
# A model file is arrays and JSON, no pickle: loading it runs no code.

from manyview import load

model.save("digits.mv")
again = load("digits.mv")
print("the same labels:", bool((again.predict(new) == labels).all()))

# %%
# A report
# --------
#
# One page that opens in any browser, also offline, with a map, the clusters' most typical rows, and
# what a careful colleague would point at:

path = model.report("report.html", views[:1400])
print(path.name)

# %%
# .. image:: /_static/report.png
#    :alt: The top of a report: ten clusters, key figures, advice, and a map of the rows
#
# Where next
# ----------
#
# - your own data: :doc:`guides/inputs`
# - what to set, and when: :doc:`guides/settings`
# - other data, with results: :doc:`gallery/index`
# - how it works inside: :doc:`explanation/design`
