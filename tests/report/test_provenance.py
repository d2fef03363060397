"""What was run, as code and command that repeat it."""

import copy
import shlex

import numpy as np
import pytest

from manyview import LMVSC, Views
from manyview.report.provenance import describe_run


def test_the_python_code_repeats_the_fit(fitted, tmp_path, monkeypatch):
    views, _, model = fitted
    monkeypatch.chdir(tmp_path)
    code = describe_run(model)["python_code"]
    for name in views.names:
        code = code.replace(f"{name!r}: ...", f"{name!r}: given[{name!r}]")
    namespace = {"given": views}
    exec(code, namespace)
    np.testing.assert_array_equal(namespace["model"].labels_, model.labels_)
    assert (tmp_path / "report.html").exists()


def test_the_code_of_one_wide_table_names_its_views_once(blobs):
    wide = np.hstack(blobs(90, 3, (4, 5)))
    model = LMVSC(
        3, n_repeats=1, views={"a": slice(0, 4), "b": slice(4, None)}, random_state=0
    ).fit(wide)
    code = describe_run(model)["python_code"]
    assert "LMVSC(n_clusters=3, n_repeats=1, random_state=0).fit(views)" in code
    assert "'a': ...,  # 90 rows x 4 columns" in code


def test_only_what_was_changed_is_in_the_code(blobs):
    X = blobs(90, 3, (4, 5))
    model = LMVSC(3, n_anchors=20, fusion="late", n_repeats=1, random_state=4).fit(X)
    run = describe_run(model)
    code = "LMVSC(n_clusters=3, n_anchors=20, fusion='late', n_repeats=1, random_state=4)"
    assert code in run["python_code"]
    changed = [p["name"] for p in run["parameters"] if not p["is_default"]]
    assert changed == ["n_clusters", "n_anchors", "fusion", "n_repeats", "random_state"]
    assert run["command"] is None  # the command line has no such flags


class Mine(LMVSC):
    """An estimator of one's own."""


def test_the_code_names_a_class_of_ones_own(blobs):
    run = describe_run(Mine(3, random_state=0).fit(blobs(30, 3, (4,))))
    assert run["python_code"].startswith(f"from {__name__} import Mine\n")
    assert "model = Mine(n_clusters=3, random_state=0).fit(views)" in run["python_code"]
    assert run["command"] is None  # the command line knows nothing of it


def test_names_in_the_command_are_quoted(blobs):
    views = Views({"a b": blobs(90, 3, (4,))[0], "$(rm)": blobs(90, 3, (5,))[0]})
    model = LMVSC(3, random_state=0).fit(views)
    command = describe_run(model)["command"]
    assert shlex.split(command)[:4] == ["manyview", "fit", "a b=PATH", "$(rm)=PATH"]


def test_a_given_command_is_kept(fitted):
    assert describe_run(fitted[2], command="manyview fit x")["command"] == "manyview fit x"


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_a_fit_without_a_fixed_seed_is_not_repeatable(blobs, seed):
    model = LMVSC(3, n_repeats=1, random_state=seed).fit(blobs(90, 3, (4,)))
    assert not describe_run(model)["is_repeatable"]


def test_given_anchors_are_told_by_their_shape(blobs):
    X = blobs(90, 3, (4,))
    model = LMVSC(3, n_repeats=1, anchor_method=[X[0][:10]], random_state=0).fit(X)
    run = describe_run(model)
    values = {p["name"]: p["value"] for p in run["parameters"]}
    assert values["anchor_method"] == "[<ndarray of shape (10, 4)>]"
    assert "# shown in short, to be filled in: anchor_method\n" in run["python_code"]


def test_choices_of_the_model_are_kept_as_plain_facts(fitted):
    again = copy.copy(fitted[2])
    again.choices_ = [{"parameter": "alpha", "value": np.float64(0.01), "why": "because"}]
    chosen = describe_run(again)["choices"]
    assert chosen == [{"parameter": "alpha", "value": 0.01, "why": "because"}]


def test_no_command_fits_several_numbers_of_clusters(blobs):
    run = describe_run(LMVSC([2, 3], random_state=0).fit(blobs(60, 3, (4,))))
    assert run["command"] is None
    assert "n_clusters=[2, 3]" in run["python_code"]
