"""What a fit chose by itself: every open parameter is explained, set ones are respected."""

import json

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, load
from manyview.engines import Memory
from manyview.pipeline.choices import Choices

OPEN = {
    "scaling", "view_weights", "fusion", "n_anchors", "alpha", "locality", "n_repeats",
    "n_components", "n_neighbors", "n_axes",
}  # fmt: skip


@pytest.fixture(scope="module")
def views():
    """Three clear groups in two views, and one of counts."""
    rng = np.random.default_rng(0)
    groups = np.arange(150) % 3
    centres = rng.normal(scale=6, size=(3, 10))
    X = centres[groups] + rng.normal(size=(150, 10))
    counts = rng.poisson(np.where(np.arange(12) % 3 == groups[:, None], 2.0, 0.05))
    return {"a": X[:, :4], "b": X[:, 4:], "words": counts}


@pytest.fixture(scope="module")
def model(views):
    return LMVSC(3, random_state=0, n_jobs=1).fit(views)


def chosen(model, parameter):
    return [c for c in model.choices_ if c["parameter"] == parameter]


def test_every_open_parameter_is_explained(model):
    assert {choice["parameter"] for choice in model.choices_} == OPEN
    assert all(choice["why"] for choice in model.choices_)


@pytest.fixture(scope="module")
def doubtful(views):
    """A model of rows that say little: kinds of scaling are tried."""
    rng = np.random.default_rng(1)
    noise, words = rng.normal(size=(150, 10)), rng.permutation(views["words"])
    return LMVSC(5, random_state=0, n_jobs=1).fit({"noise": noise, "words": words})


@pytest.mark.parametrize("name", ["model", "doubtful"])
def test_choices_are_what_the_fit_used(request, name):
    model = request.getfixturevalue(name)
    assert [c["value"] for c in chosen(model, "scaling")] == [
        {name: kind} for name, kind in zip(model.view_names_, model.scaling_, strict=True)
    ]
    value = {c["parameter"]: c["value"] for c in model.choices_}
    graphs, report = model.model_.graphs, model.solver_report_["graphs"]
    assert value["n_anchors"] == max(len(a) for a in model.anchors_)
    assert value["n_repeats"] == max(graph.repeat for graph in graphs) + 1
    assert list(value["view_weights"].values()) == pytest.approx(
        model.view_weights_.tolist(), abs=1e-4
    )
    for parameter in ("alpha", "locality", "n_neighbors"):
        assert {getattr(graph, parameter) for graph in graphs} == {value[parameter]}
    assert value["n_axes"] == max(len(s.axes.variances) for s in model.model_.scalers if s.axes)
    n_seen = {len(graph["views"]) for graph in report}
    assert n_seen == {"both": {1, model.n_views_}, "early": {model.n_views_}}[value["fusion"]]


def test_kinds_that_were_tried_are_told_with_their_figures(doubtful):
    for choice in chosen(doubtful, "scaling"):
        assert all(kind in choice["why"] for kind in ("auto", "log", "clr"))


def test_what_was_set_is_no_choice(views):
    settings = {
        "scaling": "standard", "view_weights": "equal", "fusion": "late", "n_anchors": 20,
        "alpha": 0.1, "locality": 0.0, "n_repeats": 1, "n_components": 3, "n_neighbors": None,
        "n_axes": None,
    }  # fmt: skip
    assert LMVSC(3, random_state=0, **settings).fit(views).choices_ == []


@pytest.mark.parametrize(
    "scaling", [["standard", "auto", "unit"], {"a": "standard", "words": "unit"}]
)
def test_a_view_that_is_left_open_is_explained_alone(views, scaling):
    settings = {"scaling": scaling, "n_repeats": 1}
    model = LMVSC(3, random_state=0, **settings).fit(views)
    assert [c["value"] for c in chosen(model, "scaling")] == [{"b": model.scaling_[1]}]
    assert model.scaling_[::2] == ["standard", "unit"]


def test_a_view_of_noise_is_named(views):
    rng = np.random.default_rng(1)
    noisy = {**views, "static": rng.normal(size=(150, 20))}
    model = LMVSC(3, random_state=0, n_repeats=1, scaling="standard").fit(noisy)
    (weights,) = chosen(model, "view_weights")
    assert weights["value"]["static"] < 0.05
    assert "static" in weights["why"]


def test_choices_are_json_and_survive_saving(model, tmp_path):
    assert json.loads(json.dumps(model.choices_)) == model.choices_
    model.save(tmp_path / "m.mv")
    assert load(tmp_path / "m.mv").choices_ == model.choices_


@pytest.fixture(scope="module")
def counted(views):
    """A model that counted its clusters."""
    return LMVSC("auto", random_state=0, n_repeats=1).fit(views)


