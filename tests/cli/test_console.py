"""Errors of the library as the command line tells them: problem from there, remedy from here."""

from __future__ import annotations

import pickle

import pytest

from manyview.cli.console import as_failure, in_words
from manyview.errors import MemoryLimitError, WriteError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryLimitError("Too small.", remedy="Disk(...)", parameter="memory_limit"), "--memory-limit"),
        (WriteError("Full.", remedy="Disk(...)", parameter="checkpoint"), "-o"),
        (WriteError("Full.", remedy="Disk(...)", parameter="folder"), "TMPDIR"),
    ],
)  # fmt: skip
def test_the_remedy_is_told_in_options(error, said):
    assert in_words(error).startswith(error.problem) and said in in_words(error)
    assert "Disk" in str(error) and "Disk" not in in_words(error)


def test_what_has_no_option_is_told_as_the_library_does():
    error = WriteError("Full.", remedy="Give shelf=...", parameter="shelf")
    assert in_words(error) == str(error) == "Full. Give shelf=..."
    assert in_words(ValueError("bad")) == "bad"


def test_errors_come_back_from_other_processes_whole():
    error = pickle.loads(pickle.dumps(WriteError("Full.", remedy="Less.", parameter="folder")))
    assert (str(error), error.problem, error.parameter) == ("Full. Less.", "Full.", "folder")


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [(ValueError("x"), 2), (WriteError("x"), 1), (MemoryError(), 1), (KeyError("x"), 1)],
)
def test_exit_codes(error, exit_code):
    assert as_failure(error).code == exit_code
