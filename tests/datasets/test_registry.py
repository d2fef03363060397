import pytest

from manyview import datasets

PAPER = {
    "handwritten": (2000, 10, (216, 76, 64, 6, 240, 47)),
    "caltech101-7": (1474, 7, (48, 40, 254, 1984, 512, 928)),
    "caltech101-20": (2386, 20, (48, 40, 254, 1984, 512, 928)),
    "reuters": (18758, 6, (21531, 24892, 34251, 15506, 11547)),
    "nus-wide-object": (30000, 31, (65, 226, 145, 74, 129)),
    "mnist": (70000, 10, (784,)),
    "rcv1": (193844, 103, (1979,)),
    "covtype": (581012, 7, (54,)),
}


def test_the_papers_data_sets_have_the_papers_shapes():
    found = {
        name: (info.n_samples, info.n_clusters, info.n_features)
        for name in datasets.names()
        if (info := datasets.info(name)).is_published
    }
    assert found == PAPER


def test_the_other_data_sets_are_listed():
    others = (
        "reuters600 reuters1200 scene15 leaves100 msrcv1 hdigit aloi100 citeseq_pbmc10x 3sources "
        "bbcsport digits rcv1-sklearn wikipedia prokaryotic bdgp2 tdt2 citeseq_gse100866 acm adt13 "
        "yale orl movies bbc4view proteinfold webkb coil20 reuters1500 uci-digits nus-wide-animals "
        "outdoor-scene cora citeseer mnist-4 caltech101-all mnist-10k animal aloi1000 ccv sunrgbd awa "
        "youtubeface"
    )
    assert {*others.split(), *PAPER} == set(datasets.names())


@pytest.mark.parametrize("name", datasets.names())
def test_entries_are_consistent(name):
    info = datasets.info(name)
    assert info.name == name
    assert len(info.view_names) == len(set(info.view_names)) == len(info.n_features)
    assert all(len(widths) == len(info.n_features) for widths in info.other_widths)
    assert info.title and info.licence and info.citation
    assert info.homepage or info.note


@pytest.mark.parametrize("name", [n for n in datasets.names() if datasets.info(n).class_counts])
def test_class_counts_add_up(name):
    info = datasets.info(name)
    assert sum(info.class_counts) == info.n_samples
    assert len(info.class_counts) == info.n_clusters


@pytest.mark.parametrize("name", datasets.names())
def test_only_a_checksum_makes_an_address_verified(name):
    for source in datasets.info(name).sources:
        is_verified = source.status == "verified"
        assert is_verified == (source.sha256 is not None)
        assert not (is_verified and source.address.endswith("/"))  # of which file would it be?
        assert source.sha256 is None or len(source.sha256) == 64
        assert source.address.startswith(("https://", "sklearn."))


def test_rcv1_of_scikit_learn_says_that_it_is_not_the_papers():
    assert not datasets.info("rcv1-sklearn").is_published
    assert "not the RCV1 of the LMVSC paper" in datasets.info("rcv1-sklearn").warning
    assert "rcv1-sklearn" in datasets.info("rcv1").note


def test_unknown_names_get_a_suggestion():
    with pytest.raises(ValueError, match=r"No data set 'Covtype'\. Did you mean 'covtype'\?"):
        datasets.info("Covtype")
    with pytest.raises(ValueError, match=r"No data set 'zzz'\. The names are: handwritten, "):
        datasets.info("zzz")
