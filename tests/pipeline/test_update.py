"""Parts of models that new clusters extend."""

import numpy as np
from scipy import sparse

from manyview.pipeline.update import extend_embedding
from manyview.stages.embedding import COMMUNITY_WEIGHT, Embedding
from manyview.stages.graph import AnchorGraph, GraphTile
from manyview.stages.hierarchy import Hierarchy, extend_tree, grow


def graph(m, repeat):
    return AnchorGraph((0,), (1.0,), np.zeros((m, 2)), alpha=1.0, locality=0.0, repeat=repeat)


def test_rows_that_use_no_new_anchor_keep_their_embedding_and_others_have_a_column_of_their_own():
    rng = np.random.default_rng(0)
    old = Embedding(
        (rng.random((5, 3)), rng.random((5, 2))),
        rotation=np.linalg.qr(rng.normal(size=(5, 4)))[0],
        communities=(rng.random((5, 2)), rng.random((5, 3))),
        n_searches=2,
    )
    graphs = [graph(2, 0), graph(3, 0), graph(2, 1), graph(3, 1)]
    new = extend_embedding(old, graphs, [[1], [2], [1], [2]])
    known = [0, 1, 3, 4, 5]  # places of the old anchors among all
    Z = sparse.csr_array(rng.random((4, 5)))
    wide = np.zeros((5, 8))
    wide[:4, known] = Z.toarray()
    wide[4, [2, 6, 7]] = 1.0
    rows = new.rows(GraphTile((sparse.csr_array(wide),) * 2, 0))
    before = old.rows(GraphTile((Z, Z), 0))
    np.testing.assert_allclose(rows[:4, [0, 1, 2, 3, 5, 6, 8, 9, 10]], before, atol=1e-12)
    assert not rows[:4, [4, 7, 11]].any()
    expected = np.zeros(12)
    expected[[4, 7, 11]] = 1.0, *[COMMUNITY_WEIGHT / np.sqrt(2)] * 2
    np.testing.assert_allclose(rows[4], expected, atol=1e-12)


def test_a_tree_with_a_new_cluster_has_the_old_merges_and_is_nested():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 40.0]])
    rows = np.repeat(centers, 30, axis=0) + rng.normal(size=(90, 2))
    labels = np.repeat([0, 1, 2], 30).astype(np.int32)
    old = grow(rows[:60], labels[:60], centers[:2])
    tree = extend_tree(old, [rows[60:]], centers, np.full(3, 30.0))
    assert isinstance(tree, Hierarchy)
    leaves = tree.nearest(rows, labels)
    np.testing.assert_array_equal(tree.groups(3)[leaves], labels)
    np.testing.assert_array_equal(tree.groups(2)[leaves], np.repeat([0, 0, 1], 30))
    fine, n = tree.groups(len(old.leaves) + 1), len(old.leaves)
    assert len(np.unique(fine[:n])) < n  # merges of both old and new leaves come first
    for count in range(1, len(tree.leaves)):
        coarse, finer = tree.groups(count), tree.groups(count + 1)
        assert all(len(np.unique(coarse[finer == group])) == 1 for group in range(count + 1))
