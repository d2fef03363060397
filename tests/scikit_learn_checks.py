"""The checks of scikit-learn that LMVSC cannot pass, and why: `test_scikit_learn.py` shows it."""

_BY_NUMBER = (
    "rows are drawn by their numbers, so weights equal copies only where anchors are given; "
    "scikit-learn's own KMeans fails, too"
)
_CLASSIFIER = (
    "the check asks what has predict_proba for its classifier_tags, which are None of all that are no "
    "classifiers; a KMeans with predict_proba fails, too"
)

WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
SPARSE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
EXPECTED_TO_FAIL = dict.fromkeys(WEIGHTS, _BY_NUMBER) | dict.fromkeys(SPARSE, _CLASSIFIER)
