"""``manyview reproduce``: a run, the same run again, and what it refuses."""

import json

import pytest

from manyview.reproduce import figures
from manyview.reproduce.plan import Options


def test_names_are_listed(run):
    result = run("reproduce", "--list")
    assert "handwritten" in result.stdout and "sensitivity" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense",), "no table or figure 'nonsense'"),
        (("all", "--quick", "--no-budget"), "exclude each other"),
        (("--seeds", "0"), "--seeds"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(tmp_path, run, arguments, words):
    result = run("reproduce", *arguments, "-o", tmp_path / "out", code=2)
    assert words in result.stderr and result.stderr.count("\n") == 1


def test_a_folder_of_other_files_is_left_alone(tmp_path, run):
    (tmp_path / "results.jsonl").write_text("mine\n")
    result = run("reproduce", "row-order", "--quick", "-o", tmp_path, code=2)
    assert "--force" in result.stderr
    assert (tmp_path / "results.jsonl").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("earlier", "arguments", "words"),
    [
        (("quick", None), (), "a run of the quick form, and this is one of the full form"),
        (("quick", 2), ("--quick", "--seeds", "3"), "of the quick form with --seeds 3"),
    ],
)
def test_another_form_does_not_go_into_the_same_folder(tmp_path, run, earlier, arguments, words):
    form, seeds = earlier
    record = {"targets": ["row-order"], "form": form, "seeds": seeds}
    before = json.dumps({"made_by": "manyview reproduce", **record})
    (tmp_path / "run.json").write_text(before)
    result = run("reproduce", "row-order", *arguments, "-o", tmp_path, code=2)
    assert words in result.stderr and "-o" in result.stderr
    assert (tmp_path / "run.json").read_text() == before


@pytest.mark.slow
def test_a_run_writes_its_pages_and_the_next_one_computes_nothing(
    tmp_path, monkeypatch, small_msrc, run
):
    two = [one for one in figures.ordered(Options("quick")) if one.title in ("k-means", "AMGL")]
    monkeypatch.setattr(figures, "ordered", lambda options: two)
    folder = tmp_path / "out"
    command = ("reproduce", "row-order", "--quick", "--json", "-o", folder)
    first = run(*command)
    facts = json.loads(first.stdout)
    assert (facts["n_computed"], facts["is_complete"]) == (8, True)
    assert {claim["verdict"] for claim in facts["claims"]} == {"not judged", "not measured"}
    assert "row order: AMGL" in first.stderr
    page = (folder / "reproduce.html").read_text()
    assert 'id="row_order"' in page and 'id="handwritten"' not in page
    lines = [json.loads(text) for text in (folder / "results.jsonl").read_text().splitlines()]
    assert len(lines) == 8 and {line["status"] for line in lines} == {"done"}
    again = json.loads(run(*command).stdout)
    assert (again["n_computed"], again["n_lines"]) == (0, 8)
