"""A model in a notebook, and model.report."""

import subprocess
import sys

import pytest
from sklearn import config_context

from manyview import LMVSC, Views, load


def test_a_fitted_model_shows_what_it_found(fitted):
    _, _, model = fitted
    bundle = model._repr_mimebundle_()
    assert "4 clusters in 240 rows" in bundle["text/html"]
    assert bundle["text/html"] == model._repr_html_()
    assert "<script" not in bundle["text/html"]
    assert bundle["text/plain"] == repr(model)


def test_a_model_that_was_not_fitted_is_shown_as_scikit_learn_does():
    assert "sk-estimator" in LMVSC(3)._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in LMVSC(3)._repr_html_()


def test_text_is_all_there_is_if_scikit_learn_is_told_so(fitted):
    _, _, model = fitted
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_a_model_from_a_file_has_a_card_too(fitted, tmp_path):
    _, _, model = fitted
    model.save(tmp_path / "model.mv")
    assert "4 clusters in 240 rows" in load(tmp_path / "model.mv")._repr_html_()


@pytest.fixture(scope="module")
def stream(fitted):
    views, _, _ = fitted
    model = LMVSC(4, n_repeats=1, random_state=0).partial_fit(views)
    model.predict(views)
    return model


def test_a_stream_is_shown_as_scikit_learn_does(stream):
    assert "sk-estimator" in stream._repr_mimebundle_()["text/html"]
    assert "sk-estimator" in stream._repr_html_()


def test_a_report_of_a_stream_is_refused(stream, fitted, tmp_path):
    with pytest.raises(ValueError, match="A stream keeps no labels"):
        stream.report(tmp_path / "r.html", fitted[0])
    assert not list(tmp_path.iterdir())


def test_names_on_the_card_are_escaped(blobs):
    X = blobs(90, 3, (4,))[0]
    card = (
        LMVSC(3, n_repeats=1, random_state=0)
        .fit(Views({"<script>alert(1)</script>": X}))
        ._repr_html_()
    )
    assert "<script" not in card and "&lt;script&gt;" in card


@pytest.mark.parametrize("static", [False, True])
def test_model_report_writes_the_page(fitted, quick_map, tmp_path, static):
    views, groups, model = fitted
    path = model.report(tmp_path / "r.html", views, labels=groups, static=static)
    page = path.read_text(encoding="utf-8")
    assert ("<script" in page) is not static
    with pytest.raises(FileExistsError):
        model.report(path, views)


def test_fitting_does_not_load_the_reports_libraries():
    script = (
        "import sys, numpy as np; from manyview import LMVSC;"
        "LMVSC(2, n_anchors=4, n_repeats=1).fit(np.eye(12));"
        "print([m for m in ('jinja2', 'matplotlib', 'manyview.report') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
