"""Groups of rows that are not to decide clusters: fitting, predicting, keeping, telling."""

import numpy as np
import pytest

from manyview import LMVSC, load, metrics
from manyview.report import build_summary


@pytest.fixture(scope="module")
def rows():
    """Two views of three kinds, in groups that lie further apart than the kinds; kinds; groups."""
    rng = np.random.default_rng(0)
    kinds, groups = np.arange(300) % 3, (np.arange(300) // 3) % 2
    views = [
        3.0 * rng.normal(size=(3, d))[kinds] + 9.0 * rng.normal(size=(2, d))[groups]
        + rng.normal(size=(300, d))
        for d in (8, 60)
    ]  # fmt: skip
    return views, kinds, np.array(["a", "b"])[groups]


@pytest.fixture(scope="module")
def model(rows):
    views, _, groups = rows
    return LMVSC(3, random_state=0).fit(views, groups=groups)


def test_groups_are_brought_together(rows, model):
    views, kinds, _ = rows
    plain = LMVSC(3, random_state=0).fit(views)
    assert metrics.ari(kinds, model.labels_) > 0.95 > metrics.ari(kinds, plain.labels_)
    assert model.batch_mixing_ > 0.99
    assert not hasattr(plain, "batch_mixing_")
    assert model.n_features_per_view_ == [8, 60] and model.scaling_ == ["normal-scores"] * 2


def test_all_that_takes_rows_takes_groups(rows, model):
    views, _, groups = rows
    assert np.array_equal(model.predict(views, groups=groups), model.labels_)
    assert np.allclose(model.transform(views, groups=groups), model.embedding_)
    assert np.allclose(model.predict_proba(views, groups=groups).max(axis=1), model.confidence_)
    assert np.allclose(model.outlier_scores(views, groups=groups), model.outlier_score_)
    assert np.array_equal(model.cut(3, views, groups=groups), model.labels_)
    assert 0.0 < model.score(views, groups=groups) <= 1.0
    why = model.explain(views, groups=groups)
    assert np.array_equal(why.samples["cluster"], model.labels_)
    assert "column 51" in why.features["column"]  # columns as they came, not axes


def test_a_saved_model_knows_its_groups(rows, model, tmp_path):
    views, _, groups = rows
    model.save(tmp_path / "m.mv")
    again = load(tmp_path / "m.mv")
    assert np.array_equal(again.predict(views, groups=groups), model.labels_)
    assert (again.batch_mixing_, again.scaling_) == (model.batch_mixing_, model.scaling_)
    assert again.n_features_per_view_ == [8, 60]


def test_a_fit_without_groups_forgets_them(rows):
    views, _, groups = rows
    fast = {"n_anchors": 20, "n_repeats": 1, "scaling": "standard"}
    model = LMVSC(3, random_state=0, **fast).fit(views, groups=groups).fit(views)
    assert not hasattr(model, "groups_") and model.predict(views).shape == (300,)


def test_rows_need_groups_only_where_there_were_some(rows, model):
    views, _, groups = rows
    with pytest.raises(ValueError, match="fitted with groups: say where"):
        model.predict(views)
    plain = LMVSC(3, n_anchors=20, n_repeats=1, random_state=0).fit(views)
    with pytest.raises(ValueError, match="fitted without groups"):
        plain.predict(views, groups=groups)


def test_new_rows_of_a_known_group_join(rows):
    views, kinds, groups = rows
    known = kinds < 2
    fast = {"n_anchors": 30, "n_repeats": 1, "scaling": "standard"}
    model = LMVSC(2, random_state=0, **fast).fit([X[known] for X in views], groups=groups[known])
    model.update([X[~known] for X in views], groups=groups[~known])
    assert model.n_clusters_ >= 2 and len(model.labels_) == 300
    assert model.scaling_ == ["standard"] * 2


@pytest.mark.slow
def test_the_report_says_how_well_groups_are_mixed(rows, model, tmp_path):
    views, _, groups = rows
    facts = build_summary(model, views, groups=groups)
    assert facts["groups"] == {"n_groups": 2, "mixing": round(model.batch_mixing_, 4)}
    assert facts["stability"]["ari"][0] > 0.9  # groups are taken off there, too
    path = model.report(tmp_path / "r.html", static=True)
    assert "each of 2 groups was taken off" in path.read_text()


@pytest.mark.parametrize("missing", [float("nan"), None, ""])
def test_missing_groups_of_a_list_are_refused(rows, missing):
    views, _, groups = rows
    with pytest.raises(ValueError, match="2 are missing"):
        LMVSC(3).fit(views, groups=[missing, missing, *groups[2:].tolist()])


def test_explaining_needs_a_group_a_row(rows, model):
    views, _, groups = rows
    with pytest.raises(ValueError, match="one name a row, 300 in all"):
        model.explain(views, groups=groups[:100])
