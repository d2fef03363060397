"""True labels: numbered whatever they are, compared with clusters, merged where they are many."""

import numpy as np
import pytest

from manyview import metrics
from manyview.report.classes import (
    N_COLOURED,
    Classes,
    compare_with_classes,
    encode_classes,
    match_columns,
    merge_rare,
)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["b", None, "a"], ["a", "b"]),
        (np.array([2.0, np.nan, 1.0]), ["1", "2"]),
        (np.array([2.5, np.nan, 1.0]), ["1.0", "2.5"]),
        (["b", "", "a"], ["a", "b"]),
    ],
)
def test_missing_labels_are_minus_one(labels, names):
    found = encode_classes(labels, 3)
    assert found.codes.tolist() == [1, -1, 0] and found.names == names


def test_labels_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="one true label a row, 3 in all"):
        encode_classes([1, 2], 3)


def test_only_rows_with_a_label_are_compared():
    labels, clusters = np.array([0, 0, 1, -1]), np.array([1, 1, 0, 0])
    found = compare_with_classes(Classes(labels, ["x", "y"]), clusters, 2)
    assert found["n_labelled"] == 3
    assert found["scores"] == metrics.scores(labels[:3], clusters[:3])
    assert found["table"] == {"classes": ["y", "x"], "counts": [[1, 0], [0, 2]]}
    assert found["main"][1] == [{"class": "x", "count": 2, "share": 1.0}]


def test_columns_beyond_the_rows_come_last():
    assert match_columns(np.array([[1, 5, 0, 2], [0, 6, 0, 9]])) == [1, 3, 0, 2]


def test_rare_classes_are_merged_and_missing_ones_stay_missing():
    codes = np.concatenate([np.repeat(np.arange(150), 2), [149, -1]])
    merged = merge_rare(Classes(codes, [f"name {i}" for i in range(150)]))
    assert len(merged.names) == N_COLOURED and merged.names[-1] == "other"
    assert merged.codes[-1] == -1
    assert merged.names[merged.codes[-2]] == "name 149"  # the most frequent
