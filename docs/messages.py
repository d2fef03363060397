"""List what errors and warnings say, from the code that raises them, for the page that can be searched.

``conf.py`` writes ``reference/messages.rst`` when the documentation is built.
"""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "manyview"
_HEAD = """What errors and warnings say
============================

Every error and warning of the library, so that the search box finds it; … stands for the part that
varies. Each message says what was wrong, what was found, and what to do. On the command line, the names
of parameters appear as options. :ref:`error-classes` at the end lists what a program can catch.

"""
_CLASSES = """.. _error-classes:

The classes
-----------

Most are also a ``ValueError``, a ``TypeError`` or an ``OSError``, so those can be caught instead.

"""
_TITLES = {
    "baselines": "Comparison methods", "bench": "The bench", "cli": "The command line",
    "datasets": "Data sets", "engines": "Engines", "estimator": "LMVSC", "explain": "Explanations",
    "pipeline": "Fitting, and models", "readers": "Reading files", "report": "Reports",
    "reproduce": "The paper's experiments", "sc": "Single cells", "simplex": "The solver",
    "sources": "Rows in files", "stages": "Stages of a fit", "views": "Views",
}  # fmt: skip
_REST = "Everywhere"
_LEAST = 20  # letters of a message that is worth looking for


def find_messages(tree):
    """The messages of a module, in the order of its lines."""
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call) or not _is_telling(call):
            continue
        is_named = _name(call) in ("ParameterError", "ParameterTypeError")
        text = " ".join(map(_text, call.args[: 2 if is_named else 1]))
        remedy = next((_text(k.value) for k in call.keywords if k.arg == "remedy"), "")
        text = re.sub(
            r"(… ?)+(?=…)|\s+", lambda m: " " if m[0].isspace() else "", f"{text} {remedy}"
        )
        is_pythons = "has no attribute" in text  # not a message of ours
        if len(re.sub(r"[^a-zA-Z]", "", text)) >= _LEAST and not is_pythons:
            yield text.strip()


def _is_telling(call):
    return _name(call).endswith(("Error", "Warning", "Failure")) or _name(call) == "warn_user"


def _name(call):
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _text(node):
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "…"


def write_page(path):
    """Write all messages, one list for each room of the package."""
    rooms = {}
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).parts[0]
        found = find_messages(ast.parse(file.read_text(encoding="utf-8")))
        rooms.setdefault(_TITLES.get(room, _REST), []).extend(found)
    text = _HEAD
    for title, messages in sorted(rooms.items(), key=lambda room: (room[0] == _REST, room[0])):
        if messages:
            text += f"{title}\n{'-' * len(title)}\n\n"
            escaped = (
                re.sub(r"([\\*`|_:])", r"\\\1", message) for message in dict.fromkeys(messages)
            )
            text += "".join(f"- {message}\n" for message in escaped) + "\n"
    path.write_text(text + _CLASSES + "".join(map(_autoexception, _classes())), encoding="utf-8")


def _classes():
    tree = ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def _autoexception(name):
    return f".. autoexception:: manyview.errors.{name}\n   :show-inheritance:\n\n"
