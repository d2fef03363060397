"""A run file: options as TOML, paths from its folder, overridden by flags."""

import json

import pytest

from .conftest import is_one_line

RUN = """
n_clusters = 3
output = "from-file"
labels = "labels.csv"
id_column = "id"
seed = 4
report = false

[views]
first = "colour.csv"
second = "shape.parquet"

[parameters]
n_anchors = [10, 20]
alpha = 0.05
n_repeats = 1
"""


@pytest.fixture
def run_file(files):
    (files / "deep").mkdir()
    for name in ("colour.csv", "shape.parquet", "labels.csv"):
        (files / name).rename(files / "deep" / name)
    path = files / "deep" / "run.toml"
    path.write_text(RUN)
    return path


def facts_of(folder):
    return json.loads((folder / "summary.json").read_text())["fit"]


def test_a_run_file_says_everything(run_file, run):
    run("fit", "--config", run_file)
    facts = facts_of(run_file.parent / "from-file")
    assert [view["name"] for view in facts["views"]] == ["first", "second"]
    assert facts["seed"] == 4
    parameters = facts["parameters"]
    assert (parameters["n_anchors"], parameters["alpha"]) == ([10, 20], 0.05)
    assert parameters["n_repeats"] == 1
    assert facts["scores"]["accuracy"] == 1.0
    assert not (run_file.parent / "from-file" / "report.html").exists()


def test_flags_override_it(run_file, run):
    run(
        "fit", "own=deep/colour.csv", "--config", run_file, "-k", "2", "-o", "own", "--alpha", "0.5",
        "--seed", "9", "--n-repeats", "2",
    )  # fmt: skip
    facts = facts_of(run_file.parent.parent / "own")
    assert [view["name"] for view in facts["views"]] == ["own"]
    assert (facts["n_clusters"], facts["seed"]) == (2, 9)
    assert facts["parameters"]["alpha"] == 0.5
    assert facts["parameters"]["n_repeats"] == 2
    assert facts["parameters"]["n_anchors"] == [10, 20]


def test_columns_and_lists_of_files(files, run):
    (files / "run.toml").write_text(
        'views = ["colour.csv"]\nid_column = "id"\nn_clusters = 3\noutput = "o"\nreport = false\n'
        '[columns]\nwarm = "red"\ncold = ["green", "blue"]\n'
    )
    run("fit", "--config", "run.toml")
    assert facts_of(files / "o")["columns"] == {"warm": ["red"], "cold": ["green", "blue"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n_cluster = 3", "unknown key 'n_cluster'. Did you mean 'n_clusters'?"),
        ("[parameters]\nalfa = 3", "unknown key 'alfa'. Did you mean 'alpha'?"),
        ("n_clusters = ", "is not TOML"),
        ("views = 3", "views must be a table NAME = PATH"),
        ("views = ['nothere.csv']", "There is no file nothere.csv"),
        ("views = {a = 5}", "views must be a table NAME = PATH"),
        ("columns = 3", "columns must be a table"),
        ("columns = {a = 5}", "--columns can split a table only"),
        ("seed = 1.5", "'--seed': '1.5' is not a valid integer"),
        ("seed = true", "'--seed': 'True' is not a valid integer"),
        ("labels = 3", "There is no file 3"),
        ("join = 5", "'--join': '5' is not one of"),
        ("report = 'maybe'", "'maybe' is not a valid boolean"),
        ("drop = [3]", "--drop must name a column of the files; none has '3'"),
        ("parameters = 5", "parameters must be a table; got 5"),
        ("parameters = {n_anchors = [20.5]}", "'20.5' is not a whole number"),
        ("parameters = {n_anchors = [[2]]}", "'[2]' is not a whole number"),
        ("parameters = {max_iter = 1.5}", "'--max-iter': '1.5' is not a valid integer"),
        ("parameters = {n_axes = 1.5}", "'--n-axes': '1.5' is not a whole number"),
        ("parameters = {n_init = 1}", "unknown key 'n_init'"),
        ("parameters = {n_jobs = true}", "'--n-jobs': 'True' is not a valid integer"),
    ],
)
def test_mistakes_in_it_are_one_line(files, run, text, message):
    (files / "run.toml").write_text(text)
    result = run("fit", "--config", "run.toml", "-k", "3", "-o", "x", "plain.npy", code=2)
    assert is_one_line(result.stderr) and message in result.stderr


def test_a_seed_before_the_command_overrides_it_too(run_file, run):
    run("--seed", "11", "fit", "--config", run_file)
    assert facts_of(run_file.parent / "from-file")["seed"] == 11
