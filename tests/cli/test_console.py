"""Errors of the library as the command line tells them: problem from there, remedy from here."""

import pickle

import pytest

from manyview.cli.console import as_failure, in_words
from manyview.cli.fit import command as fit
from manyview.errors import CheckpointError, MemoryLimitError, ParameterError, WriteError


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


def test_what_has_no_option_is_told_without_advice_in_python():
    error = WriteError("Full.", remedy="Give shelf=...", parameter="shelf")
    assert (str(error), in_words(error)) == ("Full. Give shelf=...", "Full.")
    assert in_words(ValueError("bad")) == "bad"


def test_parameters_are_called_as_the_options_of_the_command_are():
    error = ParameterError("n_clusters", "must be at least 1; got 0.")
    assert str(error) == in_words(error) == "n_clusters must be at least 1; got 0."
    assert in_words(error, fit) == "-k must be at least 1; got 0."
    named = ("n_clusters", "random_state", "view_names")
    error = CheckpointError(
        "Other settings.", remedy="Use Disk(...).", parameter="other fit", named=named
    )
    assert str(error) == "Other settings (n_clusters, random_state, view_names). Use Disk(...)."
    assert in_words(error, fit).startswith(
        "Other settings (-k, --seed, view names). Use the same, choose"
    )


def test_errors_come_back_from_other_processes_whole():
    error = pickle.loads(pickle.dumps(WriteError("Full.", remedy="Less.", parameter="folder")))
    assert (str(error), error.problem, error.parameter) == ("Full. Less.", "Full.", "folder")
    error = pickle.loads(pickle.dumps(ParameterError("alpha", "must be less.")))
    assert (str(error), error.parameter) == ("alpha must be less.", "alpha")


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [(ValueError("x"), 2), (WriteError("x"), 1), (MemoryError(), 1), (KeyError("x"), 1)],
)
def test_exit_codes(error, exit_code):
    assert as_failure(error).code == exit_code


ESCAPES = "\x1b]0;owned\x07\x1b[31m\u202e"


def test_no_control_character_of_a_name_reaches_a_terminal(run, files):
    name = f"a{ESCAPES}"
    (files / f"{name}.npy").write_bytes((files / "plain.npy").read_bytes())
    shown = [
        run("fit", f"{name}.npy", "-k", "3", "-o", "out", "--no-report"),
        run("inspect", f"{name}.npy"),
        run("fit", f"{name}.nothing", "-k", "3", "-o", "out2", code=2),
        run("fit", "plain.npy", "-k", name, "-o", "out2", code=2),
    ]
    for result in shown:
        assert "\\x1b]0;owned" in result.output
        assert not {"\x1b", "\x07", "\u202e"} & {*result.output}