class TestNumberOfClusters:
    def test_clear_groups_are_counted(self, counted):
        assert counted.n_clusters_ == 3
        assert len(set(counted.labels_)) == 3
        (choice,) = chosen(counted, "n_clusters")
        assert choice["value"] == 3

    def test_evidence_is_kept(self, counted):
        suggestion = counted.suggestion_
        assert suggestion.candidates[:3] == [2, 3, 4]
        assert len(suggestion.score) == len(suggestion.candidates)
        assert suggestion.score[suggestion.candidates.index(3)] == max(suggestion.score)
        assert 3 not in suggestion.runners_up()

    def test_one_cluster_is_an_answer(self):
        X = np.random.default_rng(0).normal(size=(200, 20))
        model = LMVSC("auto", random_state=0, n_repeats=1).fit(X)
        assert model.n_clusters_ == 1
        assert set(model.labels_) == {0}
        assert np.array_equal(model.predict(X), model.labels_)

    @pytest.mark.filterwarnings("ignore:Cluster")
    def test_levels_of_a_category_are_no_clusters(self):
        """Three groups, and flags of 16 levels, 15 of them rare: scored by rank, each stands out."""
        rng = np.random.default_rng(0)
        level = rng.choice(16, 900, p=np.r_[0.55, np.full(15, 0.03)])
        numbers = 5 * np.eye(3, 4)[np.arange(900) % 3] - 2 + rng.normal(size=(900, 4))
        model = LMVSC("auto", random_state=0).fit(np.hstack([numbers, np.eye(16)[level]]))
        assert 3 <= model.n_clusters_ <= 5

    @pytest.mark.parametrize("n", [1, 2, 5, 17])
    def test_few_rows_are_never_a_failure(self, n):
        X = np.random.default_rng(n).normal(size=(n, 3))
        assert 1 <= LMVSC("auto", random_state=0, n_repeats=1).fit(X).n_clusters_ <= n

    def test_settings_that_leave_no_anchor_seeds_to_compare(self, views):
        model = LMVSC("auto", random_state=0, n_repeats=1, n_components=3).fit(views)
        assert 2 <= model.n_clusters_ <= 4
        assert model.suggestion_.stability > 0.9

    def test_does_not_depend_on_threads_or_blocks(self, views, counted):
        params = {"random_state": 0, "n_repeats": 1, "n_jobs": 2}
        again = LMVSC("auto", engine=Memory(1), **params).fit(views)
        assert again.suggestion_ == counted.suggestion_
        assert np.array_equal(again.labels_, counted.labels_)

    def test_survives_saving(self, counted, tmp_path):
        counted.save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert again.n_clusters_ == 3
        assert again.suggestion_ == counted.suggestion_


@pytest.fixture(scope="module")
def texts():
    """200 rows of weighted words, nearly all zero, with four topics.

    Bare counts have rows that are equally far from two others: rounding would decide between these.
    """
    rng = np.random.default_rng(0)
    topics = np.arange(200) % 4
    words = rng.poisson(np.where(np.arange(400) % 4 == topics[:, None], 0.15, 0.01))
    return words * rng.gamma(2.0, size=words.shape)


class TestAnchorsOfText:
    """Views that are nearly all zero have an anchor for ten rows, others for three."""

    def anchors(self, views, k=4, **params):
        model = LMVSC(k, n_repeats=1, random_state=0, **params).fit(views)
        return model, [len(a) for a in model.anchors_]

    def test_a_tenth_of_the_rows_and_the_choice_says_so(self, texts):
        model, sizes = self.anchors([texts, texts[:, ::-1]])
        assert set(sizes) == {20}
        (choice,) = chosen(model, "n_anchors")
        assert choice["value"] == 20
        assert "a tenth of the rows" in choice["why"]

    def test_the_same_for_sparse_and_dense_storage(self, texts):
        dense, sizes = self.anchors(texts)
        stored, other_sizes = self.anchors(sparse.csr_array(texts))
        assert sizes == other_sizes
        np.testing.assert_array_equal(dense.labels_, stored.labels_)

    def test_two_a_cluster_at_least(self, texts):
        assert set(self.anchors(texts, k=15)[1]) == {30}

    def test_beside_a_dense_view_each_has_its_own_number(self, texts):
        dense = np.random.default_rng(0).normal(size=(200, 5))
        _, sizes = self.anchors({"dense": dense, "text": texts}, fusion="late")
        assert sizes == [66, 20]

    def test_what_was_set_is_respected(self, texts):
        assert set(self.anchors(texts, n_anchors=50)[1]) == {50}


def test_fewer_anchors_than_were_asked_for_are_told():
    rows = np.random.default_rng(0).normal(size=(40, 5))
    model = LMVSC(4, n_anchors=100, n_repeats=1, fusion="late", random_state=0)
    (choice,) = chosen(model.fit(np.tile(rows, (15, 1))), "n_anchors")
    assert choice["value"] == 40
    assert choice["why"].startswith("100 were asked for")


@pytest.mark.parametrize(("asked", "why"), [(100, "of so many clusters"), (12, "embeddings from")])
def test_why_there_are_so_few_anchor_seeds(asked, why):
    rows = np.repeat(np.random.default_rng(0).normal(size=(120, 5)), 20, axis=0)
    rows += 0.3 * np.random.default_rng(1).normal(size=rows.shape)
    model = LMVSC(asked, random_state=0, n_anchors=130, fusion="late").fit(rows)
    (choice,) = chosen(model, "n_repeats")
    assert choice["value"] == (2 if asked == 100 else 3) and choice["why"].startswith(why)


def test_as_many_anchors_as_were_asked_for_are_no_choice():
    rows = np.random.default_rng(0).normal(size=(400, 5))
    model = LMVSC(4, n_anchors=100, n_repeats=1, fusion="late", random_state=0)
    assert not chosen(model.fit(rows), "n_anchors")


def test_choices_are_shown_as_a_table():
    choices = Choices(
        [
            {"parameter": "alpha", "value": 0.01, "why": "keeps rows stable"},
            {"parameter": "view_weights", "value": {"a": 0.5}, "why": "x" * 200},
        ]
    )
    first, second = repr(choices).splitlines()
    assert first.split() == ["alpha", "0.01", "keeps", "rows", "stable"]
    assert second.startswith("view_weights  {'a': 0.5}") and second.endswith("...")
    assert list(choices) == choices
