"""``manyview report``: the page again, from facts or from the views."""

import json
import sys
import warnings

import pytest

from .conftest import FIT, is_one_line


@pytest.mark.parametrize("with_facts", [True, False], ids=["from facts", "from the views"])
def test_the_page_is_made_again(files, run, with_facts, monkeypatch):
    run(*FIT, "-o", "out", *(() if with_facts else ("--no-report",)))
    monkeypatch.chdir("/")  # the views are found again from anywhere
    result = run("report", files / "out", "-o", files / "again.html")
    assert result.stdout == f"{files / 'again.html'}\n"
    assert "<html" in (files / "again.html").read_text(encoding="utf-8")
    assert "reading its views again" in result.stderr or with_facts
    assert "map" in json.loads((files / "out" / "summary.json").read_text())


def test_a_page_without_scripts(files, run):
    run(*FIT, "-o", "out")
    result = run("report", "out", "--static", "--force", "--json")
    assert json.loads(result.stdout)["report"] == "out/report.html"
    assert "<script" not in (files / "out" / "report.html").read_text(encoding="utf-8")


def test_warnings_are_remarks(fitted, run, monkeypatch):
    from manyview.report import build_summary

    def warn(*arguments, **options):
        warnings.warn("odd rows", stacklevel=2)
        return build_summary(*arguments, **options)

    # Another test may have imported the module a second time: this is the one that commands find.
    monkeypatch.setattr(sys.modules["manyview.report"], "build_summary", warn)
    assert "manyview: warning: odd rows\n" in run("report", "out").stderr


def test_a_page_is_not_replaced_without_force(fitted, run):
    (fitted / "report.html").write_text("mine")
    result = run("report", "out", code=2)
    assert is_one_line(result.stderr) and "--force" in result.stderr
    assert (fitted / "report.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no summary.json"),
        ("{", "is damaged"),
        ("{}", "not written by 'manyview fit'"),
        ('{"fit": 3}', "not written by 'manyview fit'"),
        ('{"fit": {}}', "is damaged: it lacks 'inputs'"),
        ('{"fit": {}, "map": {}}', "is damaged: it lacks"),
        ('{"fit": {}, "map": {}, "format": 1}', "are of another version of manyview"),
    ],
)
def test_other_folders_are_refused(tmp_path, run, content, message):
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    result = run("report", tmp_path, code=2)
    assert is_one_line(result.stderr) and message in result.stderr


def test_views_that_moved_are_named(fitted, files, run):
    (files / "colour.csv").unlink()
    result = run("report", "out", code=2)
    assert "There is no file" in result.stderr and "colour.csv" in result.stderr


def test_a_folder_that_is_not_there_is_not_made(tmp_path, run):
    run("report", tmp_path / "nosuch", code=2)
    assert not (tmp_path / "nosuch").exists()
