"""
Tables: customers from a spreadsheet
====================================

A spreadsheet like those people keep: names, towns, plans, dates, survey answers, remarks and gaps.
No column needs preparing. The table is synthetic (``examples/make_customers.py``), so the three kinds
of customers in it are known. This page needs pandas and openpyxl, and is run in a clone.
"""

import warnings

import matplotlib.pyplot as plt
import pandas as pd

from manyview import LMVSC, metrics

table = pd.read_excel("examples/customers.xlsx")
print(table.head(4).to_string(max_colwidth=14))

# %%
# ``encodings_`` says what became of each column. Identifiers, free text and constants are left out;
# a warning names them, which is silenced here.

kinds = table.pop("group")
with warnings.catch_warnings(action="ignore"):
    model = LMVSC(n_clusters=3, random_state=0).fit(table)
for column, became in model.encodings_[0].summary().items():
    print(f"{column:11}{became:.100}")
print(f"\naccuracy {metrics.accuracy(kinds, model.labels_):.2f}")

# %%
# What sets the clusters apart, in the table's own words:

print(model.explain(table))

# %%

figure, axes = plt.subplots(
    figsize=(7, 3.6), layout="constrained", num="Visits and spending of customers in three clusters"
)
for cluster, colour in enumerate(("#3b7ddd", "#e69f00", "#2ca47c")):
    rows = table[model.labels_ == cluster]
    axes.scatter(rows["visits"], rows["spent"], color=colour, s=18, label=f"cluster {cluster}")
axes.set(yscale="log", xlabel="visits", ylabel="spent")
axes.legend()
axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# **Look at** the places where colours mix: visits and spending alone could not separate these
# customers; plan, date and answers do. On the command line, the same is
# ``manyview fit customers.xlsx --id-column customer --drop group -k 3``. More in
# :doc:`/guides/data_frames`.
