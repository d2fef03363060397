"""Counts of molecules are known by their look, however they are stored; other whole numbers are not."""

import numpy as np
import pytest
from scipy import sparse

from manyview.stages.counts import rarity, recognise_counts, row_totals
from manyview.views.selection import PartialView, number_present


def genes(n=150, d=400, seed=0):
    """Counts of genes: few molecules of most, many of some, in cells of different depth."""
    rng = np.random.default_rng(seed)
    means = np.exp(rng.normal(-2, 2, d)) * np.exp(rng.normal(0, 0.5, (n, 1)))
    return rng.poisson(rng.gamma(2.0, means / 2.0)).astype(np.float32)


def proteins(n=150, d=10, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(2.0, np.exp(rng.normal(5, 1, d)) / 2.0, (n, d))).astype(np.int64)


def words(n=150, d=2000, seed=0):
    """Words of news without those that all have: Zipf's law."""
    rng = np.random.default_rng(seed)
    return rng.poisson(np.minimum(6.0 / np.arange(1, d + 1), 0.5), (n, d))


def peaks(n=40, d=12_000, seed=0):
    rng = np.random.default_rng(seed)
    return sparse.random_array(
        (n, d),
        density=0.07,
        format="csr",
        rng=rng,
        data_sampler=lambda size: 1 + (rng.random(size) < 0.2),
    )


def kinds(*arrays):
    return [found and found[0] for found in recognise_counts(arrays)]


class TestRecognised:
    def test_genes_and_proteins_beside_them(self):
        assert kinds(genes(), proteins()) == ["lognorm", "clr"]

    def test_peaks_and_proteins_beside_them(self):
        assert kinds(peaks(), proteins(n=40)) == ["tf-idf", "clr"]

    @pytest.mark.parametrize("convert", [sparse.csr_array, np.float64, np.int16, np.asfortranarray])
    def test_storage_does_not_matter(self, convert):
        assert kinds(convert(genes()), proteins()) == ["lognorm", "clr"]

    def test_nearly_whole_numbers_are_counts(self):
        nearly = genes() + np.float32(1e-5) * (genes() > 0)
        assert kinds(nearly, proteins()) == ["lognorm", "clr"]

    def test_cells_that_lack_genes_do_not_count(self):
        there = np.arange(150) % 3 > 0
        some = PartialView(genes()[there], number_present(there))
        assert kinds(some, proteins()) == ["lognorm", "clr"]

    def test_peaks_that_are_all_one_beside_genes_or_proteins(self):
        binary = (peaks() > 0).astype(np.float32)
        assert kinds(binary, proteins(n=40)) == ["tf-idf", "clr"]
        assert kinds(genes(n=40, d=6000), binary) == ["lognorm", "tf-idf"]
        assert recognise_counts([binary], are_cells=True)[0][0] == "tf-idf"

    def test_genes_alone_where_cells_have_more_of_them_than_texts_have_words(self):
        assert kinds(genes(d=6000)) == ["lognorm"]

    @pytest.mark.parametrize("kind", [None, "tf-idf"])
    def test_stored_zeros_do_not_matter(self, kind):
        few = peaks(n=20) if kind else sparse.csr_array(np.eye(20, 12_000))
        padded = few + sparse.csr_array(np.eye(20, 12_000) + 1)  # every place is stored
        padded.data[:] = few.toarray().ravel()
        assert padded.nnz > few.nnz
        assert kinds(few) == kinds(padded) == [kind]

    @pytest.mark.parametrize("name", ["citeseq_pbmc10x", "citeseq_gse100866"])
    def test_real_cells(self, name, data):
        assert kinds(*data(name)[:2000].arrays) == ["lognorm", "clr"]


class TestOtherNumbers:
    @pytest.mark.parametrize(
        "other",
        [
            lambda: proteins(),  # alone, they may be any table
            lambda: words(),
            lambda: words() > 0,
            lambda: (peaks() > 0).astype(np.float32),  # 840 marks a row: words of long texts?
            lambda: np.random.default_rng(0).integers(0, 256, (150, 300)) * (words(d=300) > 0),
            lambda: -genes(),
            lambda: genes() / 3.0,
            lambda: np.zeros((20, 200)),
            lambda: np.eye(200),
            lambda: sparse.csr_array((20, 200)),
        ],
    )
    def test_they_are_not_taken_for_counts_of_molecules(self, other):
        assert kinds(other()) == [None]

    def test_views_beside_genes_that_are_no_counts_stay_open(self):
        pixels = np.random.default_rng(0).integers(0, 256, (150, 30))
        found = kinds(genes(), proteins(), pixels, np.log1p(proteins()))
        assert found == ["lognorm", "clr", None, None]

    def test_a_few_numbers_beside_marks_of_long_texts(self):
        years = np.random.default_rng(0).integers(1990, 2020, (40, 3))
        assert kinds((peaks() > 0).astype(np.int8), years) == [None, None]

    def test_texts_with_all_their_small_words(self):
        """As CountVectorizer counts them: some words are in nearly all texts, several times."""
        rng = np.random.default_rng(0)
        text = rng.poisson(np.minimum(40.0 / np.arange(1, 3001), 12.0), (150, 3000))
        assert np.sort(text.mean(axis=0))[-5] > 3
        assert kinds(text) == [None]

    @pytest.mark.parametrize(
        "name",
        ["3sources", "acm", "handwritten", "hdigit", "msrcv1", "tdt2"],
    )
    def test_real_words_pixels_and_tables(self, name, data):
        arrays = data(name)[:2000].arrays
        assert kinds(*arrays) == [None] * len(arrays)


class TestParts:
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_totals_are_never_zero(self, convert):
        assert row_totals(convert(np.array([[1.0, -2.0], [0.0, 0.0]]))).tolist() == [3.0, 1.0]

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_what_few_rows_have_counts_for_more(self, convert):
        weights = rarity(convert(np.array([[1.0, 1.0, 0.0], [2.0, 0.0, 0.0]])))
        assert weights == pytest.approx(np.log([2.0, 3.0, 3.0]))
