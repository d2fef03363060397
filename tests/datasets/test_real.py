"""The real data sets, where this machine has them."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manyview import datasets

FOLDER = os.environ.get("MANYVIEW_DATA")
NAMES = [name for name in datasets.names() if name not in ("digits", "rcv1-sklearn")]

pytestmark = pytest.mark.skipif(not FOLDER, reason="MANYVIEW_DATA names no folder of real data")


def load_if_here(name):
    if not (Path(FOLDER) / f"{name}.npz").exists():
        pytest.skip(f"{name}.npz is not in the folder named by MANYVIEW_DATA")
    return datasets.load(name, download=False)


@pytest.mark.parametrize("name", NAMES)
def test_real_data_is_as_registered(name):
    views, info = load_if_here(name), datasets.info(name)
    assert views.names == info.view_names
    assert views.n_features == info.n_features
    assert views.target.dtype == np.int32
    assert views.target.min() == 0
    assert len(np.unique(views.target)) == info.n_clusters


@pytest.mark.parametrize("name", ["3sources", "bbcsport", "reuters600", "reuters1200", "tdt2"])
def test_text_stays_sparse(name):
    assert all(isinstance(array, sparse.csr_array) for array in load_if_here(name).arrays)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("mnist", np.uint8),
        ("covtype", np.int16),
        ("hdigit", np.uint8),
        ("citeseq_gse100866", np.uint16),
        ("acm", np.uint8),
        ("adt13", np.int32),
    ],
)
def test_whole_numbers_stay_small(name, dtype):
    assert all(array.dtype == dtype for array in load_if_here(name).arrays)


def test_handwritten_comes_in_order_of_its_classes():
    assert np.array_equal(load_if_here("handwritten").target, np.repeat(np.arange(10), 200))


def test_mnist_starts_with_the_training_digits():
    views = load_if_here("mnist")
    assert views.target[:5].tolist() == [5, 0, 4, 1, 9]
    assert views.target[60000:60005].tolist() == [7, 2, 1, 0, 4]


def test_covtype_starts_as_at_uci():
    views = load_if_here("covtype")
    assert views.arrays[0][0, :10].tolist() == [2596, 51, 3, 258, 0, 510, 221, 232, 148, 6279]
    assert views.target[0] == 4
