"""
Cells: RNA and surface proteins
===============================

1182 blood cells measured by CITE-seq (GSE100866), each with raw counts for 1000 genes and 10
surface proteins. This page goes from counts to clusters, a map and markers. It needs
``manyview[singlecell]``, and umap-learn for the map.
"""

import anndata
import matplotlib.pyplot as plt
import mudata
import numpy as np
from sklearn.decomposition import PCA
from umap import UMAP

from manyview import datasets, metrics, sc
from manyview.report.palette import choose_colours

cells = datasets.load("citeseq_gse100866", download="unverified")
mdata = mudata.MuData({name: anndata.AnnData(X.astype("f4")) for name, X in cells.items()})
mdata["protein"].var_names = [f"protein {j}" for j in range(10)]  # the file has no names

sc.tl.lmvsc(mdata, n_clusters=6)
print(mdata.obs["manyview"].value_counts().to_string())
found = mdata.obs["manyview"].astype(int).to_numpy()
print(f"NMI with the published cell types: {metrics.nmi(cells.target, found):.2f}")

# %%
# The raw counts go in as they are. The model reports what it did with them, and why:

for choice in mdata.uns["manyview"]["choices"][:2]:
    print(choice)

# %%
# A UMAP that never saw the clusters: genes enter as log-normalised counts, proteins as centred
# log-ratios. Beside it is the mean of every protein in every cluster.

genes = mdata["rna"].X / mdata["rna"].X.sum(axis=1, keepdims=True)
logs = np.log1p(mdata["protein"].X)
levels = logs - logs.mean(axis=1, keepdims=True)
axes_of_genes = PCA(10, random_state=0).fit_transform(np.log1p(1e4 * genes))
places = UMAP(random_state=0, n_jobs=1).fit_transform(np.hstack([axes_of_genes / 5, levels]))
means = np.array([levels[found == c].mean(axis=0) for c in range(6)])

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.2), layout="constrained",
    num="A map of blood cells in six clusters, and the proteins of each cluster",
)  # fmt: skip
colours = np.array(choose_colours(6))
left.scatter(*places.T, s=6, c=colours[found])
for cluster in range(6):
    left.text(*np.median(places[found == cluster], axis=0), str(cluster), weight="bold")
left.set(title="UMAP of genes and proteins", xticks=[], yticks=[])
image = right.imshow(means, cmap="RdBu_r", vmin=-3, vmax=3, aspect="auto")
right.set(title="proteins, centred log-ratio", ylabel="cluster", xlabel="protein", xticks=range(10))
figure.colorbar(image, ax=right)
plt.show()

# %%
# **Look at** the columns on the right: a protein that is high in just one cluster is its marker.
# Look at the sizes, too: a cluster of three cells is not a cell type, so five clusters would have been
# enough. ``LMVSC(6).fit(mdata).explain(mdata).to_frame("features")`` ranks genes in the same way.
# :doc:`/guides/single_cell` continues with scanpy, new cells and batches.
