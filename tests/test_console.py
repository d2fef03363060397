"""Every command in the README and the documentation runs, in the order of its page.

Commands of ours run in this process, where every fit takes one anchor seed instead of all.
"""

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from manyview.cli import options
from manyview.cli.group import COMMANDS
from manyview.cli.group import manyview as command_line

ROOT = Path(__file__).parent.parent
BUILT = ("_build", "generated")

_specification = importlib.util.spec_from_file_location("console", ROOT / "docs" / "console.py")
console = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(console)

KEY_WORDS = {
    "fit": "clusters in",
    "predict": "clusters",
    "evaluate": "accuracy",
    "compare": "in the same cluster",
    "inspect": "fit -k",
    "report": ".html",
    "datasets": "digits",
}
"""What the output of a command must hold."""

_SHELL = re.compile(
    r"^```sh\n(.*?)^```|^\.\. code-block:: sh\n\n((?: +[^\n]*\n|\n)+)", re.DOTALL | re.MULTILINE
)


def read_pages():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.rst")]
    return {
        page: page.read_text(encoding="utf-8")
        for page in sorted(pages)
        if not set(BUILT) & set(page.parts)
    }


PAGES = read_pages()
WITH_COMMANDS = [
    page
    for page, text in PAGES.items()
    if any(b.kind == "console" for b in console.find_blocks(text))
]


def test_blocks_and_commands_are_found():
    page = "text\n\n.. code-block:: console\n\n   $ a b \\\n   >    c\n   printed\n   $ d\n\nmore\n"
    (block,) = console.find_blocks(page)
    assert console.find_commands(block.text) == ["a b \\\n   c", "d"]
    assert {"README.md", "command_line.rst", "files.rst"} <= {page.name for page in WITH_COMMANDS}


@pytest.fixture
def run_command(tmp_path, monkeypatch):
    """Give a function that runs a line of a page, and gives its exit code and all that it printed."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    take = options.take_parameters
    monkeypatch.setattr(options, "take_parameters", lambda given: {"n_repeats": 1, **take(given)})
    session = console.Session(folder)

    def run(command):
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] != "manyview":
            return session.run_command(command)
        result = CliRunner().invoke(command_line, words[1:])
        name = next(word for word in words[1:] if not word.startswith("-"))
        assert KEY_WORDS[name] in result.output, result.output
        return result.exit_code, result.output

    run.session = session
    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_commands_run(page, run_command):
    n_commands = 0
    for block in console.find_blocks(PAGES[page]):
        if block.kind == "python":
            if page.name != "README.md":  # its Python makes no file, and runs in another test
                run_command.session.run_python(block.text, name=str(page))
            continue
        for command in console.find_commands(block.text):
            code, output = run_command(command)
            assert code == 0, f"{command}\n{output}"
            n_commands += 1
    assert n_commands > 0


def test_a_session_runs_lines_as_a_shell_does(tmp_path):
    session = console.Session(tmp_path / "work")
    session.run_python("from pathlib import Path; Path('a.txt').write_text('1\\n2\\n')")
    assert session.run_command("manyview --version | wc -l; head -1 a.txt") == (0, "1\n1\n")
    assert session.run_command("manyview nonsense")[0] == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_other_commands_exist(page):
    """What is not run, because it installs or builds, is at least there."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    lines = [
        shlex.split(line, comments=True)
        for match in _SHELL.finditer(PAGES[page])
        for line in (match[1] or match[2]).splitlines()
        if line.strip()
    ]
    known = {
        "make": targets,
        "manyview": set(COMMANDS),
        "dask": {"scheduler", "worker"},
        "conda": {"build"},
        ".venv/bin/python": {"-m"},
        "python3": {"-m"},
        "source": {".venv/bin/activate"},
        **{f"_MANYVIEW_COMPLETE={shell}_source": {"manyview"} for shell in ("bash", "zsh", "fish")},
    }
    for program, *words in lines:
        if program == "pip":
            wanted = re.search(r"\[(.*)\]", " ".join(words))
            assert wanted is None or set(wanted[1].split(",")) <= set(extras)
        else:
            assert words[0] in known[program], f"{program} {words[0]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_text_exist(page):
    named = set(re.findall(r"`manyview ([a-z]+)`", PAGES[page]))
    assert named <= set(COMMANDS)
