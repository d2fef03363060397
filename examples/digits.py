"""
Images: digits in five views
============================

1797 small images of handwritten digits, each described in five ways: pixels, spatial frequencies,
stroke directions, ink profiles and moments. Nobody tells the model what a digit is.
"""

import matplotlib.pyplot as plt
import numpy as np

from manyview import LMVSC, baselines, datasets, metrics

views = datasets.digits_views()
print(views)

model = LMVSC(n_clusters=10, random_state=0).fit(views)
kmeans = baselines.KMeans(n_clusters=10, random_state=0).fit(views)
for name, labels in {"manyview": model.labels_, "k-means": kmeans.labels_}.items():
    print(f"{name:9} accuracy {metrics.accuracy(views.target, labels):.2f}")

# %%
# Each row of the picture is a cluster. On the left are the six images the model is surest of, on the
# right the six it is least sure of. An image is red if it shows a different digit from most of its
# cluster.

figure, axes = plt.subplots(
    10, 13, figsize=(9, 7), layout="constrained",
    num="The surest and the least sure images of ten clusters of digits",
)  # fmt: skip
for cluster, row in enumerate(axes):
    members = np.flatnonzero(model.labels_ == cluster)
    members = members[np.argsort(-model.confidence_[members], kind="stable")]
    usual = np.bincount(views.target[members]).argmax()
    chosen = [*members[:6], None, *members[-6:]]
    for axis, i in zip(row, chosen, strict=True):
        axis.set_axis_off()
        if i is not None:
            colours = "Reds" if views.target[i] != usual else "Greys"
            axis.imshow(views["pixels"][i].reshape(8, 8), cmap=colours)
axes[0, 2].set_title("surest", loc="left")
axes[0, 9].set_title("least sure", loc="left")
plt.show()

# %%
# **Look at** where the red ones are: almost never on the left. So ``confidence_`` tells you which
# rows to check by hand. For your own images, use whatever describes them as views: histograms,
# descriptors, embeddings from several networks. The :doc:`/tutorial` continues from here.
