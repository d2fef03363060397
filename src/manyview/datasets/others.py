"""Data sets beyond the LMVSC paper."""

from __future__ import annotations

from manyview.datasets.entry import DatasetInfo, Source
from manyview.datasets.published import (
    COLLECTION_PAGE,
    LANGUAGES,
    RCV1_CITATION,
    RESEARCH_ONLY,
    REUTERS_CITATION,
    REUTERS_WIDTHS,
)

_GITHUB = "https://raw.githubusercontent.com"
_COLLECTION = (
    f"{_GITHUB}/ChuanbinZhang/Multi-view-datasets/03ead31e6538322e4e0701c3c28a01595c1a015d"
)

OTHERS = (
    DatasetInfo(
        name="digits",
        title="scikit-learn's digits in five descriptions; embedded, nothing to download",
        n_samples=1797,
        n_clusters=10,
        view_names=("pixels", "fourier", "gradients", "profiles", "moments"),
        n_features=(64, 40, 72, 48, 12),
        class_counts=(178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
        formats=(),
        homepage="https://archive.ics.uci.edu/dataset/80",
        licence="CC BY 4.0",
        citation="E. Alpaydin, C. Kaynak. Optical Recognition of Handwritten Digits. UCI, 1998.",
    ),
    DatasetInfo(
        name="rcv1-sklearn",
        title="All of RCV1 as scikit-learn gives it; target: each story's rarest topic",
        n_samples=804414,
        n_clusters=103,
        view_names=("terms",),
        n_features=(47236,),
        homepage="https://scikit-learn.org/stable/datasets/real_world.html#rcv1-dataset",
        licence=RESEARCH_ONLY,
        citation=RCV1_CITATION,
        sources=(Source("sklearn.datasets.fetch_rcv1"),),
        is_multilabel=True,
        warning=(
            "'rcv1-sklearn' is not the RCV1 of the LMVSC paper: it has 804414 stories with 47236 "
            "terms and several topics each (target is the rarest of them), the paper 193844 with "
            "1979 terms and one topic. Do not compare scores with the paper's."
        ),
    ),
    DatasetInfo(
        name="reuters600",
        title="600 of the Reuters documents, 100 a class, in the full vocabularies",
        n_samples=600,
        n_clusters=6,
        view_names=LANGUAGES,
        n_features=REUTERS_WIDTHS,
        class_counts=(100,) * 6,
        files=("reuters600.mat",),
        formats=("npz", "mat"),
        homepage="https://github.com/mbrbic/Multi-view-LRSSC",
        licence=RESEARCH_ONLY,
        citation=REUTERS_CITATION,
        sources=(
            Source(
                f"{_GITHUB}/mbrbic/Multi-view-LRSSC/de1a0292ef11a4128df843d5095343080abc2072/"
                "datasets/reuters.mat"
            ),
        ),
    ),
    DatasetInfo(
        name="reuters1200",
        title="1200 of the Reuters documents, 2000 words in each of five languages",
        n_samples=1200,
        n_clusters=6,
        view_names=("english", "french", "german", "spanish", "italian"),
        n_features=(2000,) * 5,
        class_counts=(200,) * 6,
        files=("Reuters-1200.mat",),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        licence=RESEARCH_ONLY,
        citation=REUTERS_CITATION,
        sources=(Source(f"{_COLLECTION}/Reuters-1200.mat"),),
    ),
    DatasetInfo(
        name="scene15",
        title="Pictures of fifteen kinds of scenes",
        n_samples=4485,
        n_clusters=15,
        view_names=("gist", "phog", "lbp"),
        n_features=(20, 59, 40),
        class_counts=(
            *(241, 360, 328, 260, 308, 374, 410, 292, 356, 215, 216, 311, 210, 289, 315),
        ),
        files=("Scene-15.mat", "Scene15.mat"),
        formats=("npz", "mat"),
        homepage="https://github.com/XLearning-SCU/2021-CVPR-Completer",
        citation="S. Lazebnik, C. Schmid, J. Ponce. Beyond bags of features. CVPR 2006.",
        sources=(
            Source(
                f"{_GITHUB}/XLearning-SCU/2021-CVPR-Completer/"
                "8fff5f83d823bbc46c96088bb0c1385ca7b9e560/data/Scene-15.mat"
            ),
        ),
    ),
    DatasetInfo(
        name="leaves100",
        title="Leaves of one hundred plant species, sixteen each",
        n_samples=1600,
        n_clusters=100,
        view_names=("shape", "margin", "texture"),
        n_features=(64, 64, 64),
        class_counts=(16,) * 100,
        files=("100Leaves.mat", "100leaves.mat"),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        licence="CC BY 4.0",
        citation="C. Mallah, J. Cope, J. Orwell. Plant leaf classification. SPPRA 2013.",
        sources=(Source(f"{_COLLECTION}/100Leaves.mat"),),
    ),
    DatasetInfo(
        name="msrcv1",
        title="Pictures of seven kinds of objects (Microsoft Research, Cambridge)",
        n_samples=210,
        n_clusters=7,
        view_names=("colour-moments", "hog", "gist", "lbp", "centrist"),
        n_features=(24, 576, 512, 256, 254),
        class_counts=(30,) * 7,
        files=("MSRC-v5.mat",),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        citation="J. Winn, N. Jojic. LOCUS: learning object classes. ICCV 2005.",
        sources=(Source(f"{_COLLECTION}/MSRC-v5.mat"),),
    ),
    DatasetInfo(
        name="hdigit",
        title="Digits from two sources, MNIST and USPS, paired by class",
        n_samples=10000,
        n_clusters=10,
        view_names=("mnist", "usps"),
        n_features=(784, 256),
        class_counts=(1000,) * 10,
        files=("Hdigit.mat",),
        formats=("npz", "mat"),
        homepage="https://github.com/Machinelearning20/Incomplete-MVC",
        citation="J. Hull. A database for handwritten text recognition research. TPAMI 1994.",
        sources=(
            Source(
                f"{_GITHUB}/Machinelearning20/Incomplete-MVC/"
                "df8983a4bfc29785d7f5e1cb93019cc193979240/data/Hdigit.mat"
            ),
        ),
    ),
    DatasetInfo(
        name="aloi100",
        title="Pictures of one hundred objects from many sides",
        n_samples=10800,
        n_clusters=100,
        view_names=("rgb-4x4x4", "hsb-3x3x3", "rgb-3x3x3", "haralick"),
        n_features=(64, 27, 27, 13),
        class_counts=(108,) * 100,
        homepage="https://aloi.science.uva.nl",
        note="It is read only as aloi100.npz, with arrays view_0 to view_3 and labels.",
        citation="J.-M. Geusebroek, G. Burghouts, A. Smeulders. The ALOI. IJCV 2005.",
    ),
    DatasetInfo(
        name="citeseq_pbmc10x",
        title="Blood cells: raw counts of 1000 genes and of 14 surface proteins",
        n_samples=6661,
        n_clusters=7,
        view_names=("rna", "protein"),
        n_features=(1000, 14),
        class_counts=(602, 1580, 36, 2464, 1112, 39, 828),
        files=("10XPBMC_filtered_1000G.H5",),
        formats=("npz", "hdf5"),
        homepage="https://github.com/xianglin226/scMDC",
        citation="X. Lin et al. Clustering of single-cell multi-omics data. Nat. Commun. 2022.",
        sources=(
            Source(
                f"{_GITHUB}/xianglin226/scMDC/5f354593220d3e583fdc44dd019f55b5e090bff3/"
                "datasets/10XPBMC_filtered_1000G.H5"
            ),
        ),
    ),
    DatasetInfo(
        name="3sources",
        title="News stories reported by three sources, sparse word counts",
        n_samples=169,
        n_clusters=6,
        view_names=("bbc", "guardian", "reuters"),
        n_features=(3560, 3631, 3068),
        class_counts=(56, 21, 11, 18, 51, 12),
        files=("3Sources.mat", "3sources.mat"),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        licence=RESEARCH_ONLY,
        citation="D. Greene, P. Cunningham. A matrix factorization approach. ECML 2009.",
        sources=(Source(f"{_COLLECTION}/3Sources.mat"),),
    ),
    DatasetInfo(
        name="bbcsport",
        title="Sports news cut into two segments, sparse TF-IDF",
        n_samples=544,
        n_clusters=5,
        view_names=("segment-1", "segment-2"),
        n_features=(3183, 3203),
        class_counts=(62, 104, 193, 124, 61),
        files=("BBCSport.mat",),
        formats=("npz", "mat"),
        homepage=COLLECTION_PAGE,
        licence=RESEARCH_ONLY,
        citation="D. Greene, P. Cunningham. Practical solutions to diagonal dominance. ICML 2006.",
        sources=(Source(f"{_COLLECTION}/BBCSport.mat"),),
    ),
)
