"""Displays compute what they say and draw where they are told."""

import matplotlib as mpl
import numpy as np
import pytest

from manyview import LMVSC, load, metrics
from manyview.report import (
    AgreementDisplay,
    EmbeddingDisplay,
    SensitivityDisplay,
    SpectrumDisplay,
)

mpl.use("Agg")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_the_embedding_shows_every_row_in_its_colour(fitted, ax):
    _, _, model = fitted
    display = EmbeddingDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax and display.figure_ is ax.figure
    np.testing.assert_array_equal(display.labels, model.labels_)
    assert len(ax.collections[0].get_offsets()) == 240
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2", "3"}


def test_the_embedding_of_other_rows_by_other_colours(fitted, ax):
    views, groups, model = fitted
    names = np.array(["a", "b", "c", "d"])[groups]
    display = EmbeddingDisplay.from_estimator(model, views[:100], names[:100], max_rows=80, ax=ax)
    assert 80 <= len(display.points) <= 100
    assert {text.get_text() for text in ax.texts} == {"a", "b", "c", "d"}


def test_a_model_from_a_file_needs_rows_to_embed(fitted, ax, tmp_path):
    _, _, model = fitted
    model.save(tmp_path / "model.mv")
    with pytest.raises(ValueError, match="pass X"):
        EmbeddingDisplay.from_estimator(load(tmp_path / "model.mv"), ax=ax)


def test_a_stream_has_no_labels_to_draw(fitted, ax):
    views, _, _ = fitted
    stream = LMVSC(4, n_repeats=1, random_state=0).partial_fit(views)
    with pytest.raises(ValueError, match="pass X"):
        EmbeddingDisplay.from_estimator(stream, ax=ax)
    with pytest.raises(ValueError, match="A stream keeps no labels"):
        AgreementDisplay.from_estimator(stream, views, ax=ax)


def test_the_spectrum_shows_all_values_and_the_gap(fitted, ax):
    _, _, model = fitted
    display = SpectrumDisplay.from_estimator(model, ax=ax)
    np.testing.assert_allclose(display.values, model.singular_values_**2, atol=1e-6)
    assert ax.get_title() == f"largest gap after {display.suggested}"


@pytest.mark.parametrize("score", ["nmi", "ari"])
def test_agreement_has_the_whole_last(fitted, ax, score):
    views, _, model = fitted
    display = AgreementDisplay.from_estimator(model, views, score=score, ax=ax)
    assert display.names == ["colour", "shape", "all together"]
    np.testing.assert_allclose(np.diag(display.matrix), 1.0)
    assert len(ax.texts) == 9


def test_agreement_by_an_unknown_score(fitted):
    views, _, model = fitted
    with pytest.raises(ValueError, match="score must be one of 'nmi', 'ari'"):
        AgreementDisplay.from_estimator(model, views, score="accuracy")


def test_sensitivity_scores_each_value_with_each_seed(fitted, ax):
    views, groups, model = fitted
    display = SensitivityDisplay.from_estimator(
        model, views, groups, param_name="n_anchors", values=[8, 40], n_seeds=2, ax=ax
    )
    direct = LMVSC(4, n_anchors=40, n_repeats=1, random_state=1).fit(views)
    assert display.scores.shape == (2, 2)
    assert display.scores[1, 1] == pytest.approx(metrics.nmi(groups, direct.labels_))
    assert ax.get_xlabel() == "n_anchors"


def test_sensitivity_to_names_is_drawn_in_their_order(fitted, ax):
    views, _, model = fitted
    SensitivityDisplay.from_estimator(
        model, views, param_name="fusion", values=["late", "early"], n_seeds=1, ax=ax
    )
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["late", "early"]


def test_sensitivity_to_an_unknown_parameter(fitted):
    views, _, model = fitted
    with pytest.raises(ValueError, match="'anchors' is not a parameter of LMVSC"):
        SensitivityDisplay.from_estimator(model, views, param_name="anchors", values=[1])


def test_other_rows_are_refused(fitted):
    views, _, model = fitted
    with pytest.raises(ValueError, match="fitted to 240"):
        AgreementDisplay.from_estimator(model, views[:50])


def test_a_figure_of_its_own(fitted):
    import matplotlib.pyplot as plt

    _, _, model = fitted
    display = SpectrumDisplay.from_estimator(model)
    assert display.figure_ in [plt.figure(number) for number in plt.get_fignums()]
    plt.close(display.figure_)
