"""
Topics: BERTopic with two embeddings
====================================

`BERTopic <https://maartengr.github.io/BERTopic>`_ finds topics in documents in exchangeable steps:
embeddings, clusters, words for each cluster. ``LMVSC`` can be its clusterer, and use two embeddings at
once. The documents here are the docstrings of NumPy, SciPy, scikit-learn and pandas, which are
already on your machine. Instead of two language models, scikit-learn embeds words and parts of
words, so no GPU is needed. This page needs ``pip install bertopic``.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from manyview import LMVSC, metrics

MODULES = [
    "numpy.linalg", "numpy.fft", "numpy.random", "scipy.stats", "scipy.signal", "scipy.optimize",
    "scipy.sparse", "scipy.spatial", "scipy.ndimage", "sklearn.metrics", "sklearn.linear_model",
    "sklearn.cluster", "sklearn.datasets", "sklearn.feature_extraction.text", "pandas",
]  # fmt: skip
documents, module_of = [], []
for module in MODULES:
    for name, thing in sorted(vars(importlib.import_module(module)).items()):
        text = inspect.getdoc(thing) if callable(thing) and not name.startswith("_") else None
        if text and len(text) > 200 and text not in documents:
            documents.append(text)
            module_of.append(module)
print(len(documents), "docstrings")

# %%
# BERTopic passes on a single array, so the two embeddings go side by side; ``views`` says which
# columns are which.

words = TfidfVectorizer(sublinear_tf=True, min_df=3, max_df=0.3, stop_words="english")
parts = TfidfVectorizer(
    sublinear_tf=True, min_df=5, max_df=0.3, analyzer="char_wb", ngram_range=(4, 5)
)
embeddings = [
    make_pipeline(way, TruncatedSVD(80, random_state=0)).fit_transform(documents)
    for way in (words, parts)
]
topics = BERTopic(
    umap_model=BaseDimensionalityReduction(),  # LMVSC needs no map
    hdbscan_model=LMVSC(12, views={"words": slice(0, 80), "parts": slice(80, 160)}, random_state=0),
    vectorizer_model=CountVectorizer(stop_words="english", token_pattern=r"[a-z]{4,}", min_df=3),
)
found, _ = topics.fit_transform(documents, np.hstack(embeddings))
for topic in sorted(set(found)):
    names = ", ".join(word for word, _ in topics.get_topic(topic)[:6])
    print(f"{topic:3} {found.count(topic):5}  {names}")
print(f"NMI with the modules: {metrics.nmi(module_of, found):.2f}")

# %%

modules, kinds = sorted(set(module_of)), sorted(set(found))
table = np.zeros((len(modules), len(kinds)))
np.add.at(table, ([modules.index(m) for m in module_of], [kinds.index(t) for t in found]), 1)
table /= table.sum(axis=1, keepdims=True)

figure, axes = plt.subplots(
    figsize=(9, 5),
    layout="constrained",
    num="Topics of docstrings against the modules they come from",
)
axes.imshow(table, cmap="Blues", aspect="auto")
axes.set_yticks(range(len(modules)), modules)
names = [", ".join(word for word, _ in topics.get_topic(topic)[:2]) for topic in kinds]
axes.set_xticks(range(len(kinds)), names, rotation=45, ha="right")
plt.show()

# %%
# **Look at** the rows: most modules have one or two topics. Modules that share a column do similar
# things, whoever wrote them. With language models, put the embeddings of two of them side by side in
# the same way: for example one trained on your field and one general model.
