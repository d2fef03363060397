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

views = datasets.digits_views()
model = LMVSC(n_clusters=10, random_state=0).fit(views)

# %%
# A map of the rows, coloured by cluster, and the spectrum, whose gap suggests the number of clusters.

figure, (left, right) = plt.subplots(
    1,
    2,
    figsize=(10, 4.2),
    layout="constrained",
    num="A map of digits in ten clusters, and the spectrum",
)
EmbeddingDisplay.from_estimator(model, ax=left)
SpectrumDisplay.from_estimator(model, ax=right)
plt.show()

# %%
# Each view clustered alone, compared with the others and with all views together.

AgreementDisplay.from_estimator(model, views)
plt.show()

# %%
# How much the clusters depend on the number of anchors. Every dot is a fit with another seed. One set
# of anchors per fit (``n_repeats=1``) shows what a single set does; the defaults join several.

one = LMVSC(n_clusters=10, n_repeats=1, scaling="standard", random_state=0).fit(views)
shown = SensitivityDisplay.from_estimator(
    one, views, views.target, param_name="n_anchors", values=[10, 20, 50, 100, 300], n_seeds=5
)
shown.ax_.set_ylim(0.6, 1)
plt.show()

# %%
# **Look at** the last figure first. With 10 anchors the dots lie far apart: the result depends on the
# seed, and no single fit should be trusted. With 100 and more they agree, and more anchors gain little,
# so the default of 300 is no gamble. ``model.report("report.html", views)`` puts all of this and more on
# one page, with an interactive map: see :doc:`/guides/report`.
