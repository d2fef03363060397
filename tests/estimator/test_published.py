"""The method as published, as an estimator of its own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from manyview import LMVSC, load
from manyview.errors import ParameterError
from manyview.estimator import PublishedLMVSC


class TestAsPublished:
    @pytest.fixture(params=["paper", "released"])
    def model(self, request):
        return LMVSC.as_published(3, 12, 1.0, variant=request.param, random_state=0, n_jobs=1)

    def test_has_the_parameters_of_the_paper_and_no_others(self, model):
        assert isinstance(model, PublishedLMVSC)
        names = ["alpha", "n_anchors", "n_clusters", "n_jobs", "random_state", "variant"]
        assert sorted(model.get_params()) == names

    def test_survives_a_clone(self, model, views):
        again = clone(model)
        assert type(again) is PublishedLMVSC
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.fit(views).embedding_, model.fit(views).embedding_)

    def test_survives_a_file(self, model, views, tmp_path):
        model.fit(views).save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert type(again) is PublishedLMVSC
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.predict(views), model.labels_)

    def test_parameters_can_be_set(self, model, views):
        other = {"paper": "released", "released": "paper"}[model.variant]
        expected = LMVSC.as_published(2, 9, 0.5, variant=other, random_state=0)
        model.set_params(n_clusters=2, n_anchors=9, alpha=0.5, variant=other)
        assert np.array_equal(model.fit(views).embedding_, expected.fit(views).embedding_)
        with pytest.raises(ValueError, match="Invalid parameter 'locality'"):
            model.set_params(locality=0.1)

    def test_finds_clear_groups(self, model, views, groups):
        assert adjusted_rand_score(groups, model.fit(views).labels_) == 1.0
        assert np.array_equal(model.predict(views), model.labels_)

    def test_alpha_is_absolute_and_features_are_raw(self, model, views):
        model.fit(views)
        assert model.scaling_ == [None, None]
        graphs = model.solver_report_["graphs"]
        assert [(g["alpha"], g["locality"], g["n_anchors"]) for g in graphs] == [(1.0, 0.0, 12)] * 2
        assert model.embedding_.shape == (90, 3)

    def test_degrees_are_left_out_of_the_released_script_only(self, views):
        paper, released = (
            LMVSC.as_published(3, 12, 1.0, variant=variant, random_state=0).fit(views)
            for variant in ("paper", "released")
        )
        # With the inverse roots of the degrees, the fused graph has norm one.
        assert paper.singular_values_[0] == pytest.approx(1.0, rel=1e-9)
        assert released.singular_values_[0] > 1.5

    def test_the_released_script_starts_every_view_from_the_same_samples(self, views):
        twins = {"one": views[0], "other": views[0]}
        alike = {
            variant: np.array_equal(
                *LMVSC.as_published(3, 12, 1.0, variant=variant, random_state=0).fit(twins).anchors_
            )
            for variant in ("paper", "released")
        }
        assert alike == {"paper": False, "released": True}

    def test_anchors_and_centres_are_the_means_of_all_rows_nearest_to_them(self, model, views):
        model.fit(views)
        settled = [*zip(views, model.anchors_, strict=True)]
        for rows, centers in [*settled, (model.embedding_, model.cluster_centers_)]:
            labels = ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
            means = [rows[labels == j].mean(axis=0) for j in range(len(centers))]
            np.testing.assert_allclose(centers, means, atol=1e-12)

    def test_cannot_take_a_stream(self, model):
        assert not hasattr(model, "partial_fit")

    def test_an_unknown_variant_is_refused(self, views):
        with pytest.raises(
            ValueError, match="variant must be one of 'paper', 'released'; got 'code'"
        ):
            LMVSC.as_published(3, 10, 0.1, variant="code")
        with pytest.raises(ValueError, match="variant must be one of"):
            PublishedLMVSC(3, 10, 0.1, variant="code").fit(views)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_clusters", "auto"),
            ("n_anchors", "auto"),
            ("n_anchors", (10, 20)),
            ("alpha", [0.1, 1]),
        ],
    )
    def test_what_the_paper_does_not_do_is_refused(self, views, name, value):
        given = {"n_clusters": 3, "n_anchors": 10, "alpha": 0.1, name: value}
        with pytest.raises(ValueError, match=f"{name} must be one number.*LMVSC"):
            LMVSC.as_published(**given)
        with pytest.raises(ParameterError, match=f"{name} must be one number"):
            PublishedLMVSC(**given).fit(views)

    @pytest.mark.parametrize("given", [(0, 5, 0.1), (None, 5, 0.1), (3, -1, 0.1), (3, 5, -0.1)])
    def test_numbers_that_nothing_can_have_are_refused_when_it_is_made(self, given):
        with pytest.raises(ParameterError, match="must be"):
            LMVSC.as_published(*given)
