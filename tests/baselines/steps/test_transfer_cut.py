import numpy as np
from scipy import linalg, sparse

from manyview.baselines.steps.transfer_cut import fit_transfer_cut


def make_graph():
    rng = np.random.default_rng(0)
    return sparse.csr_array(np.kron(np.eye(3), np.ones((10, 4))) + 0.05 * rng.random((30, 12)))


def test_rows_are_those_of_the_whole_graphs_normalised_cut():
    B = make_graph()
    cut = fit_transfer_cut(B, 3, n_init=5, max_iter=20, rng=np.random.default_rng(0))
    dense = B.toarray()
    W = np.block([[np.zeros((30, 30)), dense], [dense.T, np.zeros((12, 12))]])
    _, F = linalg.eigh(np.diag(W.sum(axis=0)) - W, np.diag(W.sum(axis=0)))
    rows = dense @ cut.vectors / dense.sum(axis=1, keepdims=True)
    for column, expected in zip(rows.T, F[:30, :3].T, strict=True):
        correlation = column @ expected / np.linalg.norm(column) / np.linalg.norm(expected)
        assert abs(correlation) > 1 - 1e-9


def test_clusters_of_a_graph_of_blocks_are_its_blocks():
    B = make_graph()
    cut = fit_transfer_cut(B, 3, n_init=5, max_iter=20, rng=np.random.default_rng(0))
    assert len(set(zip(np.repeat([0, 1, 2], 10), cut.label(B), strict=True))) == 3


def test_rows_without_edges_do_no_harm():
    B = make_graph().tolil()
    B[3] = 0
    cut = fit_transfer_cut(B.tocsr(), 3, n_init=1, max_iter=5, rng=np.random.default_rng(0))
    assert np.isfinite(cut.embed(B.tocsr())).all()
