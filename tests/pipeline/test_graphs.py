"""Which graphs a fit builds: of each view, of all, one for each setting and seed."""

from collections import Counter

import numpy as np
import pytest

from manyview import LMVSC, Views
from manyview.engines import Memory
from manyview.engines.base import Run
from manyview.engines.progress import SilentProgress
from manyview.pipeline.graphs import Columns, apply_scalers, choose_graphs, scale_sample
from manyview.pipeline.settings import resolve
from manyview.stages.graph import GraphRows
from manyview.stages.scaling import fit_scaler


@pytest.fixture
def views(blobs):
    return Views({"a": blobs(n=120)[0], "b": blobs(n=120)[1]})


def scalers_of(views, kinds):
    each = zip(views.arrays, views.names, kinds, strict=True)
    return tuple(fit_scaler(X, name=name, kind=kind) for X, name, kind in each)


def choose(views, *, seed=0, scalers=None, **params):
    settings = resolve(LMVSC(3, **{"n_repeats": 1, "n_anchors": 10, **params}).get_params(), views)
    rows = Memory().open(views.arrays, Run(1, SilentProgress()))
    scalers = scalers or scalers_of(views, settings.scaling)
    sample = rows.sample_rows(np.arange(rows.n_rows))
    rngs = np.random.default_rng(seed).spawn(settings.n_repeats)
    return choose_graphs(rows, apply_scalers(sample, scalers), settings, rngs)


class TestWhich:
    @pytest.mark.parametrize(
        ("fusion", "expected"),
        [("late", [(0,), (1,)]), ("early", [(0, 1)]), ("both", [(0,), (1,), (0, 1)])],
    )
    def test_views_of_every_fusion(self, views, fusion, expected):
        graphs, *_ = choose(views, fusion=fusion)
        assert [graph.views for graph in graphs] == expected

    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_rows_that_weighed_the_views_are_those_of_the_graphs(self, views, fusion):
        three = Views({**dict(zip("ab", views.arrays, strict=True)), "c": views.arrays[0] ** 2})
        chosen, scalers = choose(three, fusion=fusion), scalers_of(three, ("auto",) * 3)
        expected = GraphRows(scalers, chosen.graphs)(three.arrays, 0)
        found = chosen.tile(scalers, three.arrays)
        assert chosen.late is not None
        assert abs(found.parts[0] - expected.parts[0]).max() == 0
        assert (found.n_solved, found.n_failed) == (expected.n_solved, expected.n_failed)

    def test_one_for_each_number_of_anchors_alpha_and_repeat(self, views):
        graphs, *_ = choose(views, n_anchors=[5, 7], alpha=[0.1, 1.0], n_repeats=2, fusion="late")
        found = Counter((g.repeat, g.views, len(g.anchors), g.alpha) for g in graphs)
        assert len(found) == 2 * 2 * 2 * 2
        assert set(found.values()) == {1}
        assert [graph.repeat for graph in graphs] == [0] * 8 + [1] * 8

    @pytest.mark.parametrize("fusion", ["late", "early", "both"])
    def test_weights_of_a_repeat_sum_to_one(self, views, fusion):
        graphs, weights, _ = choose(views, fusion=fusion, n_repeats=2, view_weights=[1, 3])
        for repeat in (0, 1):
            total = sum(graph.weight for graph in graphs if graph.repeat == repeat)
            assert total == pytest.approx(1.0)
        assert weights.tolist() == [0.25, 0.75]


