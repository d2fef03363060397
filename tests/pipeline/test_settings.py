"""Parameters: what "auto" settles on, and what is refused with a message that helps."""

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, Views
from manyview.pipeline.settings import n_vectors_for, published_parameters, resolve

VIEWS = Views({"hog": np.zeros((100, 4)), "gist": np.ones((100, 6))})


def settle(views=VIEWS, **params):
    return resolve(LMVSC(**params).get_params(), views)


def for_graph(n, k, *, is_like_text=False, **params):
    """What the graph of a view with n rows is made with."""
    views = Views(np.broadcast_to(0.0, (n, 2)))
    return settle(views, n_clusters=k, **params).for_graph(n, is_like_text=is_like_text)


class TestAuto:
    @pytest.mark.parametrize(
        ("n", "k", "expected"),
        [(100, 8, 33), (900, 8, 300), (4999, 8, 300), (899, 8, 299), (30, 20, 20), (1, 1, 1)],
    )
    def test_anchors_are_300_but_at_most_a_third_of_rows_and_at_least_k(self, n, k, expected):
        assert for_graph(n, k).n_anchors == (expected,)

    @pytest.mark.parametrize(
        ("n", "k", "expected"),
        [
            (5000, 8, 833), (6000, 8, 1000), (7000, 8, 1000), (10_500, 8, 1500), (10**6, 8, 2000),
            (35_000, 100, 1000), (52_500, 150, 1500), (10**6, 100, 1000), (10**6, 150, 1500),
            (20_000, 700, 1400), (5000, 900, 900),
        ],
    )  # fmt: skip
    def test_of_many_rows_they_are_1000_to_2000_but_at_most_a_sixth_and_at_least_k(
        self, n, k, expected
    ):
        assert for_graph(n, k).n_anchors == (expected,)

    @pytest.mark.parametrize(
        ("n", "k", "expected"), [(100, 4, 10), (100, 20, 33), (2999, 8, 299), (10**6, 8, 300)]
    )
    def test_of_text_they_are_a_tenth_of_the_rows_but_two_a_cluster(self, n, k, expected):
        assert for_graph(n, k, is_like_text=True).n_anchors == (expected,)

    @pytest.mark.parametrize(
        ("n", "is_like_text", "expected"),
        [
            (4999, False, ((0.01,), 0.03, None)),
            (5000, False, ((0.1,), 0.0, 3)),
            (5000, True, ((0.01,), 0.03, None)),
        ],
    )
    def test_rows_use_near_anchors_only_if_they_are_many_and_no_text(
        self, n, is_like_text, expected
    ):
        chosen = for_graph(n, 8, is_like_text=is_like_text)
        assert (chosen.alpha, chosen.locality, chosen.n_neighbors) == expected

    def test_what_was_set_is_set_for_every_graph(self):
        params = {"n_anchors": [20, 30], "alpha": 0.5, "locality": 0.0, "n_neighbors": 7}
        for n in (100, 10**6):
            chosen = for_graph(n, 2, **params)
            assert (chosen.n_anchors, chosen.alpha) == ((20, 30), (0.5,))
            assert (chosen.locality, chosen.n_neighbors) == (0.0, 7)

    def test_other_settings(self):
        settings = settle()
        assert settings.scaling == ("auto", "auto")  # settled by the sample
        assert settings.fusion == "both"
        assert settings.view_weights == "agreement"
        assert settings.n_components is None  # chosen and weighted by strength

    @pytest.mark.parametrize(
        ("k", "expected"), [(3, 50), (50, 50), (120, 120), (500, 200), (None, 50)]
    )
    def test_views_have_as_many_axes_as_clusters_within_bounds(self, k, expected):
        views = Views(np.zeros((1000, 2)))
        assert settle(views, n_clusters="auto" if k is None else k).auto_axes == expected

    @pytest.mark.parametrize("name", ["n_anchors", "alpha", "n_axes", "n_components"])
    def test_clusters_may_be_those_of_kmeans_only_if_nothing_is_asked_of_graphs(self, name):
        assert settle().may_be_evident
        assert not settle(**{name: 3}).may_be_evident

    @pytest.mark.parametrize(
        ("params", "expected"),
        [({}, True), ({"scaling": "unit"}, True), ({"n_components": 3}, False)],
    )
    def test_a_few_rows_are_asked_which_way_to_go(self, params, expected):
        assert settle(**params).is_open == expected

    @pytest.mark.parametrize(
        ("n", "d", "expected"),
        [
            (100, 10, 9),
            (1000, 10, 6),
            (2000, 10, 3),
            (9999, 10, 3),
            (600, 10**5, 3),
            (1200, 10**5, 2),
            (600, 10**6, 1),
            (9999, 10**5, 1),
        ],
    )
    def test_repeats_are_three_but_more_for_few_rows_and_fewer_for_wide_views(self, n, d, expected):
        views = Views(sparse.csr_array((n, d)))
        assert settle(views, n_clusters=2).n_repeats == expected

    @pytest.mark.parametrize(
        ("n", "k", "expected"),
        [
            (2000, 99, 3),
            (2000, 100, 2),
            (500, 100, 2),
            (4999, 100, 2),
            (5000, 100, 1),
            (5000, 99, 3),
        ],
    )
    def test_repeats_are_fewer_for_many_clusters(self, n, k, expected):
        assert settle(Views(np.eye(n, 5)), n_clusters=k).n_repeats == expected

    def test_the_number_of_clusters_may_be_left_open(self):
        assert settle(n_clusters="auto").n_clusters is None

    def test_alpha_and_locality_do_not_depend_on_the_scaling(self):
        for scaling in (None, [None, "unit"]):
            settings = settle(scaling=scaling)
            assert settings.for_graph(100, is_like_text=False) == for_graph(100, 8)
            assert settings.is_alpha_relative

    def test_given_anchors_are_used_once(self):
        assert settle(anchor_method=[np.zeros((9, 4)), np.zeros((9, 6))]).n_repeats == 1

    def test_given_anchors_are_fused_late(self):
        anchors = [np.zeros((9, 4)), np.zeros((9, 6))]
        assert settle(anchor_method=anchors).fusion == "late"

    def test_a_number_of_vectors_is_taken_as_it_is(self):
        assert settle(n_components=3).n_components == 3

    def test_no_parameter_is_changed(self):
        params = LMVSC(4).get_params()
        before = dict(params)
        resolve(params, VIEWS)
        assert params == before


