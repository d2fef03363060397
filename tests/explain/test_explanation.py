"""Explanations: shares that add up, the view that knows, and tables anyone can use."""

import json

import numpy as np
import pandas as pd
import pytest

from manyview import LMVSC, Views

CHEAP = {"n_repeats": 1, "scaling": "standard", "random_state": 0, "n_jobs": 1}


def groups_seen_by(first, second, n=120, seed=0):
    """Give two views: rows of each show the groups that they see, and noise elsewhere."""
    rng = np.random.default_rng(seed)
    centres = 4.0 * rng.normal(size=(2, 3, 5))
    labels = np.arange(n) % 3
    return labels, [
        np.where(np.isin(labels, seen)[:, None], centres[v][labels], 0.0)
        + 0.3 * rng.normal(size=(n, 5))
        for v, seen in enumerate((first, second))
    ]


@pytest.fixture(scope="module")
def fitted():
    _, (X, Y) = groups_seen_by((0, 1, 2), (0, 1, 2))
    views = Views(
        {"size": pd.DataFrame(X, columns=list("abcde")), "hue": Y},
        ids=[f"r{i}" for i in range(120)],
    )
    return LMVSC(3, **CHEAP | {"n_repeats": 2}).fit(views), views


def test_shares_of_samples_that_lack_views():
    _, X = groups_seen_by((0, 1, 2), (0, 1, 2))
    X[0][::4], X[1][1::4] = np.nan, np.nan
    model = LMVSC(3, **CHEAP).fit(X)
    samples = model.explain(X).samples
    squares = np.sort(((model.embedding_[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    assert np.allclose(samples["margin"], squares[:, 1] - squares[:, 0], rtol=0, atol=1e-10)
    assert (samples["view_0"][::4] == 0).all() and (samples["view_1"][1::4] == 0).all()


def test_the_view_that_sees_a_group_supports_it():
    _, X = groups_seen_by((0, 1, 2), ())
    views = {"seeing": X[0], "blind": X[1]}
    samples = LMVSC(3, fusion="late", **CHEAP).fit(views).explain(views).samples
    assert samples["seeing"].mean() > samples["blind"].mean()
    assert (samples["opposed_by"] == "seeing").sum() < (samples["opposed_by"] == "blind").sum()


def test_a_view_with_the_rows_of_another_group_opposes():
    _, X = groups_seen_by((0, 1, 2), (0, 1, 2))
    model = LMVSC(3, fusion="late", view_weights=[0.7, 0.3], **CHEAP).fit(X)
    swapped = X[1].copy()
    swapped[0] = X[1][1]
    samples = model.explain([X[0], swapped]).samples
    assert (samples["supported_by"][0], samples["opposed_by"][0]) == ("view_0", "view_1")
    assert (samples["opposed_by"][1:] == "").mean() > 0.9


class TestTables:
    def test_features_are_named_and_set_clusters_apart(self, fitted):
        model, views = fitted
        features = model.explain(views, n_listed=2).to_frame("features")
        assert (features.groupby(["cluster", "view"]).size() == 2).all()
        assert set(features[features["view"] == "size"]["column"]) <= set("abcde")
        first = features.iloc[0]
        column = views["size"][:, "abcde".index(first["column"])] if first["view"] == "size" else (
            views["hue"][:, int(first["column"].split()[-1])]
        )  # fmt: skip
        inside = model.labels_ == first["cluster"]
        difference = column[inside].mean() - column[~inside].mean()
        assert first["effect"] == pytest.approx(difference / column.std(), abs=1e-3)

    def test_anchors_that_carry_a_cluster_are_used_by_its_rows(self, fitted):
        model, views = fitted
        anchors = model.explain(views, n_listed=3).anchors
        arrays = model.model_
        graph = arrays.graph_rows(views.arrays)
        assert anchors["cluster"] == sorted(anchors["cluster"])
        for cluster, g, anchor, share in zip(
            *(anchors[c] for c in ("cluster", "graph", "anchor", "share")), strict=True
        ):
            chosen = arrays.graphs[g]
            earlier = [other for other in arrays.graphs[:g] if other.repeat == chosen.repeat]
            before = sum(len(other.anchors) for other in earlier)
            Z = graph.parts[chosen.repeat][:, before : before + len(chosen.anchors)].toarray()
            weights = Z[model.labels_ == cluster].sum(axis=0)
            assert share == pytest.approx(weights[anchor] / weights.sum())

    def test_samples_carry_ids_and_what_each_view_contributes(self, fitted):
        model, views = fitted
        samples = model.explain(views).to_frame("samples")
        assert samples["id"].tolist() == views.ids.tolist()
        assert np.allclose(samples[["size", "hue", "all_views"]].sum(axis=1), samples["margin"])
        assert np.array_equal(samples["cluster"], model.labels_)

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
    @pytest.mark.parametrize("table", ["features", "anchors", "samples"])
    def test_frames_of_any_library(self, fitted, table, kind):
        frame = fitted[0].explain(fitted[1]).to_frame(table, kind=kind)
        assert type(frame).__module__.split(".")[0] == kind
        assert len(frame) > 0

    def test_plain_values_for_json(self, fitted):
        content = json.loads(json.dumps(fitted[0].explain(fitted[1]).to_dict()))
        assert set(content) == {"features", "anchors", "samples"}
        assert len(content["samples"]["supported_by"]) == 120

    def test_an_unknown_table(self, fitted):
        with pytest.raises(ValueError, match="table must be one of"):
            fitted[0].explain().to_frame("rows")

    def test_it_reads_as_text(self, fitted):
        text = repr(fitted[0].explain(fitted[1]))
        assert text.startswith("Explanation of 120 rows")
        assert "cluster 2: 40 rows" in text and " sd" in text


class TestRows:
    def test_without_rows_there_are_anchors(self, fitted):
        why = fitted[0].explain()
        assert len(why.anchors["anchor"]) == 15
        assert np.isnan(why.anchors["share"]).all()
        assert min(why.anchors["closeness"]) > 0.9
        assert "pass the rows" in repr(why)
        assert why.features["cluster"] == []

    def test_some_of_many_rows(self, fitted):
        why = fitted[0].explain(fitted[1], max_rows=50)
        assert len(why.samples["row"]) == 50 and why.n_rows == 120
        assert "50 of 120" in repr(why)

    def test_new_rows(self, fitted):
        model, views = fitted
        assert np.array_equal(model.explain(views[10:20]).samples["cluster"], model.labels_[10:20])

    def test_one_cluster_has_no_second(self, blobs):
        X = blobs(widths=(4,))[0]
        samples = LMVSC(1, **CHEAP).fit(X).explain(X).samples
        assert set(samples["second"]) == {-1} and set(samples["margin"]) == {0.0}

    def test_wide_arrays_are_split(self, blobs):
        X = np.hstack(blobs())
        model = LMVSC(3, views={"a": slice(4), "b": slice(4, None)}, **CHEAP).fit(X)
        assert {"a", "b"} <= set(model.explain(X).samples)


def test_views_called_like_columns_of_the_table():
    _, (X, Y) = groups_seen_by((0, 1, 2), (0, 1, 2))
    views = {"cluster": X, "all views": Y}
    model = LMVSC(3, **CHEAP).fit(views)
    samples = model.explain(views).samples
    assert np.array_equal(samples["cluster"], model.labels_)
    shares = [samples[name] for name in ("margin_cluster", "all_views", "all_views_")]
    assert np.allclose(np.sum(shares, axis=0), samples["margin"], rtol=0, atol=1e-10)
