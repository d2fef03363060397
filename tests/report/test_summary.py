"""The facts of a report: right, bounded, plain, repeatable."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from manyview import LMVSC, Views, load, metrics
from manyview.report import AgreementDisplay, build_summary
from manyview.report.summary import count_repeated


def test_facts_are_plain_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_sizes_are_those_of_the_labels(fitted, summary):
    _, _, model = fitted
    sizes = np.bincount(model.labels_)
    assert [cluster["size"] for cluster in summary["clusters"]] == sizes.tolist()
    assert sum(cluster["share"] for cluster in summary["clusters"]) == pytest.approx(1, abs=1e-3)


def test_members_belong_to_their_cluster_and_carry_their_id_and_label(fitted, summary):
    _, groups, model = fitted
    for cluster in summary["clusters"]:
        for member in cluster["typical"] + cluster["borderline"]:
            assert model.labels_[member["row"]] == cluster["cluster"]
            assert member["id"] == f"thing {member['row']}"
            assert member["label"] == str(groups[member["row"]])


def test_the_map_has_every_row_once(fitted, summary):
    _, groups, model = fitted
    points = summary["map"]
    assert points["row"] == list(range(240))
    assert points["cluster"] == model.labels_.tolist()
    assert points["id"][17] == "thing 17"
    colours = {colour["name"]: colour for colour in points["colours"]}
    assert list(colours) == ["true label", "colour", "shape"]
    assert colours["true label"]["codes"] == groups.tolist()


def test_confidence_is_the_models_own_also_after_an_update(fitted, quick_map, tmp_path):
    views, _, model = fitted
    model = clone(model).fit(views[:120]).update(views[120:])
    model.save(tmp_path / "updated.mv")
    for one in (model, load(tmp_path / "updated.mv")):
        shown = build_summary(one, views)["map"]["confidence"]
        np.testing.assert_allclose(shown, model.confidence_, atol=1e-3)


def test_scores_with_the_true_labels_are_those_of_metrics(fitted, summary):
    _, groups, model = fitted
    assert summary["labels"]["scores"] == pytest.approx(metrics.scores(groups, model.labels_))
    table = np.array(summary["labels"]["table"]["counts"])
    assert table.sum() == 240
    assert np.diag(table).sum() / 240 == pytest.approx(metrics.accuracy(groups, model.labels_))


def test_views_have_their_weights_and_agreement(fitted, summary):
    _, _, model = fitted
    assert [view["weight"] for view in summary["views"]] == model.view_weights_.tolist()
    assert [view["nmi"] for view in summary["views"]] == [
        row[-1] for row in summary["agreement"]["nmi"][:-1]
    ]


def test_the_solutions_are_certified(summary):
    assert summary["run"]["certificate"]["worst"] < 1e-9


def test_the_same_model_and_seed_give_the_same_facts(fitted, summary):
    views, _, model = fitted
    again = build_summary(model, views, ids=[f"thing {i}" for i in range(240)])
    assert {**again, "made": None} == {**summary, "made": None}


def test_without_views_the_rest_is_still_told(fitted, quick_map):
    _, _, model = fitted
    facts = build_summary(model)
    assert facts["stability"] is None and facts["agreement"] is None and facts["labels"] is None
    assert facts["map"]["id"] is None and len(facts["map"]["x"]) == 240
    assert facts["clusters"][0]["typical"]
    assert "features" not in facts["clusters"][0]


def test_a_model_from_a_file_is_embedded_again(fitted, summary, quick_map, tmp_path):
    views, _, model = fitted
    model.save(tmp_path / "model.mv")
    facts = build_summary(load(tmp_path / "model.mv"), views)
    assert facts["clusters"][0]["confidence"] == summary["clusters"][0]["confidence"]
    assert build_summary(load(tmp_path / "model.mv"))["map"] is None


def test_one_sparse_view_without_groups_of_its_own(quick_map):
    X = sparse.random_array((150, 40), density=0.2, rng=0, format="csr")
    facts = build_summary(LMVSC(3, n_repeats=1, random_state=0).fit(X), X)
    assert facts["agreement"] is None
    assert facts["views"][0]["is_sparse"]
    assert facts["clusters"][0]["features"][0]["column"].startswith("column ")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["a", None, "b"] * 80, ["a", "b"]),
        (np.array([1.0, np.nan, 2.0] * 80), ["1", "2"]),
        (["x", "", "y"] * 80, ["x", "y"]),
        (np.array([True, False, True] * 80), ["False", "True"]),
    ],
)
def test_true_labels_of_every_kind_some_missing(fitted, quick_map, labels, names):
    facts = build_summary(fitted[2], labels=labels)
    assert facts["map"]["colours"][0]["names"] == names
    assert facts["labels"]["n_labelled"] in (160, 240)


def test_many_classes_are_merged_on_the_map_and_left_out_of_the_table(fitted, quick_map):
    _, _, model = fitted
    facts = build_summary(model, labels=np.arange(240))
    assert facts["labels"]["table"] is None
    assert facts["map"]["colours"][0]["names"][-1] == "other"
    assert len(facts["map"]["colours"][0]["names"]) == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["a"]}, "ids must be one name a row, 240 in all"),
        ({"labels": [1, 2]}, "labels must be one true label a row, 240 in all"),
        ({"labels": [None] * 240}, "no label at all"),
    ],
)
def test_what_does_not_fit_is_refused(fitted, arguments, message):
    _, _, model = fitted
    with pytest.raises(ValueError, match=message):
        build_summary(model, **arguments)


def test_other_rows_are_refused(fitted):
    views, _, model = fitted
    with pytest.raises(ValueError, match="200 rows, but the model was fitted to 240"):
        build_summary(model, views[:200])
    with pytest.raises(ValueError, match="fitted with 2"):
        build_summary(model, views["shape"])


def test_a_model_that_was_not_fitted_is_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        build_summary(LMVSC(3))


def test_views_in_another_order_are_told_by_name(fitted, summary, quick_map):
    views, _, model = fitted
    other_way = Views({"shape": views["shape"], "colour": views["colour"]}, target=views.target)
    again = build_summary(model, other_way, ids=[f"thing {i}" for i in range(240)])
    assert again["clusters"] == summary["clusters"]


def test_repeated_rows_are_counted_in_dense_and_sparse_views():
    X = np.repeat(np.arange(12.0).reshape(6, 2), 2, axis=0)
    thin = sparse.csr_array(X)
    other = np.arange(12.0)[:, None]
    assert count_repeated(Views([X, thin]).arrays) == 6
    assert count_repeated(Views([X, other]).arrays) == 0


@pytest.mark.slow
def test_many_rows_are_never_read_as_a_whole(quick_map, monkeypatch):
    """However many rows there are, few are asked for: files need not be read whole."""
    from manyview import datasets

    views = datasets.make_views(30_000, 3, (5, 6), random_state=0)
    model = LMVSC(3, n_anchors=20, n_repeats=1, random_state=0).fit(views)
    asked = []
    whole = Views.__getitem__

    def watch(self, key):
        asked.append(len(key) if hasattr(key, "__len__") else self.n_rows)
        return whole(self, key)

    monkeypatch.setattr(Views, "__getitem__", watch)
    facts = build_summary(model, views)
    assert max(asked) <= 5_100
    assert facts["sampling"]["n_studied"] == 5000 and facts["sampling"]["n_placed"] == 2000
    assert len(facts["map"]["x"]) == 30_000


def test_rows_in_dask_arrays_have_the_facts_of_the_same_rows_in_memory(cluster, fitted, quick_map):
    da = pytest.importorskip("dask.array")
    views, groups, model = fitted
    lazy = {name: da.from_array(X, chunks=(100, -1)) for name, X in views.items()}
    with cluster.client.as_current():
        found = clone(model).fit(lazy)
        facts = build_summary(found, lazy, labels=groups)
        drawn = AgreementDisplay.from_estimator(found, lazy)
    same = build_summary(model, views)
    assert facts["clusters"] == same["clusters"]
    assert facts["agreement"] == same["agreement"]
    assert facts["labels"] == same["labels"]
    assert drawn.names == ["colour", "shape", "all together"]
