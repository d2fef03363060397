"""
Text: documents in five languages, some of them missing
=======================================================

1200 news stories in English, French, German, Spanish and Italian, 2000 words of each language. In
practice few documents are translated into all languages. Here more and more translations are taken
away at random; every document keeps at least one.
"""

import matplotlib.pyplot as plt
import numpy as np

from manyview import LMVSC, Views, datasets, metrics

views = datasets.load("reuters1200", download="unverified")
print(views)

# %%
# What is missing is told by a mask, by rows of NaN, or by tables that share only some ids. Nothing
# is imputed, and no document is left out: each is placed by what it has.

rng = np.random.default_rng(0)
draws = rng.random((1200, 5))
draws[np.arange(1200), rng.integers(5, size=1200)] = 1.0  # each keeps one
shares = [0.0, 0.25, 0.5, 0.75]
scores = []
for share in shares:
    present = draws >= share
    model = LMVSC(n_clusters=6, random_state=0).fit(Views(views, present=present))
    scores.append(metrics.nmi(views.target, model.labels_))
    whole = present.all(axis=1).sum()
    print(
        f"{share:.0%} taken away: {whole:4} documents are whole, NMI of all 1200: {scores[-1]:.2f}"
    )

# %%
# A new document is labelled from any of its languages:

german = {"german": views["german"][:5]}
print(model.predict(german))

# %%

figure, axes = plt.subplots(
    figsize=(7, 3.4), layout="constrained", num="NMI against the share of translations taken away"
)
axes.plot(shares, scores, "o-", color="#3b7ddd")
axes.set(xlabel="share of translations taken away", ylabel="NMI with six topics", ylim=(0, 0.6))
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# **Look at** what is lost: less than a fourth, whatever is taken away; even with three quarters
# gone, when seven documents are left that a method for complete data could use. The
# topics are hard to tell by words in any language, and this is one seed, so the line is not smooth.
# Many seeds, and other methods for missing views: :doc:`/guides/missing`.
