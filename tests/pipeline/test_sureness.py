"""How sharply a sample's columns say that clusters are told apart."""

import numpy as np
from scipy import sparse

from manyview.pipeline.sureness import as_sparse, find_sharpness
from manyview.stages.scaling import fit_scaler


def test_packed_probabilities_become_columns():
    packed = np.array([[2.0, 0.0, 0.7, 0.2], [1.0, 2.0, 0.6, 0.4]])
    assert as_sparse(packed, 3).toarray().tolist() == [[0.2, 0.0, 0.7], [0.0, 0.6, 0.4]]


def sharpness_of(columns, embedding, centers):
    scalers = [fit_scaler(columns, name="x", kind="standard")]
    return find_sharpness([columns], embedding, centers, scalers=scalers, view_weights=np.ones(1))


def test_clusters_that_overlap_in_the_columns_are_told_apart_less_sharply():
    rng = np.random.default_rng(0)
    groups, noise = np.arange(200) % 2, rng.normal(size=(200, 3))
    centers = np.array([[0.0], [1.0]])
    embedding = centers[groups] + 0.1 * rng.normal(size=(200, 1))
    near = sharpness_of(noise + 2.0 * groups[:, None], embedding, centers)
    far = sharpness_of(noise + 6.0 * groups[:, None], embedding, centers)
    assert near < far


def test_clusters_of_single_rows_have_a_sharpness():
    columns = np.arange(6.0).reshape(3, 2)
    assert np.isfinite(sharpness_of(columns, np.eye(3), np.eye(3)))


def test_sparse_rows_that_are_alike_have_a_sharpness():
    columns, groups = sparse.csr_array(np.tile(np.eye(1, 30), (20, 1))), np.arange(20) % 2
    assert np.isfinite(sharpness_of(columns, np.eye(2)[groups], np.eye(2)))
