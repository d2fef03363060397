"""The group of commands: help, exit codes, one-line errors, and what it must not import."""

import subprocess
import sys

import pytest

import manyview
from manyview.cli.group import COMMANDS
from manyview.engines.files import writing


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_lists_every_command(run, arguments):
    result = run(*arguments)
    assert all(f"  {name} " in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(run, name):
    result = run(name, "--help")
    assert result.stdout.startswith(f"Usage: manyview {name} ")


def test_a_group_without_a_command_says_what_it_has(run):
    assert "\n  convert  " in run("datasets").stdout


def test_version_is_the_package_version(run):
    assert run("--version").stdout == f"manyview {manyview.__version__}\n"


@pytest.mark.parametrize("arguments", [("bogus",), ("demo", "--bogus"), ("demo", "--seed", "-1")])
def test_bad_usage_is_one_line_and_exit_code_2(run, arguments):
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("manyview: ") and result.stderr.count("\n") == 1
    assert "--help" in result.stderr


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [(ValueError("bad\nnumbers"), 2), (OSError("disk full"), 1), (RuntimeError("bug"), 1)],
)
def test_errors_inside_a_command_are_one_line(monkeypatch, tmp_path, run, error, exit_code):
    def fail(*arguments):
        raise error

    monkeypatch.setattr("manyview.datasets.digits_views", fail)
    result = run("demo", "-o", tmp_path, code=exit_code)
    assert result.stderr.startswith("manyview: ") and result.stderr.count("\n") == 1
    assert " ".join(str(error).split()) in result.stderr
    traced = run("--traceback", "demo", "-o", tmp_path, code=1)
    assert traced.exception is error


def test_errors_name_options_rather_than_parameters(monkeypatch, tmp_path, run):
    def fail(*arguments):
        with writing(tmp_path / "x", "a checkpoint", for_checkpoint=True):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("manyview.datasets.digits_views", fail)
    result = run("demo", "-o", tmp_path, code=1)
    assert "or choose another folder with -o." in result.stderr


def test_help_loads_nothing_heavy():
    """Neither the group's help nor that of any command imports what takes long."""
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from manyview.cli.group import COMMANDS, manyview\n"
        "for name in ['', *COMMANDS]:\n"
        "    arguments = [name, '--help'] if name else ['--help']\n"
        "    assert CliRunner().invoke(manyview, arguments).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'pandas', 'pyarrow'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert run_python(code).stdout.strip() == "[]"


@pytest.mark.parametrize("library", ["click", "matplotlib"])
def test_a_missing_library_is_named_with_what_to_install(library, tmp_path):
    code = (
        "import sys\n"
        f"sys.modules[{library!r}] = None\n"
        f"sys.argv = ['manyview', 'demo', '-o', {str(tmp_path)!r}]\n"
        "from manyview.cli import main\n"
        "main()\n"
    )
    finished = run_python(code)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr == (
        f"manyview: the command line needs {library}, which is not installed: "
        "pip install 'manyview[cli,report]'\n"
    )
    assert list(tmp_path.iterdir()) == []
