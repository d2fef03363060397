"""The guide's command passes what every command must."""

import sys
from contextlib import chdir

import pytest

from manyview.cli import group
from tests.templates import command

from . import test_options
from .conftest import VIEWS

COUNT = ("count", *VIEWS, "--id-column", "id", "-q")
NONSENSE = {**test_options._FILES, **test_options._COLUMNS, "--labels": ["nothere.csv"]}
folder = test_options.folder


@pytest.fixture(autouse=True)
def merged(monkeypatch):
    """The line that a merge adds, and the file beside the others."""
    monkeypatch.setattr(group, "COMMANDS", (*group.COMMANDS, "count"))
    monkeypatch.setitem(sys.modules, "manyview.cli.count", command)


def test_it_explains_itself(run):
    assert "  count " in run("--help").stdout
    assert run("count", "--help").stdout.startswith("Usage: manyview count ")


def test_it_prints_a_table_or_json(files, run):
    assert "colour" in run(*COUNT).stdout
    assert '"shape": [' in run(*COUNT, "--json").stdout


def test_all_its_options_are_given_nonsense():
    assert {option for _, option in test_options.options_of(command.command)} == set(NONSENSE)


@pytest.mark.parametrize("option", NONSENSE)
def test_nonsense_is_refused(folder, option):
    with chdir(folder):
        result = test_options.run_here(*COUNT, option, NONSENSE[option][0])
    assert result.exit_code == 2 and option in result.stderr
    test_options.test_nonsense_is_refused_in_one_line_that_names_the_option(
        folder, COUNT, option, NONSENSE[option]
    )
