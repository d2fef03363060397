"""The walk through real cells in the guide gives what the guide shows, where its data are there."""

import importlib.util
import re
import textwrap
from pathlib import Path

import pytest

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "single_cell.rst"
_BLOCK = re.compile(
    r"^\.\. code-block:: (python|none)\n(?:   :class: (walk|scanpy)\n)?\n((?:   .*\n|\n)+)", re.M
)


def find_steps():
    """Code of the walk, what it needs, and what is shown below it."""
    steps = []
    for kind, needs, text in _BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        if kind == "none":
            steps[-1][2] = textwrap.dedent(text)
        elif needs:
            steps.append([needs, textwrap.dedent(text), ""])
    return steps


def numbers_and_words(text):
    """What is shown, numbers as numbers."""
    found = re.findall(r"-?\d+(?:\.\d+)?|[A-Za-z_]+", text)
    return [float(item) if re.match(r"-?\d", item) else item for item in found]


def test_there_are_steps_with_and_without_scanpy():
    assert {needs for needs, _, _ in find_steps()} == {"walk", "scanpy"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_walk_gives_what_the_guide_shows(data, tmp_path, monkeypatch, capsys):
    data("citeseq_pbmc10x")  # or skips
    monkeypatch.chdir(tmp_path)
    names, sizes, shown_sizes = {}, [], []
    for needs, code, shown in find_steps():
        if needs == "scanpy" and importlib.util.find_spec("scanpy") is None:
            continue
        exec(compile(code, str(GUIDE), "exec"), names)
        printed, expected = (numbers_and_words(t) for t in (capsys.readouterr().out, shown))
        assert [type(item) for item in printed] == [type(item) for item in expected]
        assert [w for w in printed if isinstance(w, str)][:3] == [
            w for w in expected if isinstance(w, str)
        ][:3]
        sizes.append(sorted(item for item in printed if isinstance(item, float)))
        shown_sizes.append(sorted(item for item in expected if isinstance(item, float)))
    # Other processors round otherwise: a few cells may lie elsewhere, and clusters have other numbers.
    assert sizes[0] == pytest.approx(shown_sizes[0], rel=0.02, abs=5)
