"""Fusing: columns scaled after summing are columns scaled before."""

from __future__ import annotations

import numpy as np
import pytest

from manyview.stages.fusion import column_scales, fused_gram, normalised


@pytest.mark.parametrize("degree_norm", [True, False])
def test_scaling_sums_is_scaling_rows(degree_norm):
    rng = np.random.default_rng(0)
    graphs = [rng.dirichlet(np.ones(m), 50) for m in (4, 7)]
    weights = [0.3, 0.7]
    power = -0.5 if degree_norm else 0.0
    fused = np.hstack(
        [np.sqrt(w) * Z * Z.sum(axis=0) ** power for w, Z in zip(weights, graphs, strict=True)]
    )
    Z = np.hstack(graphs)
    scales = column_scales(Z.sum(axis=0), [4, 7], weights, degree_norm=degree_norm)
    gram = fused_gram(np.triu(Z.T @ Z), scales)
    assert np.allclose(gram, fused.T @ fused, rtol=1e-12, atol=1e-14)
    assert np.allclose(gram, gram.T, rtol=1e-15, atol=0)


def test_only_the_upper_triangle_is_read():
    gram = np.array([[2.0, 1.0], [99.0, 3.0]])
    assert fused_gram(gram, np.ones(2)).tolist() == [[2.0, 1.0], [1.0, 3.0]]


def test_a_graph_with_degrees_has_spectral_norm_one():
    rng = np.random.default_rng(0)
    Z = rng.dirichlet(np.ones(6), 80)
    scales = column_scales(Z.sum(axis=0), [6], [1.0], degree_norm=True)
    values = np.linalg.eigvalsh(fused_gram(Z.T @ Z, scales))
    assert values[-1] == pytest.approx(1.0, rel=1e-12)


def test_an_anchor_without_rows_has_no_say():
    scales = column_scales(np.array([4.0, 0.0]), [2], [1.0], degree_norm=True)
    assert scales.tolist() == [0.5, 0.0]


def test_normalised_weights_sum_to_one():
    assert normalised([1, 3]).tolist() == [0.25, 0.75]
