"""Made cells of few to many, shallow and deep: as well told apart as by what the field does."""

import warnings

import anndata
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.extmath import randomized_svd

from manyview import metrics, sc

FOLD = 4.0  # of a kind's own columns
EVEN, UNEVEN = (0.2,) * 5, (0.4, 0.3, 0.2, 0.07, 0.03)
ROUNDING = 0.025  # two or three of 240 cells


def draw(base, n_cells, depth, *, own_share, sizes, seed):
    """Counts of cells, each of as many molecules as it has, and the kinds of the cells."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(len(sizes), n_cells, p=sizes)
    factors = np.where(rng.random((len(sizes), len(base))) < own_share, FOLD, 1.0)
    ends = np.cumsum(base * factors, axis=1)
    totals = rng.poisson(depth * np.exp(rng.normal(0, 0.4, n_cells)))
    rows = np.repeat(np.arange(n_cells), totals)
    columns = np.empty(len(rows), np.int64)
    for kind, end in enumerate(ends):
        mine = kinds[rows] == kind
        columns[mine] = np.searchsorted(end, rng.random(mine.sum()) * end[-1])
    parts = np.ones(len(rows), np.float32), (rows, columns)
    return sparse.csr_matrix(parts, shape=(n_cells, len(base))), kinds


def peaks(n_cells, n_peaks, depth, *, own_share=0.02, sizes=EVEN, seed=0):
    base = np.random.default_rng(seed).gamma(0.5, 1.0, n_peaks) + 0.02
    return draw(base, n_cells, depth, own_share=own_share, sizes=sizes, seed=seed)


def genes(n_cells, n_genes, depth, *, own_share=0.03, sizes=EVEN, seed=0):
    base = np.exp(np.random.default_rng(seed).normal(-1, 1.5, n_genes))
    return draw(base, n_cells, depth, own_share=own_share, sizes=sizes, seed=seed)


def by_lsi(X, k):
    """TF-IDF, singular vectors without the first, k-means."""
    seen = (X > 0).astype(np.float64)
    shares = sparse.diags_array(1 / np.asarray(seen.sum(axis=1)).ravel()) @ seen
    rarity = np.log1p(X.shape[0] / np.maximum(np.asarray(seen.sum(axis=0)).ravel(), 1))
    weighted = sparse.csr_array(shares @ sparse.diags_array(rarity))
    weighted.data = np.log1p(1e4 * weighted.data)
    U, S, _ = randomized_svd(weighted, 30, random_state=0)
    return KMeans(k, n_init=10, random_state=0).fit_predict((U * S)[:, 1:])


def by_pca(X, k):
    """The same total for every cell, logarithms, principal components, k-means."""
    totals = np.asarray(X.sum(axis=1)).ravel()
    logs = np.log1p((sparse.diags_array(np.median(totals) / totals) @ X).toarray())
    U, S, _ = randomized_svd(logs - logs.mean(axis=0), 30, random_state=0)
    return KMeans(k, n_init=10, random_state=0).fit_predict(U * S)


def compare(X, kinds, other):
    """Our ARI, and that of another way."""
    cells = anndata.AnnData(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.tl.lmvsc(cells, 5, neighbors=None)
    found = cells.obs["manyview"].astype(int).to_numpy()
    return metrics.ari(kinds, found), metrics.ari(kinds, other(X, 5))


def large(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("n_cells", "n_peaks", "depth", "own_share", "sizes"),
    [
        (240, 12_000, 3000, 0.02, EVEN),
        (240, 12_000, 1000, 0.05, EVEN),
        (500, 12_000, 2000, 0.05, UNEVEN),
        large(200, 2000, 1000, 0.1, EVEN),
        large(240, 50_000, 8000, 0.02, EVEN),
        large(1000, 12_000, 2000, 0.02, EVEN),
        large(1000, 12_000, 60_000, 0.02, EVEN),
        large(5000, 12_000, 1500, 0.02, UNEVEN),
        large(5000, 50_000, 4000, 0.02, EVEN),
    ],
)
def test_peaks_are_told_apart_as_by_lsi(n_cells, n_peaks, depth, own_share, sizes):
    X, kinds = peaks(n_cells, n_peaks, depth, own_share=own_share, sizes=sizes)
    ours, others = compare(X, kinds, by_lsi)
    assert ours >= min(others, 1.0) - ROUNDING


@pytest.mark.parametrize(
    ("n_cells", "n_genes", "depth", "own_share", "sizes"),
    [
        (240, 2000, 1000, 0.03, EVEN),
        (500, 2000, 1500, 0.05, UNEVEN),
        large(200, 3000, 800, 0.05, EVEN),
        large(1000, 2000, 5000, 0.02, EVEN),
        large(5000, 4000, 1000, 0.03, UNEVEN),
    ],
)
def test_genes_are_told_apart_as_by_principal_components(n_cells, n_genes, depth, own_share, sizes):
    X, kinds = genes(n_cells, n_genes, depth, own_share=own_share, sizes=sizes)
    ours, others = compare(X, kinds, by_pca)
    assert ours >= others - ROUNDING
