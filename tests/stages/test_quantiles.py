"""Normal scores of values, by a table of sampled ones."""

import numpy as np

from manyview.stages.quantiles import sample_quantiles


def test_scores_are_linear_between_the_values_of_a_table_however_these_lie():
    rng = np.random.default_rng(0)
    large = rng.choice([-1e150, 0.0, 5.0, 1e150], 500)
    sample = np.c_[
        rng.standard_cauchy(500), rng.integers(0, (2, 3), (500, 2)), np.zeros(500), large
    ]
    table = sample_quantiles(sample)
    between = np.vstack([sample, 1.1 * sample, sample[:1] - 1.0])
    for j, found in enumerate(table.scores_of(between).T):
        values, first = np.unique(table.values[j], return_index=True)
        expected = np.interp(between[:, j], values, table.scores[j][first])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
