"""
Embeddings: images and their texts
==================================

A recipe for embeddings of two networks, one for pictures (512 numbers) and one for texts (768), in
files. The embeddings are made: every thing belongs to one of thirty kinds, and each network mixes
up some kinds that the other one tells apart. Here are 10 000 things, so that the page is made in a
minute; set ``N = 1_000_000`` for 5 GB of files, and the code stays as it is.
"""

import resource
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans

from manyview import LMVSC, metrics
from manyview.engines import Disk

N, K = 10_000, 30
rng = np.random.default_rng(0)
kind = rng.integers(K, size=N)


def write(name, width, seen):
    """Unit rows around the centres of the kinds that this network sees, block by block."""
    centres = rng.normal(size=(K, width))[seen]
    rows = np.lib.format.open_memmap(name, "w+", np.float32, (N, width))
    for start in range(0, N, 10_000):
        block = centres[kind[start : start + 10_000]]
        block = block + 4.5 * rng.normal(size=block.shape)
        rows[start : start + 10_000] = block / np.linalg.norm(block, axis=1, keepdims=True)


pairs = np.arange(K)
write("image.npy", 512, np.where(pairs < 12, pairs // 2, pairs))  # kinds 0 and 1 look alike, ...
write("text.npy", 768, np.where(pairs >= 18, pairs // 2, pairs))  # 18 and 19 read alike, ...
files = {"image": "image.npy", "text": "text.npy"}

# %%
# The views stay in their files: rows are read block by block, within a limit.


def measure(fit):
    """Labels and seconds of CPU of a fit."""
    start = time.process_time()
    return fit(), time.process_time() - start


engine = Disk(memory_limit="500 MB")
ours, seconds = measure(lambda: LMVSC(K, random_state=0, engine=engine).fit(files).labels_)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(f"LMVSC: NMI {metrics.nmi(kind, ours):.2f}, {seconds:.0f} s, peak {peak:.1f} GB")

# %%
# k-means in batches is the usual way. It gets each network's embeddings alone, and both side by
# side.

results = {"manyview": (metrics.nmi(kind, ours), seconds)}
both = np.hstack([np.load(path) for path in files.values()])
for name, X in {"image": both[:, :512], "text": both[:, 512:], "both": both}.items():
    usual = MiniBatchKMeans(K, batch_size=4096, n_init=3, random_state=0)
    labels, seconds = measure(lambda: usual.fit_predict(X))  # noqa: B023
    results[f"k-means, {name}"] = metrics.nmi(kind, labels), seconds
    print(f"MiniBatchKMeans, {name}: NMI {results[f'k-means, {name}'][0]:.2f}, {seconds:.0f} s")

# %%

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3), layout="constrained", sharey=True,
    num="NMI and seconds of manyview and of k-means in batches on made embeddings",
)  # fmt: skip
colours = ["#3b7ddd", "#9aa7b8", "#9aa7b8", "#9aa7b8"]
for axis, i, title in ((left, 0, "NMI"), (right, 1, "seconds of CPU")):
    bars = axis.barh(list(results), [values[i] for values in results.values()], color=colours)
    axis.bar_label(bars, fmt="%.2f" if i == 0 else "%.0f", padding=3)
    axis.set(title=title)
    axis.spines[["top", "right"]].set_visible(False)
left.invert_yaxis()
plt.show()

# %%
# **Look at** both sides: k-means is cheaper, and no network alone can tell all kinds apart. Time
# grows in proportion to the number of things; what a million would take on your machine is foretold
# by ``manyview inspect image.npy text.npy -k 30``.
