"""
Data larger than memory
=======================

Two views in files, and a limit on the memory that their rows may take. To keep this page quick the
files are small (192 MB) and the limit is smaller still (100 MB). Every label is the same as in a fit
in memory.
"""

import matplotlib.pyplot as plt
import numpy as np

from manyview import LMVSC
from manyview.engines import Disk

N = 400_000
for name, width, seed in (("image", 80, 0), ("sound", 40, 1)):
    rng = np.random.default_rng(seed)
    centres = 2.5 * rng.normal(size=(6, width)).astype("float32")
    rows = np.lib.format.open_memmap(f"{name}.npy", "w+", np.float32, (N, width))
    for start in range(0, N, 50_000):
        kind = np.arange(start, start + 50_000) % 6
        rows[start : start + 50_000] = centres[kind] + rng.normal(size=(50_000, width))
    rows.flush()
    del rows
files = {"image": "image.npy", "sound": "sound.npy"}

# %%
# Fewer anchors than the default save time; ``track_memory`` records what the process holds at each
# stage.

settings = {"n_clusters": 6, "n_anchors": 60, "n_repeats": 1, "random_state": 0, "n_jobs": 1}
engine = Disk(memory_limit="100 MB", track_memory=True)
model = LMVSC(**settings, engine=engine).fit(files)
print(np.bincount(model.labels_))
memory = LMVSC(**settings, engine="memory").fit({k: np.load(v) for k, v in files.items()})
print("the labels of a fit in memory:", bool((model.labels_ == memory.labels_).all()))

# %%

held = {stage: value / 1e6 for stage, value in model.stage_memory_.items()}
figure, axes = plt.subplots(
    figsize=(8, 3.2),
    layout="constrained",
    num="Memory that the process holds at each stage of a fit",
)
bars = axes.barh(list(held), list(held.values()), color="#3b7ddd")
axes.bar_label(bars, fmt="%.0f", padding=3)
axes.invert_yaxis()
axes.set(xlabel="MB held by the process")
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# **Look at** how little changes between stages: most of the memory is Python and its libraries, and
# ten times as many rows would need larger files but hardly more memory. :doc:`/guides/larger` covers
# limits, checkpoints and other formats, :doc:`/explanation/scaling` the costs.
