"""
Cells: RNA and surface proteins (CITE-seq)
==========================================

1182 blood cells (GSE100866), each with raw counts of 1000 genes and of 10 surface proteins. From
counts to clusters, a map and markers. Needs ``manyview[singlecell]``, and umap-learn for the map.
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
# Raw counts are passed as they are. What was made of them, and why:

for choice in mdata.uns["manyview"]["choices"][:2]:
    print(choice)

# %%
# A map that knows nothing of the clusters: genes as logarithms of shares, proteins as logarithms of
# counts less their mean in the cell. Beside it, the mean proteins of each cluster.

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
# **Look at** the columns on the right: a protein that is high in one cluster only is its marker.
# And look at sizes: a cluster of two cells is no kind of cell, so five would have done. Genes are
# ranked in the same way by ``LMVSC(6).fit(mdata).explain(mdata).to_frame("features")``. Going on
# with scanpy, new cells and batches: :doc:`/guides/single_cell`.
