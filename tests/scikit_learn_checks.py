"""The checks of scikit-learn that LMVSC cannot pass, and why."""

_BY_NUMBER = "rows are drawn by their numbers, so weights equal copies only where anchors are given"
_CLASSIFIER = (
    "the check takes what has predict_proba and sparse input for a classifier of 4 classes"
)

EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": _BY_NUMBER,
    "check_sample_weight_equivalence_on_sparse_data": _BY_NUMBER,
    "check_estimator_sparse_array": _CLASSIFIER,
    "check_estimator_sparse_matrix": _CLASSIFIER,
}
