"""
A Dask cluster
==============

Dask arrays are clustered where they are, on the workers of a cluster; only small sums travel. Here
the cluster is two processes on one machine. The labels are exactly those of a fit on one machine,
however the rows are chunked. This page needs ``manyview[dask]``.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, get_task_stream

from manyview import LMVSC, datasets

made = datasets.make_views(60_000, 5, (16, 24), separation=3.0, dtype=np.float32, random_state=0)
settings = {"n_clusters": 5, "n_anchors": 60, "n_repeats": 1, "random_state": 0}

with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
    views = {name: client.persist(da.from_array(X, chunks=(8192, -1))) for name, X in made.items()}
    with get_task_stream(client) as stream:
        model = LMVSC(**settings).fit(views)
    print(model.labels_)
    labels = model.labels_.compute()

one = LMVSC(**settings).fit(made)
print("the labels of one machine:", bool((labels == one.labels_).all()))

# %%
# Which worker did what: one stripe per task, in the order in which the tasks finished. Tasks are
# named after the stages of the fit.

stages = ["sample", "graph", "embedding", "k-means", "labels"]
colours = dict(zip(stages, ("#5f6b7a", "#3b7ddd", "#2ca47c", "#e69f00", "#b04a5a"), strict=True))
done = sorted(stream.data, key=lambda task: task["startstops"][-1]["stop"])
workers = sorted({task["worker"] for task in done})

figure, axes = plt.subplots(
    figsize=(9, 2.6), layout="constrained", num="Tasks of a fit on two workers, in their order"
)
for place, task in enumerate(done):
    stage = next((name for name in stages if f"manyview-{name}" in str(task["key"])), None)
    axes.barh(workers.index(task["worker"]), 1, left=place, color=colours.get(stage, "#d5dbe3"))
for stage, colour in (colours | {"other": "#d5dbe3"}).items():
    axes.plot([], [], lw=8, color=colour, label=stage)
axes.set(xlabel="tasks done", yticks=range(len(workers)), yticklabels=["worker 1", "worker 2"])
axes.legend(ncols=6, loc="upper center", bbox_to_anchor=(0.5, 1.3), frameon=False)
plt.show()

# %%
# **Look at** how both workers take part in every stage. Between stages the sums are collected and a
# small eigenproblem is solved. On a real cluster the rows stay where they are, and a worker that dies
# costs only time: see :doc:`/guides/dask`.
