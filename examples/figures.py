"""
Figures for a paper
===================

The figures of the report, drawn with matplotlib: a map of the rows, the spectrum, how far the views
agree, and how much a setting matters.
"""

import matplotlib.pyplot as plt

from manyview import LMVSC, datasets
from manyview.report import (
    AgreementDisplay,
    EmbeddingDisplay,
    SensitivityDisplay,
    SpectrumDisplay,
)

views = datasets.make_views(1500, 5, (10, 20, 30), random_state=0)
model = LMVSC(n_clusters=5, random_state=0).fit(views)

# %%
# A map of the rows, coloured by cluster, and the spectrum, whose gap suggests the number of clusters.

figure, (left, right) = plt.subplots(
    1,
    2,
    figsize=(10, 4.2),
    layout="constrained",
    num="A map of rows in five clusters, and the spectrum",
)
EmbeddingDisplay.from_estimator(model, ax=left)
SpectrumDisplay.from_estimator(model, ax=right)
plt.show()

# %%
# Each view clustered alone, compared with the others and with all views together.

AgreementDisplay.from_estimator(model, views)
plt.show()

# %%
# How much the clusters depend on the number of anchors: every dot is a fit with a different seed.

SensitivityDisplay.from_estimator(
    model, views, views.target, param_name="n_anchors", values=[10, 30, 100, 300]
)
plt.show()

# %%
# **Look at** the last figure first: where the dots of one column lie far apart, the result depends on
# the seed, and no single fit should be trusted. ``model.report("report.html", views)`` puts all of
# this and more on one page, with an interactive map: see :doc:`/guides/report`.
