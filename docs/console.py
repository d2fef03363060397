"""Commands in the documentation: find them, run them, and record what they print.

``python docs/console.py PAGE...`` runs the Python and console blocks of pages from top to bottom in an
empty folder, and puts what each command printed below it. The tests run the same blocks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

_MARKDOWN = re.compile(r"^()```(python|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_RST = re.compile(r"^( *)\.\. code-block:: (python|console)\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


class Block(NamedTuple):
    """Some lines of a page: what they are, where they start, and the lines without indentation."""

    kind: str
    start: int
    end: int
    text: str


def find_blocks(page: str) -> list[Block]:
    """Give the Python and console blocks of a page, in their order."""
    found = [
        Block(match[2], match.start(3), match.end(3), textwrap.dedent(match[3]))
        for pattern in (_MARKDOWN, _RST)
        for match in pattern.finditer(page)
    ]
    return sorted(found, key=lambda block: block.start)


def find_commands(text: str) -> list[str]:
    """Give the commands of a console block: lines after ``$``, with their continuation lines."""
    commands: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif commands and commands[-1].endswith("\\"):
            commands[-1] += "\n" + line.removeprefix("> ")
    return commands


class Session:
    """A folder in which the blocks of one page run, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "examples").symlink_to(Path(__file__).parent.parent / "examples")  # as in a clone
        self._namespace = {"__name__": "page"}
        programs = folder.parent / f"{folder.name}-bin"
        programs.mkdir(exist_ok=True)
        program = programs / "manyview"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m manyview "$@"\n')
        program.chmod(0o755)
        self._environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "100",
        }

    def run_python(self, code: str, *, name: str = "page") -> None:
        """Run a Python block."""
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            exec(compile(code, name, "exec"), self._namespace)
        finally:
            os.chdir(before)

    def run_command(self, command: str) -> tuple[int, str]:
        """Run a command as a shell would; give its exit code and all that it printed."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


def record(page: Path) -> None:
    """Run a page, and write what its commands printed into it."""
    text = page.read_text(encoding="utf-8")
    pieces, place = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        folder.mkdir()
        session = Session(folder)
        for block in find_blocks(text):
            if block.kind == "python":
                session.run_python(block.text)
                continue
            lines = []
            for command in find_commands(block.text):
                _, output = session.run_command(command)
                printed = "\n".join(line.rstrip() for line in output.rstrip().splitlines())
                lines += ["$ " + command.replace("\n", "\n> "), printed]
            indent = " " * (len(text[block.start :]) - len(text[block.start :].lstrip(" ")))
            body = textwrap.indent("\n".join(filter(None, lines)), indent)
            pieces += [text[place : block.start], body, "\n"]
            tail = text[block.start : block.end]
            pieces.append("\n" * (len(tail) - len(tail.rstrip("\n")) - 1))
            place = block.end
    page.write_text("".join(pieces) + text[place:], encoding="utf-8")


if __name__ == "__main__":
    for path in sys.argv[1:]:
        record(Path(path))
