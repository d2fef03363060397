"""List what errors and warnings say, from the code that raises them, for the page that can be searched.

``conf.py`` writes ``reference/messages.rst`` when the documentation is built. Texts are followed through
names, constants, conditions and functions that make them; what only a run can tell becomes an ellipsis.
"""

import ast
import itertools
import re
import tomllib
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "manyview"
_HEAD = """What errors and warnings say
============================

Every error and warning of the library, so that the search box finds it; … stands for the part that
varies. Each message says what was wrong, what was found, and what to do; some appear only as a part of
another. On the command line, the names of parameters appear as options. :ref:`error-classes` at the end
lists what a program can catch.

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
_LEAST = 6  # letters of a message that is worth looking for
_MOST = 24  # variants of one message; more are one with an ellipsis
_DEEP = 5  # names and functions on the way to a text
_ANY = ("…",)
_IN_WORDS = {
    "count",
    "visible",
    "bytes_in_words",
    "seconds_in_words",
    "first_few",
    "percent",
    "number",
}
"""Functions that put numbers and names into words."""
_LISTING = {"tables_sharing_no_id"}
"""Functions whose lists are warned of, entry by entry."""
_TELLING = ("Error", "Warning", "Failure", "BadParameter", "BadZipFile", "KeyboardInterrupt")
_NAMED = ("ParameterError", "ParameterTypeError", "error")
"""Errors whose first argument is a parameter; ``error`` stands for one of the two."""


class Texts:
    """What the functions and constants of the package say, by name; a name used twice is unknown."""

    def __init__(self, trees):
        self.functions, self.constants, self.own = {}, {}, {}
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, []).append(node)
            for name, value in _constants_of(tree):
                self.constants.setdefault(name, []).append(value)

    def say(self, node, scope=None, depth=0):
        """All texts that an expression may be, as far as they can be read."""
        if isinstance(node, ast.Constant):
            return ("",) if node.value is None else (node.value,) if _is_text(node) else _ANY
        if depth > _DEEP or node is None:
            return _ANY
        more = (scope, depth + 1)
        if isinstance(node, ast.JoinedStr):
            return _joined([self.say(part, *more) for part in node.values])
        if isinstance(node, ast.FormattedValue):
            is_text = node.conversion == -1 and node.format_spec is None
            return self.say(node.value, *more) if is_text else _ANY
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and not _is_sum(node):
            return _joined([self.say(node.left, *more), self.say(node.right, *more)])
        if isinstance(node, ast.IfExp):
            return self.say(node.body, *more) + self.say(node.orelse, *more)
        if isinstance(node, ast.BoolOp):
            return tuple(t for value in node.values for t in self.say(value, *more))
        if isinstance(node, ast.Name):
            return self._say_name(node.id, *more)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            given = self.constants.get(node.value.id, [])
            if len(given) == 1 and isinstance(given[0], ast.Dict):
                return tuple(t for value in given[0].values for t in self.say(value, *more))
        if isinstance(node, ast.Call):
            return self._say_call(node, *more)
        return _ANY

    def _say_name(self, name, scope, depth):
        if scope is not None and (values := _assigned(scope, name)):
            return tuple(t for value in values for t in self.say(value, scope, depth))
        given = [self.own[name]] if name in self.own else self.constants.get(name, [])
        return self.say(given[0], None, depth) if len(given) == 1 else _ANY

    def _say_call(self, node, scope, depth):
        name = _name(node)
        if name == "format":
            return tuple(
                re.sub(r"\{.*?\}", "…", t) for t in self.say(node.func.value, scope, depth)
            )
        if name in ("rstrip", "strip", "capitalize"):
            return self.say(node.func.value, scope, depth)
        if name == "join" and node.args and isinstance(node.args[0], (ast.Tuple, ast.List)):
            parts = node.args[0].elts
            return _joined([self.say(part, scope, depth) for part in parts], " ")
        known = self.functions.get(name, []) if name not in _IN_WORDS else []
        if len(known) == 1 and (parts := _returned(known[0])):
            return tuple(t for part in parts for t in self.say(part, known[0], depth))
        return _ANY

    def find_messages(self, tree):
        """The line of every place in a module that makes an error or a warning, and its texts."""
        self.own = dict(_constants_of(tree))
        scopes = {
            child: node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            for child in ast.walk(node)
        }  # the innermost function comes last
        raised = {node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_telling(node, is_raised=node in raised):
                yield node.lineno, self._messages_of(node, scopes.get(node))
            elif isinstance(node, ast.FunctionDef) and node.name in _LISTING:
                listed = [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
                yield node.lineno, _worth_finding(t for part in listed for t in self.say(part))
            elif pair := _title_and_text(node):
                said = _joined([self.say(part, scopes.get(node)) for part in pair], ". ")
                yield node.lineno, _worth_finding(said)

    def _messages_of(self, call, scope):
        arguments = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
        parts = [self.say(arg, scope) for arg in arguments[:2]]
        if len(parts) == 2 and _name(call) not in _NAMED and parts[0] != _ANY:
            parts = parts[:1]  # what follows is no text; after the number of an error, it is
        parts += [self.say(k.value, scope) for k in call.keywords if k.arg == "remedy"]
        return _worth_finding(_joined(parts, " "))


def _joined(parts, between=""):
    """Every text of the first part followed by every one of the next, and so on."""
    n_texts = 1
    for texts in parts:
        n_texts *= len(texts)
    if n_texts > _MOST:
        parts = [texts if len(texts) == 1 else _ANY for texts in parts]
    return tuple(between.join(each) for each in itertools.product(*parts))


def _tidy(text):
    text = re.sub(r"%[sdrg]", "…", text)  # of the log
    return re.sub(r"(?:… ?){2,}", "… ", " ".join(text.split())).strip()


def _worth_finding(texts):
    """Those with enough words of ours, each once."""
    tidy = dict.fromkeys(map(_tidy, texts))
    return tuple(text for text in tidy if len(re.sub(r"[^a-zA-Z]", "", text)) >= _LEAST)


def _is_telling(call, *, is_raised):
    name = _name(call)
    is_warning = name in ("warn_user", "_warn_unsettled", "warning")
    return is_warning or name.endswith(_TELLING) or (is_raised and name == "error")


def _title_and_text(node):
    """Of what is said as a caution, and in the report."""
    if isinstance(node, ast.Call) and _name(node) == "_warning":
        return node.args[1:3]
    if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
        *_, last = node.value.elts
        if isinstance(last, ast.JoinedStr) or _is_text(last):
            return node.value.elts
    return None


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_sum(node):
    return any(isinstance(x, ast.Constant) and not _is_text(x) for x in (node.left, node.right))


def _constants_of(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _name(call):
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _assigned(scope, name):
    """What a function assigns to a name."""
    targets = {ast.Assign: lambda node: node.targets, ast.NamedExpr: lambda node: [node.target]}
    return [
        node.value
        for node in ast.walk(scope)
        if type(node) in targets
        and any(isinstance(x, ast.Name) and x.id == name for x in targets[type(node)](node))
    ]


def _returned(function):
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]


def read_package():
    """The files of the package, as trees."""
    return {
        path.relative_to(SOURCE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def write_page(path):
    """Write all messages, one list for each room of the package."""
    files, rooms = read_package(), {}
    texts = Texts(files.values())
    for file, tree in files.items():
        found = [text for _, said in texts.find_messages(tree) for text in said]
        rooms.setdefault(_TITLES.get(file.parts[0], _REST), []).extend(found)
    rooms[_TITLES["datasets"]] += _said_of_datasets()
    page = _HEAD
    for title, messages in sorted(rooms.items(), key=lambda room: (room[0] == _REST, room[0])):
        if messages:
            page += f"{title}\n{'-' * len(title)}\n\n"
            escaped = (
                re.sub(r"([\\*`|_:])", r"\\\1", message) for message in dict.fromkeys(messages)
            )
            page += "".join(f"- {message}\n" for message in escaped) + "\n"
    path.write_text(page + _CLASSES + "".join(map(_autoexception, _classes())), encoding="utf-8")


def _said_of_datasets():
    known = tomllib.loads((SOURCE / "datasets" / "registry.toml").read_text(encoding="utf-8"))
    return [" ".join(one["warning"].split()) for one in known.values() if "warning" in one]


def _classes():
    tree = ast.parse((SOURCE / "errors.py").read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def _autoexception(name):
    return f".. autoexception:: manyview.errors.{name}\n   :show-inheritance:\n\n"