class TestAccepted:
    @pytest.mark.parametrize("value", [5, np.int64(5)])
    def test_whole_numbers_of_any_type(self, value):
        assert settle(n_clusters=value, n_anchors=value, n_axes=value).n_clusters == 5

    def test_none_means_all_anchors_and_all_columns(self):
        settings = settle(n_neighbors=None, n_axes=None)
        assert settings.for_graph(10**6, is_like_text=False).n_neighbors is None
        assert settings.n_axes is None

    @pytest.mark.parametrize("value", [[5, 7], (5, 7), np.array([5, 7])])
    def test_sequences_of_anchor_numbers(self, value):
        assert settle(n_clusters=2, n_anchors=value).n_anchors == (5, 7)

    @pytest.mark.parametrize("value", [[0.1, 1], (0.1, 1.0), np.array([0.1, 1.0])])
    def test_sequences_of_alphas(self, value):
        assert settle(alpha=value).alpha == (0.1, 1.0)

    @pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5)])
    def test_numbers_of_any_type(self, value):
        assert settle(alpha=value, locality=value).locality == float(value)

    def test_one_scaling_a_view(self):
        assert settle(scaling=["unit", None]).scaling == ("unit", None)
        assert settle(scaling=("auto", "energy")).scaling == ("auto", "energy")

    def test_views_by_name(self):
        assert settle(scaling={"gist": "unit"}).scaling == ("auto", "unit")
        assert settle(view_weights={"gist": 3}).view_weights == (1.0, 3.0)

    @pytest.mark.parametrize("weights", [[1, 3], (1.0, 3.0), np.array([1.0, 3.0])])
    def test_weights_as_numbers(self, weights):
        assert settle(view_weights=weights).view_weights == (1.0, 3.0)

    @pytest.mark.parametrize("fusion", ["early", "both"])
    def test_one_view_beside_itself_is_that_view(self, fusion):
        assert settle(Views(np.zeros((50, 3))), fusion=fusion).fusion == "late"

    def test_given_anchors_tell_their_number(self):
        settings = settle(anchor_method=[np.zeros((9, 4)), np.zeros((9, 6))])
        assert settings.n_anchors == (9,)