class TestKind:
    def test_axes_are_evened_out_by_turns(self, views):
        graphs, *_ = choose(views, fusion="late", n_repeats=3)
        assert [graph.whitening for graph in graphs] == [0.5, 0.5, 0.25, 0.25, 0.5, 0.5]

    def test_samples_that_lack_views_ask_for_no_more_anchors(self, blobs):
        """More of them hide what only all views tell."""
        X, Y = blobs(n=1200)[:2]
        present = np.random.default_rng(0).random((1200, 2)) < 0.6
        present[~present.any(axis=1)] = True
        graphs, *_ = choose(Views([X, Y], present=present), n_anchors="auto")
        n_described = [*present.sum(axis=0), 1200]
        assert [len(g.anchors) for g in graphs] == [min(300, n // 3) for n in n_described]

    def test_near_anchors_are_used_where_it_was_said(self, views):
        assert {graph.n_neighbors for graph in choose(views)[0]} == {None}
        graphs, *_ = choose(views, n_neighbors=4)
        assert {graph.n_neighbors for graph in graphs} == {4}
        assert {graph.alpha for graph in graphs} == {0.1}

    def test_text_uses_all_anchors_beside_views_that_use_near_ones(self, views, monkeypatch):
        monkeypatch.setattr("manyview.pipeline.settings.MANY_ROWS", 100)
        words = np.where(np.random.default_rng(0).random((120, 30)) < 0.05, 1.0, 0.0)
        graphs, *_ = choose(Views({"a": views.arrays[0], "text": words}), fusion="both")
        assert [graph.n_neighbors for graph in graphs] == [3, None, 3]

    def test_anchors_lie_along_the_axes_among_the_rows_that_they_are_for(self, views):
        params = {"scaling": "standard", "n_axes": 2}
        rows = Memory().open(views.arrays, Run(1, SilentProgress()))
        settings = resolve(LMVSC(3, **params).get_params(), views)
        scalers = scale_sample(rows, views.names, settings.scaling, settings).scalers
        graphs, *_ = choose(views, view_weights=[1, 3], scalers=scalers, **params)
        assert [graph.anchors.shape[1] for graph in graphs] == [2, 2, 4]
        for graph in graphs:
            seen = Columns.of(scalers, graph)(views.arrays, 0).dense()
            assert (graph.anchors >= seen.min(axis=0) - 1e-6).all()
            assert (graph.anchors <= seen.max(axis=0) + 1e-6).all()


class TestAnchors:
    def test_depend_on_the_views_name_and_not_on_its_place(self, views):
        first, *_ = choose(views, fusion="late")
        second, *_ = choose(views.select(["b", "a"]), fusion="late")
        assert np.array_equal(first[0].anchors, second[1].anchors)
        assert np.array_equal(first[1].anchors, second[0].anchors)

    def test_of_another_repeat_are_others(self, views):
        graphs, *_ = choose(views, fusion="late", n_repeats=2)
        assert not np.array_equal(graphs[0].anchors, graphs[2].anchors)

    def test_given_ones_are_scaled(self, views):
        given = [X[:9] for X in views.arrays]
        graphs, *_ = choose(views, anchor_method=given, n_anchors="auto", scaling="energy")
        for graph, anchors, X in zip(graphs, given, views.arrays, strict=True):
            expected = fit_scaler(X, name="a", kind="energy").apply(anchors).dense()
            assert np.array_equal(graph.anchors, expected)

    @pytest.mark.parametrize("share", [0.1, 0.5])
    def test_there_are_more_where_samples_lack_views(self, views, share):
        present = np.random.default_rng(0).random((120, 2)) >= share
        present[~present.any(axis=1), 0] = True
        graphs, *_ = choose(
            Views(views, present=present), n_anchors="auto", fusion="early", n_repeats=1
        )
        factor = min(1 + 3 * (~present).mean(), 2)
        assert len(graphs[0].anchors) == min(int(factor * 40), 40)  # but a third of the rows

    @pytest.mark.parametrize(("weight", "n_anchors"), [(0.0, 12), (0.02, 12), (1.0, 40)])
    def test_a_view_with_hardly_a_say_does_not_make_texts_something_else(self, weight, n_anchors):
        """A mean of three texts remembers their words, so they have an anchor for every ten."""
        rng = np.random.default_rng(0)
        texts = (rng.random((120, 60)) < 0.05).astype(float)
        both = Views({"texts": texts, "noise": rng.normal(size=(120, 5))})
        params = {"n_anchors": "auto", "fusion": "early", "view_weights": [1.0, weight]}
        graphs, *_ = choose(both, **params)
        assert len(graphs[0].anchors) == n_anchors


class TestAlpha:
    @pytest.mark.parametrize("scaling", ["standard", "energy", "normal-scores"])
    @pytest.mark.parametrize("fusion", ["late", "both"])
    def test_is_taken_as_it_is_where_views_have_unit_energy(self, views, scaling, fusion):
        graphs, *_ = choose(views, scaling=scaling, fusion=fusion, alpha=0.3, view_weights=[1, 3])
        assert {graph.alpha for graph in graphs} == {0.3}

    def test_is_times_the_energy_of_a_view_that_is_not_scaled(self, views):
        graphs, *_ = choose(views, scaling=[None, "energy"], fusion="both", view_weights=[1, 3])
        energy = views.arrays[0].var(axis=0).sum()
        expected = [0.01 * energy, 0.01, 0.01 * (energy + 3) / 4]
        assert [graph.alpha for graph in graphs] == pytest.approx(expected)

    def test_locality_has_no_unit(self, views):
        graphs, *_ = choose(views, scaling=None, locality=0.2)
        assert {graph.locality for graph in graphs} == {0.2}


def test_a_sample_is_scaled_as_its_scalers_scale_raw_rows(views):
    settings = resolve(LMVSC(3, n_axes=2).get_params(), views)
    rows = Memory().open(views.arrays, Run(1, SilentProgress()))
    scaled = scale_sample(rows, views.names, ("standard", "energy"), settings)
    known = apply_scalers(rows, scaled.scalers)
    for v, scaler in enumerate(scaled.scalers):
        expected = scaler.apply(views.arrays[v]).matrix
        for found in (scaled, known.sample_rows(np.arange(len(views)))):
            assert np.allclose(found.applied[v].apply(found.rows.arrays[v]).matrix, expected)


def test_views_of_many_rows_are_weighed_by_some_of_them(blobs):
    """Graph rows of these few are not taken for those of the whole sample."""
    X = blobs(n=2100)
    views = Views({"a": X[0], "b": X[1], "c": X[0] ** 2})
    scalers = scalers_of(views, ["standard"] * 3)
    chosen = choose(views, scalers=scalers, fusion="both", view_weights="agreement")
    assert len(chosen.tile(scalers, views.arrays)) == 2100


def test_rows_are_dense_only_if_all_have_all_views(views):
    """Whichever row comes first."""
    scalers = scalers_of(views, ("standard", "standard"))
    columns = Columns(scalers, (0, 1), (1.0, 1.0))
    holes = [X.copy() for X in views.arrays]
    holes[1][60:80] = np.nan
    whole, partial = (
        Memory().open(each, Run(1, SilentProgress())) for each in (views.arrays, holes)
    )
    assert columns.are_dense(whole)
    assert not columns.are_dense(partial)
