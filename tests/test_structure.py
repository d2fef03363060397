"""The package's shape: what the root holds, who tests what, how long files are, how docstrings begin."""

import ast
import html
import json
import re
import runpy
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "manyview"
MODULES = sorted(SOURCE.rglob("*.py"))
WITH_CODE = [path for path in MODULES if path.name not in ("__init__.py", "__main__.py")]

ROOMS = {
    "baselines", "bench", "cli", "datasets", "engines", "estimator", "explain", "pipeline", "readers",
    "report", "reproduce", "sc", "simplex", "sources", "stages", "views",
}  # fmt: skip

SUITES = {
    "readers": "readers/test_contract.py",
    "simplex/kernels": "contracts/test_solver.py",
    "sources": "contracts/test_sources.py",
}
"""Rooms of plug-ins, and the suite that runs over all of them."""

ELSEWHERE = {
    "cli/speed.py": "cli/test_terminal.py",
    "cli/results.py": "cli/test_fit.py",
    "engines/dask_graphs.py": "engines/test_dask.py",
    "estimator/answers.py": "estimator/test_predict.py",
    "estimator/growing.py": "estimator/test_update.py",
    "estimator/lmvsc.py": "estimator/test_attributes.py",
    "estimator/loading.py": "pipeline/test_persistence.py",
    "estimator/rows.py": "estimator/test_input.py",
    "pipeline/known_rows.py": "estimator/test_weights.py",
    "pipeline/plan.py": "pipeline/test_fit.py",
    "pipeline/spectrum.py": "pipeline/test_fit.py",
    "bench/provenance.py": "benchmarks/test_benchmarks.py",
    "simplex/problem.py": "simplex/test_solver.py",
    "stages/kernels.py": "stages/test_kmeans.py",
    "stages/mapping.py": "stages/test_scaling.py",
    "views/blocks.py": "views/test_container.py",
}
"""Parts that are tested by way of what they are a part of."""


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def read(path):
    return path.read_text(encoding="utf-8")


def test_the_root_holds_what_users_import_and_little_else():
    assert len(list(SOURCE.glob("*.py"))) <= 10
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == ROOMS


def test_the_way_of_the_data_has_few_layers():
    project = tomllib.loads(read(TESTS.parent / "pyproject.toml"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (way,) = [contract for contract in contracts if contract["name"].startswith("The data's way")]
    assert len(way["layers"]) <= 12


def documented(tree):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node)]


def test_a_module_can_be_read_in_one_sitting():
    lengths = {name_of(path): len(read(path).splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > 500} == {}


def test_docstrings_say_what_you_get_and_not_that_it_is_given():
    beginnings = [
        f"{name_of(path)}: {ast.get_docstring(node).splitlines()[0]}"
        for path in MODULES
        for node in documented(ast.parse(read(path)))
    ]
    assert [line for line in beginnings if ": Give" in line] == []


def imported_by_tests():
    """Dotted names of everything that some test file imports."""
    names = set()
    for path in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(read(path))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_every_module_is_tested_under_its_own_name():
    """By the file that mirrors it, one that imports it, or what the lists above name."""
    imported = imported_by_tests()
    untested = []
    for path in WITH_CODE:
        name = name_of(path)
        room, _, file = name.rpartition("/")
        stand_in = ELSEWHERE.get(name) or SUITES.get(room)
        dotted = f"manyview.{name.removesuffix('.py').replace('/', '.')}"
        is_tested = (
            (TESTS / room / f"test_{file}").exists()
            or dotted in imported
            or (stand_in is not None and (TESTS / stand_in).exists())
        )
        untested += [] if is_tested else [name]
    assert untested == []


def test_the_picture_of_the_rooms_shows_todays_imports():
    rooms = runpy.run_path(str(TESTS.parent / "docs" / "rooms.py"))
    (drawn,) = re.findall(r"<dc:description>(.*?)</dc:description>", read(rooms["PICTURE"]))
    assert json.loads(html.unescape(drawn)) == rooms["find_facts"](), "run python docs/rooms.py"
