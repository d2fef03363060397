"""Every option of every command, given nonsense: one line that names the option, and no Python."""

import re
from contextlib import chdir

import click
import numpy as np
import pytest
from click.testing import CliRunner

from manyview import LMVSC
from manyview.cli.group import manyview as command_line

from .conftest import FIT, VIEWS, K, is_one_line, write_files

_QUICK = ("--n-repeats", 1, "--no-report", "-q")
_FIT = (*FIT, "-o", "new", *_QUICK)
_ALONE = ("fit", "colour.csv", "--id-column", "id", "-k", K, "-o", "new", *_QUICK)
_PREDICT = ("predict", "out", *VIEWS, "-q")
_INSPECT = ("inspect", *VIEWS, "--id-column", "id", "--no-cost", "-q")
_EVALUATE = ("evaluate", "labels.csv", "labels.csv", "-q")
_CONVERT = ("datasets", "convert", "digits", "-q")
_FILE = "colour.csv"  # a file where a folder should be, or something else than was asked for

_FILES = {
    "--id-column": ["nothere"],
    "--label-column": ["nothere"],
    "--columns": ["x", "x=", "=x", "x=nothere"],
    "--drop": ["nothere", "no*"],
    "--transpose": ["nothere"],
    "--decimal": ["x", ".,", ""],
    "--encoding": ["nonsense"],
    "--join": ["x", "inner,outer", ""],
}
_COLUMNS = {"--encode": ["nothere", "no*"], "--keep": ["nothere"], "--categories": ["x", ""]}
_K = ["0", "-1", "99999", "x", "2.5", "2,3", "", "None"]
_COUNT = ["0", "-1", "x", "2.5", "2,3", ""]
_NUMBER = ["-1", "x", "nan", "inf", "1e400", ""]
_OUTPUT = [_FILE, f"{_FILE}/sub"]

NONSENSE = {
    _FIT: {
        **_FILES,
        **_COLUMNS,
        "-k": _K,
        "--labels": ["nothere.csv", "labels.csv::nothere", "plain.npy"],
        "--config": ["nothere.toml", _FILE, "new"],
        "--engine": ["x", "dask", ""],
        "--memory-limit": ["0", "-1", "x", "5 parsecs", ""],
        "-o": _OUTPUT,
        "--n-anchors": ["0", "-1", "99999", "5,0", "5,99999", "x", "2.5", ""],
        "--alpha": [*_NUMBER, "0.1,-1"],
        "--locality": [*_NUMBER, "1,2"],
        "--scaling": ["x", "unit,unit", "unit,x,unit", "unit,none,unit,unit", ""],
        "--fusion": ["x", "late,early", ""],
        "--n-repeats": _COUNT,
        "--view-weights": ["1", "1,2", "1,2,3,4", "0,0,0", "1,1,-1", "nan,1,1", "x", "1,x,1", ""],
        "--n-components": _COUNT,
        "--anchor-method": ["x", ""],
        "--n-neighbors": _COUNT,
        "--n-axes": _COUNT,
        "--max-iter": _COUNT,
        "--tol": [*_NUMBER, "1,2"],
        "--outliers": ["x", "keep,mark", ""],
        "--n-jobs": ["0", "x", "2.5", ""],
        "--seed": ["-1", "x", "99999999999", ""],
    },
    _ALONE: {"--columns": ["x=nothere", "x=red,nothere"], "--drop": ["*"]},
    ("fit", "plain.npy", "-k", K, "-o", "new", *_QUICK): {
        "--columns": ["x=a"],
        "--labels": ["labels.csv", "short.npy"],
    },
    _PREDICT: {**_FILES, "-o": ["x.txt", *_OUTPUT]},
    _INSPECT: {**_FILES, **_COLUMNS, "-k": _K, "--labels": ["nothere.csv"]},
    _EVALUATE: {"--id-column": ["nothere"], "--join": ["x", "outer", ""]},
    ("compare", "out", "out", "-q"): {
        "--id-column": ["nothere"],
        "--join": ["x", "outer", ""],
        "-o": ["x.txt", *_OUTPUT],
        "--moved": ["x.txt", _FILE],
    },
    ("report", "out", "-q"): {"-o": _OUTPUT},
    ("datasets", "get", "digits", "-q"): {"-o": _OUTPUT},
    (*_CONVERT, "-o", "new"): {
        "--to": ["x", "csv,npy", ""],
        "--path": ["nothere", "plain.npy", "."],
        "-o": _OUTPUT,
    },
    ("demo", "-q"): {"-o": _OUTPUT, "--seed": ["-1", "x"]},
    ("bench", "-q", "--results", "bench.jsonl"): {
        "--rows": ["0", "-1", "x", "5e4", ""],
        "--seed": ["-1", "x"],
        "--seeds": ["0", "-1", "x", ""],
        "--data": ["nothere"],
        "--again": ["Nothing", ""],
        "--max-rows": ["0", "x"],
        "--max-seconds": ["0", "-1", "x"],
        "--total-seconds": ["0", "x"],
        "--memory-limit": ["x", ""],
        "--format": ["html", ""],
        "--score": ["x", ""],
        "--picture": ["x.txt", "new"],
        "--results": [_FILE],
    },
    ("reproduce", "-q"): {"--seeds": ["0", "-1", "x", ""], "-o": _OUTPUT},
}
"""For every command, with what else it needs: values that each option cannot have."""

_CASES = [
    pytest.param(command, option, values, id=f"{command[0]} {option}")
    for command, options in NONSENSE.items()
    for option, values in options.items()
]
_PYTHON = re.compile(
    "|".join(name for name in (*LMVSC().get_params(), "id_column", "label_column") if "_" in name)
    + r"|\w\((?!s\))|\b[a-z_]+=|\bNone\b|\bdict\b|\blist\b|LMVSC"
)
"""Parameters, calls, keywords and types of the library."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files, and a finished fit in the folder ``out``, for all of these tests."""
    path = tmp_path_factory.mktemp("nonsense")
    write_files(path)
    with chdir(path):
        np.save("short.npy", np.zeros(5))
        assert run_here(*FIT, "-o", "out", *_QUICK).exit_code == 0
    return path


def run_here(*arguments):
    return CliRunner().invoke(command_line, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("command", "option", "values"), _CASES)
def test_nonsense_is_refused_in_one_line_that_names_the_option(folder, command, option, values):
    names = {"-k": "-k|--n-clusters", "-o": "-o|--output"}.get(option, option)
    for value in values:
        with chdir(folder):
            result = run_here(*command, option, value)
        said = result.stderr.replace(repr(value), "...")
        assert result.exit_code == 2 and result.stdout == "", (value, result.output)
        assert is_one_line(result.stderr)
        assert re.search(rf"(?<![\w-])({names})(?![\w-])", said), said
        assert not _PYTHON.search(said), said


def options_of(command):
    """The options of a command and its own commands that have values, by their first names."""
    if isinstance(command, click.Group):
        names = command.list_commands(click.Context(command))
        found = (command.get_command(click.Context(command), name) for name in names)
        return set().union(*map(options_of, found))
    options = (param for param in command.params if isinstance(param, click.Option))
    return {
        (command.name, option.opts[0])
        for option in options
        if not option.is_flag and not option.count
    }


def test_every_option_with_a_value_was_given_nonsense():
    given = {(name, option) for command, options in NONSENSE.items() for name in command[:2]
             for option in options}  # fmt: skip
    assert options_of(command_line) - given == set()
