"""Each claim of the paper beside what was measured: sentences worked out from the facts of a run.

A finding is a dict: ``title``, ``claim`` (what the paper says), ``measured`` (a list of sentences),
``verdict``, ``scope`` (what the verdict rests on), and ``lines``, the results it was worked out from.
Nothing here is written by hand for one run: other measurements give other sentences.
"""

from __future__ import annotations

from manyview.reproduce import findings_cost, findings_labels, findings_settings
from manyview.reproduce.evidence import Results, Rule
from manyview.reproduce.tables import Facts

RULES: tuple[Rule, ...] = (
    findings_labels.reached,
    findings_labels.gain,
    findings_cost.speed,
    findings_cost.ratios,
    findings_cost.linear_time,
    findings_labels.single_views,
    findings_settings.anchors,
    findings_settings.alphas,
    findings_cost.memory,
    findings_labels.inverse_purity,
    findings_settings.normalisation,
    findings_settings.scaling,
    findings_labels.plain_kmeans,
)
"""One for each claim, in the order of the page."""


def find_all(facts: Facts) -> list[Facts]:
    """Every finding, those that could not be measured too."""
    results = Results(facts)
    return [rule(results) for rule in RULES]