class TestSettled:
    def test_vectors_are_half_as_many_again_as_clusters(self):
        assert [n_vectors_for(k) for k in (1, 2, 4, 10)] == [3, 4, 6, 15]
        assert settle(n_clusters=10).n_vectors == 15
        assert settle(n_clusters=10, n_components=7).n_vectors == 7

    def test_views_that_no_sample_has_are_left_out_of_what_has_one_entry_a_view(self):
        params = LMVSC(2, scaling=["unit", "energy"], view_weights=[1, 3], random_state=0)
        settings = resolve(params.get_params(), VIEWS, VIEWS.select(["gist"]))
        assert settings.scaling == ("energy",)
        assert settings.view_weights == (3.0,)
        assert settings.fusion == "late"


class TestPublished:
    @pytest.mark.parametrize("variant", ["paper", "released"])
    def test_is_the_paper(self, variant):
        settings = resolve(published_parameters(7, 50, 0.1, variant), VIEWS)
        assert (settings.n_clusters, settings.n_anchors, settings.alpha) == (7, (50,), (0.1,))
        assert (settings.locality, settings.scaling) == (0.0, (None, None))
        assert (settings.fusion, settings.n_repeats, settings.view_weights) == ("late", 1, "equal")
        assert (settings.n_components, settings.anchor_method) == (7, "kmeans-all")
        assert not settings.row_norm
        assert not settings.is_alpha_relative
        assert settings.degree_norm == (variant == "paper")

    def test_an_unknown_variant_is_refused(self):
        with pytest.raises(ValueError, match="variant must be one of 'paper', 'released'"):
            published_parameters(7, 50, 0.1, "code")


