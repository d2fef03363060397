"""
Embeddings: images and their texts
==================================

A recipe for large collections of embeddings: a million items, each with an image embedding (512
numbers) and a text embedding (768), in 2.6 GB of half-precision files. The embeddings are synthetic:
every item belongs to one of thirty kinds, and each network confuses some kinds that the other can
tell apart.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans

from manyview import LMVSC, metrics
from manyview.engines import Disk
from manyview.machine import PeakMemory

N, K, BLOCK = 1_000_000, 30, 10_000
rng = np.random.default_rng(0)
kind = rng.integers(K, size=N)


def write(name, width, seen):
    """Unit rows around the centres of the kinds that this network sees, block by block."""
    centres = rng.normal(size=(K, width)).astype(np.float32)[seen]
    rows = np.lib.format.open_memmap(name, "w+", np.float16, (N, width))
    for start in range(0, N, BLOCK):
        block = centres[kind[start : start + BLOCK]]
        block += 4.5 * rng.standard_normal(block.shape, dtype=np.float32)
        rows[start : start + BLOCK] = block / np.linalg.norm(block, axis=1, keepdims=True)


pairs = np.arange(K)
write("image.npy", 512, np.where(pairs < 12, pairs // 2, pairs))  # kinds 0 and 1 look alike, ...
write("text.npy", 768, np.where(pairs >= 18, pairs // 2, pairs))  # 18 and 19 read alike, ...
files = {"image": "image.npy", "text": "text.npy"}

# %%
# The views stay in their files and are read block by block, within a memory limit. The memory
# printed below is the peak during the fit, beyond what the process held before.

results = {}


def measure(name, fit):
    """Note the NMI, seconds of CPU and gigabytes of a fit."""
    start = time.process_time()
    with PeakMemory() as memory:
        labels = fit()
    seconds = time.process_time() - start
    results[name] = metrics.nmi(kind, labels), seconds, memory.bytes / 1e9
    print(f"{name}: NMI {results[name][0]:.2f}, {seconds:.0f} s, {results[name][2]:.2f} GB")


model = LMVSC(K, random_state=0, engine=Disk(memory_limit="1 GB"))
measure("manyview", lambda: model.fit(files).labels_)

# %%
# ``MiniBatchKMeans`` is the usual choice. It reads the same files block by block, three times over,
# with each network's embeddings alone and with both side by side.


def cluster_in_batches(*names):
    """Labels by k-means of some of the files."""
    views = [np.load(files[name], mmap_mode="r") for name in names]
    blocks = range(0, N, BLOCK)

    def read(start):
        return np.hstack([view[start : start + BLOCK] for view in views]).astype(np.float32)

    model = MiniBatchKMeans(K, n_init=3, random_state=0)
    for start in [*blocks] * 3:
        model.partial_fit(read(start))
    return np.concatenate([model.predict(read(start)) for start in blocks])


measure("k-means, image", lambda: cluster_in_batches("image"))
measure("k-means, text", lambda: cluster_in_batches("text"))
measure("k-means, both", lambda: cluster_in_batches("image", "text"))

# %%

figure, axes = plt.subplots(
    1, 3, figsize=(10, 2.8), layout="constrained", sharey=True,
    num="NMI, seconds and memory of manyview and of k-means in batches on made embeddings",
)  # fmt: skip
colours = ["#3b7ddd"] + ["#9aa7b8"] * 3
for i, title in enumerate(("NMI", "seconds of CPU", "GB of memory")):
    bars = axes[i].barh(list(results), [values[i] for values in results.values()], color=colours)
    axes[i].bar_label(bars, fmt="%.0f" if i == 1 else "%.2f", padding=3)
    axes[i].set(title=title)
    axes[i].margins(x=0.2)
    axes[i].spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
plt.show()

# %%
# **Look at** all three panels. Neither network alone can tell all kinds apart. Mini-batch k-means takes
# less than a third of the time, but misses some kinds even with both views. Most of the memory
# counted for it is cached pages of the files, which the system can take back.
# ``manyview inspect image.npy text.npy -k 30`` estimates the cost of a fit beforehand.
