"""
Tutorial: from views to clusters
================================

You will cluster handwritten digits from five descriptions of each, see what using several views
gains, label digits the model has never seen, and make a report. It takes ten minutes and downloads
nothing. You need manyview with pictures, ``pip install '.[cli,report]'`` in a clone
(:doc:`install`); run the blocks in order, in a notebook or in ``python``.

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
# The views come with ``views.target``, the true digits. Nothing below uses it to find clusters, only
# to check them. Here are the first eight images, and what one of the views knows of them:

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
# The first fit after installing takes about six seconds longer, because its inner loops are compiled
# once. ``labels_`` holds the cluster of every row. ``embedding_`` holds the coordinates in which the
# clusters were found: rows that are close together there are similar in all views taken together.
# There are more coordinates than clusters, which helps when a cluster comes in several forms, such
# as a 1 with and without a foot. All settings were chosen from the data; :doc:`guides/settings`
# explains how, and when to set them yourself.
#
# How good are they?
# ------------------
#
# Cluster numbers are arbitrary, so the scores compare groupings, not numbers:

for name, value in metrics.scores(views.target, model.labels_).items():
    print(f"{name:15}{value:.2f}")

# %%
# *Accuracy* pairs every cluster with a digit and counts the matching rows. *NMI* measures the
# information that clusters and digits share. *Purity* asks whether each cluster is mostly one digit,
# *inverse purity* whether each digit is mostly in one cluster; look at both. Where do clusters and
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
# What do several views gain?
# ---------------------------
#
# Cluster each view alone, and compare:

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
# One of the views is as good alone as all of them together, and the others are not. Without labels
# you could not know which one to pick; with all five you do not have to.
#
# New rows
# --------
#
# Fit on the first 1400 digits and label the rest. A ``Views`` is indexed by row:

model = LMVSC(n_clusters=10, random_state=0).fit(views[:1400])
new = views[1400:]
print(f"accuracy on new digits {metrics.accuracy(new.target, model.predict(new)):.2f}")

# %%
# How sure is the model of each? Digits with a confidence below .6 are worth a look:

labels, confidence = model.predict_with_confidence(new)
print(f"{(confidence < 0.6).sum()} of {len(labels)} are doubtful")

# %%
# Keep the model
# --------------
#
# A model file holds arrays and JSON, never pickles, so loading one runs no foreign code.

from manyview import load

model.save("digits.mv")
again = load("digits.mv")
print("the same labels:", bool((again.predict(new) == labels).all()))

# %%
# A report
# --------
#
# The report is one page that opens in any browser, even offline. It has a map, the most typical rows
# of each cluster, and the remarks a careful colleague would make:

path = model.report("report.html", views[:1400], force=True)  # force: replace an old one
print(path.name)

# %%
# Open ``report.html`` in a browser. This is the top of one for all 1797 digits:
#
# .. image:: /_static/report.png
#    :alt: The top of a report: ten clusters, key figures, advice, and a map of the rows
#
# Where next
# ----------
#
# - :doc:`guides/inputs`: bring your own data
# - :doc:`guides/settings`: what to set, and when
# - :doc:`gallery/index`: other data, with results
# - :doc:`explanation/design`: how it works inside