class TestRefused:
    @pytest.mark.parametrize(
        ("params", "error", "message"),
        [
            ({"n_clusters": 0}, ValueError, "n_clusters must be an integer of at least 1; got 0"),
            ({"n_clusters": -3}, ValueError, "n_clusters must be an integer of at least 1; got -3"),
            (
                {"n_clusters": 2.5},
                TypeError,
                "n_clusters must be an integer of at least 1; got 2.5",
            ),
            (
                {"n_clusters": True},
                TypeError,
                "n_clusters must be an integer of at least 1; got True",
            ),
            (
                {"n_clusters": None},
                TypeError,
                "n_clusters must be an integer of at least 1; got None",
            ),
            ({"n_clusters": 101}, ValueError, "n_clusters must not exceed .* 101 for 100 samples"),
            ({"n_anchors": 101}, ValueError, "n_anchors must not exceed .* 101 for 100 samples"),
            ({"n_anchors": [5, 101]}, ValueError, "n_anchors must not .* 101 for 100 samples"),
            ({"n_anchors": 0}, ValueError, "n_anchors must be an integer of at least 1; got 0"),
            ({"n_anchors": "many"}, ValueError, "n_anchors must be a number.*'auto'; got 'many'"),
            ({"n_anchors": []}, ValueError, "n_anchors must not be empty"),
            ({"n_anchors": 5.5}, TypeError, "n_anchors must be an integer of at least 1; got 5.5"),
            (
                {"n_anchors": None},
                TypeError,
                "n_anchors must be an integer of at least 1; got None",
            ),
            ({"alpha": -1}, ValueError, "alpha must be a number of at least 0; got -1"),
            ({"alpha": [0.1, -1]}, ValueError, "alpha must be a number of at least 0; got -1"),
            ({"alpha": np.nan}, ValueError, "alpha must be a finite number of at least 0; got nan"),
            ({"alpha": np.inf}, ValueError, "alpha must be a finite number of at least 0; got inf"),
            ({"alpha": "low"}, ValueError, "alpha must be a number.*'auto'; got 'low'"),
            ({"alpha": None}, TypeError, "alpha must be a number of at least 0; got None"),
            ({"alpha": []}, ValueError, "alpha must not be empty"),
            ({"locality": -0.1}, ValueError, "locality must be a number of at least 0"),
            (
                {"locality": "near"},
                TypeError,
                "locality must be a number of at least 0; got 'near'",
            ),
            ({"locality": [0.1]}, TypeError, "locality must be a number"),
            (
                {"scaling": "minmax"},
                ValueError,
                "scaling must be one of .*'standard'.*got 'minmax'",
            ),
            ({"scaling": ["unit"]}, ValueError, "scaling has 1 entries for 2 views"),
            ({"scaling": ["unit", "minmax"]}, ValueError, "scaling must be one of"),
            ({"scaling": {"c": "unit"}}, ValueError, r"scaling names \['c'\], but the views are"),
            (
                {"view_weights": {0: 1.0}},
                ValueError,
                r"view_weights names \[0\], but the views are",
            ),
            ({"view_weights": 1.0}, ValueError, "view_weights has 1 entries for 2 views"),
            ({"fusion": "middle"}, ValueError, "fusion must be one of .*'late'.*got 'middle'"),
            ({"fusion": None}, ValueError, "fusion must be one of"),
            ({"n_repeats": 0}, ValueError, "n_repeats must be an integer of at least 1"),
            ({"n_repeats": 10**9}, ValueError, "n_repeats must be .* at most 1000; got 1000000000"),
            ({"n_repeats": 1.5}, TypeError, "n_repeats must be an integer of at least 1"),
            ({"view_weights": "best"}, ValueError, "view_weights must be one of .*got 'best'"),
            ({"view_weights": None}, ValueError, "view_weights must be one of .*got None"),
            ({"view_weights": [1.0]}, ValueError, "view_weights has 1 entries for 2 views"),
            ({"view_weights": [0, 0]}, ValueError, "view_weights must not all be zero"),
            ({"view_weights": [1, -1]}, ValueError, "view_weights must be a number of at least 0"),
            (
                {"view_weights": [1, np.nan]},
                ValueError,
                "view_weights must be a finite number of at least 0",
            ),
            ({"n_components": 0}, ValueError, "n_components must be an integer of at least 1"),
            (
                {"n_components": "all"},
                TypeError,
                "n_components must be an integer of at least 1; got 'all'",
            ),
            (
                {"anchor_method": "kmedoids"},
                ValueError,
                "anchor_method must be one of .*'kmedoids'",
            ),
            ({"n_neighbors": 0}, ValueError, "n_neighbors must be an integer of at least 1"),
            ({"n_neighbors": 2.5}, TypeError, "n_neighbors must be an integer of at least 1"),
            ({"n_axes": 0}, ValueError, "n_axes must be an integer of at least 1"),
            ({"n_axes": "all"}, TypeError, "n_axes must be an integer of at least 1"),
            ({"max_iter": 0}, ValueError, "max_iter must be an integer of at least 1"),
            ({"tol": -1e-4}, ValueError, "tol must be a number of at least 0"),
            ({"tol": "small"}, TypeError, "tol must be a number"),
        ],
        ids=str,
    )
    def test_what_makes_no_sense(self, params, error, message):
        with pytest.raises(error, match=message):
            settle(**params)

    @pytest.mark.parametrize(
        ("anchors", "message"),
        [
            ([np.zeros((9, 4))], r"one array of anchors per view .*\[4, 6\]; got \[4\]"),
            ([np.zeros((9, 4)), np.zeros((9, 5))], r"columns \[4, 6\]; got \[4, 5\]"),
            (np.zeros((9, 4)), r"columns \[4, 6\]; got \[4\]"),
        ],
    )
    def test_anchors_that_do_not_fit_the_views(self, anchors, message):
        with pytest.raises(ValueError, match=message):
            settle(anchor_method=anchors)

    def test_anchors_and_another_number_of_them(self):
        anchors = [np.zeros((9, 4)), np.zeros((9, 6))]
        with pytest.raises(ValueError, match="n_anchors=5, but anchor_method gives"):
            settle(anchor_method=anchors, n_anchors=5)

    @pytest.mark.parametrize("fusion", ["early", "both"])
    def test_views_side_by_side_need_as_many_anchors_each(self, fusion):
        anchors = [np.zeros((9, 4)), np.zeros((8, 6))]
        with pytest.raises(ValueError, match=r"anchors must be as many in each view; got \[9, 8\]"):
            settle(anchor_method=anchors, fusion=fusion)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_anchors_that_are_no_numbers(self, value):
        views = Views(np.random.default_rng(0).normal(size=(50, 3)))
        with pytest.raises(ValueError, match=r"(NaN|infinity)"):
            LMVSC(2, anchor_method=np.full((5, 3), value)).fit(views)
