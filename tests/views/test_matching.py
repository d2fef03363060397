"""New data brought into the order of what was fitted: views by name, columns by name."""

import numpy as np
import pandas as pd
import pytest

from manyview import LMVSC, Views
from manyview.views.matching import (
    align_columns,
    drop_empty_views,
    is_single,
    match_views,
    refuse_other_columns,
    split_views,
    warn_of_silent_views,
)

X, Y = np.arange(8.0).reshape(4, 2), np.arange(12.0).reshape(4, 3)
FITTED, WIDTHS = ["a", "b"], [2, 3]


def match(views, by_name=True):
    return match_views(Views(views), FITTED, WIDTHS, by_name=by_name)


class TestViews:
    def test_views_come_in_the_order_fitted(self):
        assert match({"b": Y, "a": X}).names == ("a", "b")

    def test_a_view_that_is_not_given_is_missing(self):
        found = match({"b": Y})
        assert found.names == ("a", "b")
        assert found.present.tolist() == [[False, True]] * 4

    def test_a_list_stands_by_its_places(self):
        assert match([X, Y], by_name=False).names == ("view_0", "view_1")

    def test_names_that_were_not_given_in_the_fit_do_not_matter(self):
        views = Views({"p": X, "q": Y})
        assert match_views(views, ["view_0", "view_1"], WIDTHS, by_name=False) is views

    def test_an_unknown_view_that_describes_nobody_does_not_matter(self):
        holes = {"other": [False] * 4}
        assert match(Views({"a": X, "b": Y, "other": X}, present=holes)).names == ("a", "b")

    @pytest.mark.parametrize(
        ("views", "by_name", "message"),
        [
            ([X], False, "To predict from some of them, say which"),
            ([X, Y, X], False, r"Got 3 view\(s\), but this model was fitted with 2"),
            ({"a": X, "c": Y}, True, r"Got views \['a', 'c'\], but this model was fitted with"),
        ],
    )
    def test_what_cannot_be_matched(self, views, by_name, message):
        with pytest.raises(ValueError, match=message):
            match(views, by_name=by_name)

    def test_views_that_nobody_has_are_dropped_with_a_warning(self):
        views = Views({"a": X, "b": Y}, present={"b": [False] * 4})
        with pytest.warns(UserWarning, match=r"No sample has view\(s\) \['b'\]: left out"):
            assert drop_empty_views(views).names == ("a",)

    def test_samples_that_nothing_describes_are_refused(self):
        views = Views({"a": X}, present={"a": [True, False, True, True]})
        with pytest.raises(ValueError, match="no view at all"):
            drop_empty_views(views)

    def test_samples_with_views_of_no_weight_only(self):
        views = Views({"a": X, "b": Y}, present={"a": [True, False, True, True]})
        with pytest.warns(UserWarning, match=r"1 sample\(s\) have no view but \['b'\]"):
            warn_of_silent_views(views, np.array([1.0, 0.0]))

    def test_one_array_is_single(self):
        assert is_single(X, Views(X))
        assert not is_single([X], Views([X]))

    def test_a_wide_array_is_split_by_places(self):
        assert split_views(Y, {"a": [0], "b": [2, 1]})["b"].tolist() == Y[:, [2, 1]].tolist()


class TestColumns:
    FRAME = pd.DataFrame(Y, columns=["p", "q", "r"], index=list("wxyz"))

    def test_columns_come_in_the_order_fitted(self):
        found = align_columns(Views({"b": self.FRAME[["r", "p", "q"]]}), ["b"], [("p", "q", "r")])
        assert np.array_equal(found["b"], Y)
        assert found.feature_names == (("p", "q", "r"),)
        assert found.ids.tolist() == list("wxyz")

    def test_columns_without_names_stay(self):
        views = Views({"b": Y})
        assert align_columns(views, ["b"], [("p", "q", "r")]) is views

    def test_numbers_as_names_are_no_names(self):
        views = Views({"b": pd.DataFrame(Y)})
        assert align_columns(views, ["b"], [("p", "q", "r")]) is views

    def test_columns_that_lack_are_named(self):
        with pytest.raises(ValueError, match=r"View 'b' lacks 1 column .*fitted to: 's'"):
            align_columns(Views({"b": self.FRAME}), ["b"], [("p", "q", "s")])

    def test_columns_of_the_same_name_in_another_order(self):
        twice = pd.DataFrame(Y, columns=["q", "p", "p"])
        with pytest.raises(ValueError, match="columns of the same name"):
            align_columns(Views({"b": twice}), ["b"], [("p", "p", "q")])

    def test_another_number_of_columns(self):
        refuse_other_columns(Views({"b": Y}), ["b"], [3])
        with pytest.raises(ValueError, match="X has 3 features, but LMVSC is expecting 2"):
            refuse_other_columns(Views({"b": Y}), ["b"], [2])


def test_a_view_of_nan_in_a_file_is_left_out_as_one_in_memory_is(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    views = {"a": X, "b": np.full((60, 2), np.nan)}
    for name, view in views.items():
        np.save(tmp_path / f"{name}.npy", view)
    files = {name: tmp_path / f"{name}.npy" for name in views}
    labels = []
    for given in (views, files):
        with pytest.warns(UserWarning, match=r"No sample has view\(s\) \['b'\]: left out"):
            labels.append(LMVSC(2, n_anchors=5, n_repeats=1, random_state=0).fit(given).labels_)
    assert np.array_equal(*labels)
