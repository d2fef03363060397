"""A fitted model: what it makes of rows, and arrays that do not fit together."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from manyview import LMVSC, load
from manyview.engines import memory
from manyview.simplex import solve_simplex_qp
from manyview.stages import graph as graphs


@pytest.fixture(scope="module")
def views(blobs):
    return blobs()


@pytest.fixture(scope="module")
def fitted(views):
    params = {"n_anchors": 12, "n_repeats": 2, "scaling": "standard", "random_state": 0}
    return LMVSC(3, n_jobs=1, **params).fit(views)


@pytest.fixture(scope="module")
def model(fitted):
    return fitted.model_


class TestRows:
    def test_become_their_embedding_and_labels(self, fitted, model, views):
        assert np.array_equal(model.embed(list(views), 0), fitted.embedding_)
        assert np.array_equal(model.label(list(views), 0), fitted.labels_)

    def test_become_graph_rows_repeat_by_repeat(self, model, views):
        tile = model.graph_rows(views)
        widths = [sum(len(g.anchors) for g in model.graphs if g.repeat == r) for r in (0, 1)]
        assert [Z.shape for Z in tile.parts] == [(90, width) for width in widths]
        graph = model.graphs[0]
        scaled = model.scalers[0].apply(views[0]).dense()
        scaled = scaled * model.scalers[0].axis_weights(graph.whitening)
        expected = solve_simplex_qp(
            scaled, graph.anchors, alpha=graph.alpha, locality=graph.locality
        )
        assert np.allclose(tile.parts[0][:, :12].toarray(), expected.toarray(), atol=1e-6)

    def test_graphs_are_fused_with_norm_one(self, model, views):
        for B in model.fused_graphs(views):
            assert np.linalg.norm(B.toarray(), 2) == pytest.approx(1.0, rel=1e-9)

    def test_a_value_that_is_no_number_is_named_with_its_row(self, model, views):
        broken = [views[0].copy(), views[1]]
        broken[0][5, 1] = np.nan
        with pytest.raises(ValueError, match="row 4101, column 1"):
            model.label(broken, 4096)


class TestAnchors:
    def test_are_told_in_the_views_own_units(self, model, views):
        for graph in model.graphs:
            own = np.concatenate([views[v] for v in graph.views], axis=1)
            anchors = model.anchors_in_units(graph)
            assert (anchors >= own.min(axis=0) - 1e-4).all()
            assert (anchors <= own.max(axis=0) + 1e-4).all()

    def test_are_told_as_they_are_where_a_scaling_is_not_linear(self, views):
        params = {"n_anchors": 12, "n_repeats": 1, "scaling": "unit", "random_state": 0}
        model = LMVSC(3, **params).fit(views).model_
        assert model.anchors_in_units(model.graphs[0]) is model.graphs[0].anchors


class TestWhole:
    def test_survives_a_pickle(self, model, views):
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.label(list(views), 0), model.label(list(views), 0))

    @pytest.mark.parametrize(
        ("part", "change", "message"),
        [
            ("scalers", lambda scalers: scalers[::-1], "anchors do not fit the views"),
            (
                "embedding",
                lambda e: replace(e, transforms=tuple(T[1:] for T in e.transforms)),
                "does not fit the anchors",
            ),
            (
                "embedding",
                lambda e: replace(e, communities=(e.transforms[0][1:],)),
                "does not fit the anchors",
            ),
            ("centers", lambda centers: centers[:, 1:], "centres do not fit the embedding"),
        ],
    )
    def test_arrays_that_do_not_fit_together_are_refused(self, model, part, change, message):
        with pytest.raises(ValueError, match=message):
            replace(model, **{part: change(getattr(model, part))}, build=None)


@pytest.mark.parametrize(
    ("engine", "keeps_tiles"), [("memory", True), ("memory", False), ("disk", True)]
)
def test_large_problems_are_let_go_and_give_the_same_bits_again(
    engine, keeps_tiles, monkeypatch, tmp_path
):
    monkeypatch.setattr(graphs, "_LARGE_BYTES", 0)
    if not keeps_tiles:
        monkeypatch.setattr(memory, "_KEEP_BYTES", 0)
    views = [np.random.default_rng(v).normal(size=(4200, 60)) for v in range(2)]  # two tiles
    params = {"n_jobs": 1, "engine": engine, "scaling": "unit", "random_state": 0}
    model = LMVSC(3, **params).fit(views)
    assert model.model_._build._held is None
    copied = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.mv")
    for each in (model, copied, load(tmp_path / "model.mv")):
        np.testing.assert_array_equal(each.transform(views), model.embedding_)
        np.testing.assert_array_equal(each.predict(views), model.labels_)
