"""All tests on other BLAS kernels and on other Pythons: a line for each that this machine has.

python -m benchmarks.test_matrix [--kernels NAME ...] [--pythons VERSION ...] [pytest's arguments]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, ROOT

KERNELS = ("Haswell", "SkylakeX", "Zen")
"""What ``OPENBLAS_CORETYPE`` is set to. OpenBLAS itself may take one for another, as Zen for Haswell."""

PYTHONS = ("3.11", "3.12", "3.13")

_FACTS = """
import json
import scipy.linalg
from threadpoolctl import threadpool_info
from benchmarks.record import code_and_machine
used = sorted({library.get("architecture", "unknown") for library in threadpool_info()})
print(json.dumps({"kernels_used": used, **code_and_machine()}))
"""


def find_python(version: str) -> str | None:
    """An interpreter of that version: this one, one on the path, or one of pyenv's."""
    return next((python for python in _candidates(version) if _is_version(python, version)), None)


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    yield from filter(None, [shutil.which(f"python{version}")])
    for known in _printed("pyenv", "versions", "--bare").split():
        if known.startswith(f"{version}."):
            yield str(Path(_printed("pyenv", "prefix", known)) / "bin" / "python")


def _is_version(python: str, version: str) -> bool:
    # The path may lead to a stand-in that finds no interpreter behind it.
    code = "import sys; print(f'{sys.version_info.major}.{sys.version_info.minor}')"
    return _printed(python, "-c", code) == version


def _printed(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def prepare(version: str, python: str) -> str:
    """The interpreter of an environment with manyview and its tests, made where it is not there."""
    if python == sys.executable:
        return python
    folder = ROOT / f".venv-{version}"
    inside, stamp = folder / "bin" / "python", folder / ".test"
    project = ROOT / "pyproject.toml"
    if not stamp.exists() or stamp.stat().st_mtime < project.stat().st_mtime:
        print(f"installing manyview and what the tests need into {folder.name} (once)", flush=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        install = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--no-input", "-e", ".[test]"], cwd=ROOT, check=True)
        stamp.touch()
    return str(inside)


def run_cell(python: str, kernel: str | None, arguments: Sequence[str]) -> dict[str, Any]:
    """The tests under one interpreter and one kernel: how many passed, and which did not.

    Parameters
    ----------
    python : str
        An interpreter whose environment has manyview and what its tests need.
    kernel : str or None
        For ``OPENBLAS_CORETYPE``; None is the machine's own.
    arguments : sequence of str
        Passed on to pytest.
    """
    environment = {**os.environ, **({"OPENBLAS_CORETYPE": kernel} if kernel else {})}
    with tempfile.TemporaryDirectory() as folder:
        outcome, log = Path(folder, "outcome.xml"), Path(folder, "log")
        started = time.perf_counter()
        with log.open("w") as file:
            command = [python, "-m", "pytest", "-q", f"--junitxml={outcome}", *arguments]
            done = subprocess.run(
                command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT
            )
        seconds = time.perf_counter() - started
        if not outcome.exists():
            raise SystemExit(
                f"pytest did not run (exit code {done.returncode}):\n{log.read_text()}"
            )
        cases = list(ElementTree.parse(outcome).iter("testcase"))
        if done.returncode:
            print(log.read_text(), flush=True)
    failing = [case for case in cases if _has(case, "failure", "error")]
    skipped = [case for case in cases if _has(case, "skipped") and case not in failing]
    facts = subprocess.run(
        [python, "-c", _FACTS],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        "passed": len(cases) - len(failing) - len(skipped),
        "failed": len(failing),
        "skipped": len(skipped),
        "seconds": round(seconds, 1),
        "failing": sorted({f"{case.get('classname')}.{case.get('name')}" for case in failing}),
        "pytest": list(arguments),
        **json.loads(facts.stdout),
    }


def _has(case: ElementTree.Element, *tags: str) -> bool:
    return any(case.find(tag) is not None for tag in tags)


def main(given: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.test_matrix", description=__doc__)
    parser.add_argument("--kernels", nargs="*", default=KERNELS, help="on this Python")
    parser.add_argument("--pythons", nargs="*", default=PYTHONS, help="on the machine's own kernel")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen, arguments = parser.parse_known_args(given)

    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    cells: list[tuple[str | None, str]] = [(kernel, own) for kernel in chosen.kernels]
    cells += [(None, version) for version in chosen.pythons if version != own or not cells]
    n_failed = 0
    for kernel, version in cells:
        name = f"{kernel or 'own kernel'}/{version}"
        python = find_python(version)
        if python is None:
            print(f"{name:<20} not run: there is no Python {version} here", flush=True)
            continue
        found = run_cell(prepare(version, python), kernel, arguments)
        line = {"benchmark": "test_matrix", "case": name, **found}
        line["date"] = datetime.now(UTC).isoformat(timespec="seconds")
        chosen.results.mkdir(parents=True, exist_ok=True)
        with (chosen.results / "test_matrix.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        counts = ", ".join(f"{found[word]} {word}" for word in ("passed", "failed", "skipped"))
        print(f"{name:<20} {counts}, {found['seconds']:.0f} s", flush=True)
        n_failed += found["failed"]
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
