"""
Explaining clusters
===================

569 tumours, measured under the microscope: ten properties of their cells, each as its mean, its
deviation and its worst value. That makes three views whose columns have meaningful names. The
diagnosis is looked at only at the end. This page needs pandas.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from manyview import LMVSC, metrics

data = load_breast_cancer(as_frame=True)
groups = {"mean": 0, "deviation": 10, "worst": 20}
views = {name: data.data.iloc[:, start : start + 10] for name, start in groups.items()}
model = LMVSC(n_clusters=2, random_state=0).fit(views)
why = model.explain(views)
print(why)

# %%
# The same as a table, here the columns that matter most for the smaller cluster:

features = why.to_frame("features")
rare = np.bincount(model.labels_).argmin()
top = features[features["cluster"] == rare].head(8)
print(top.to_string(index=False))
print(f"accuracy against the diagnosis: {metrics.accuracy(data.target, model.labels_):.2f}")

# %%

first, second = top["column"].head(2)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.6), layout="constrained",
    num="The columns that set tumours apart, and the two that do so most",
)  # fmt: skip
left.barh(top["column"], top["effect"], color="#3b7ddd")
left.invert_yaxis()
left.set(title="effect in deviations", xlabel="the smaller cluster against the rest")
frame = data.data
colours = np.where(model.labels_ == rare, "#3b7ddd", "#9aa7b8")
right.scatter(frame[first], frame[second], s=8, c=colours)
right.set(xlabel=first, ylabel=second, title="the two clearest columns")
right.locator_params(axis="x", nbins=5)
plt.show()

# %%
# **Look at** the names: the smaller cluster has large cells with dented outlines. Physicians look for
# the same signs, and nobody told the model. ``model.report("report.html", views)`` puts all of this on
# one page, with a map: see :doc:`/guides/report`.
