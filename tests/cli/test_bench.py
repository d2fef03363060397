"""``manyview bench``: methods and data by name, tables on stdout, lines in a file."""

import json

import pytest


@pytest.mark.slow
def test_own_class_and_folder_are_compared_with_ours(run, tmp_path, monkeypatch):
    import numpy as np

    from manyview import datasets

    monkeypatch.chdir(tmp_path)
    made = datasets.make_views(60, 2, (4, 5), separation=9.0, random_state=0)
    (tmp_path / "data").mkdir()
    for name, array in made.items():
        np.save(tmp_path / "data" / f"{name}.npy", array)
    np.save(tmp_path / "data" / "labels.npy", made.target)
    (tmp_path / "mymodule.py").write_text(
        "class Half:\n"
        "    def fit_predict(self, X):\n"
        "        return [i % 2 for i in range(len(X))]\n"
    )
    command = ["bench", "KMeans", "mymodule:Half", "--data", "data", "--seeds", "1"]
    result = run(*command, "--picture", "ranks.png")
    header, first, *_ = result.stdout.splitlines()
    assert header.split() == ["nmi", "KMeans", "Half"]
    assert first.split()[:2] == ["data", "1.000"]
    assert (tmp_path / "ranks.png").stat().st_size > 1000
    assert len((tmp_path / "bench.jsonl").read_text().splitlines()) == 2
    again = run(*command, "--json", "-q", "--again", "Half")
    assert [line["method"] for line in json.loads(again.stdout)] == ["KMeans", "Half"]
    assert len((tmp_path / "bench.jsonl").read_text().splitlines()) == 3


def test_methods_and_data_are_listed(run):
    result = run("bench", "--list", "--json")
    found = json.loads(result.stdout)
    assert {"LMVSC", "SMVSC", "FPMVS"} <= set(found["methods"])
    assert "digits" in found["data"]


def test_unknown_method_is_one_line_and_code_2(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("bench", "Nothing", "--data", "digits", code=2)
    assert "No method 'Nothing'" in result.stderr and "Traceback" not in result.stderr


def test_data_that_names_nothing_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "No data" in run("bench", "KMeans", "--data", ",", code=2).stderr


@pytest.mark.slow
def test_a_bench_without_any_result_has_code_1(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nothing").mkdir()
    result = run("bench", "KMeans", "--data", "nothing", "--seeds", "1", code=1)
    assert "nothing: no result of KMeans (ValueError: nothing holds no files" in result.stderr
    assert "no method has a result" in result.stderr
