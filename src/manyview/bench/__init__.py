"""Methods and data compared: any clusterer, any data, fairly, in child processes, resumable.

``compare`` runs what has no result line yet; ``Results`` are tables, ranks and pictures of the lines.
"""

from manyview.bench.methods import Method
from manyview.bench.results import Results
from manyview.bench.run import compare

__all__ = ["Method", "Results", "compare"]
