"""What the documentation shows of the bench of all methods comes from result lines."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import field, incomplete
from manyview.bench.results import Results


def line(method, data, nmi, **changes):
    return {
        "id": f"{method} {data}", "method": method, "data": {"name": data, "shuffled": 0}, "seed": 0,
        "settings": {}, "view": None, "protocol": "label-free", "status": "done", "seconds": 1.0,
        "scores": {"nmi": nmi}, **changes,
    }  # fmt: skip


@pytest.fixture
def lines():
    every = [
        line(method, data, 0.9 - 0.01 * place)
        for place, method in enumerate(field.METHODS)
        for data in ("msrcv1", "bdgp2")
    ]
    every[2] |= {"status": "failed", "reason": "no view 'a' was found; try another"}
    every[3] |= {"status": "failed", "reason": "no view 'b' was found"}
    every[5] |= {"status": "stopped", "reason": "stopped after 9 s"}
    return [*every, line("LMVSC", "acm", 0.5)]


def test_only_sets_that_all_methods_were_tried_on_count(lines):
    assert field.whole(Results(lines)).data == ["msrcv1", "bdgp2"]


def test_page_says_figures_ranks_and_what_is_missing(lines, tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    field.draw(path, tmp_path)
    text = (tmp_path / "guides" / "methods.inc").read_text()
    assert "NMI on 2 data sets" in text and "own defaults, 1 seed (" in text and "``acm``" in text
    assert "* - LMVSC\n     - 1.00\n     - 0.900\n     - 2\n     - 2\n" in text
    assert "* - LMVSC-released\n     - 19.75\n     - –\n     - 0\n     - 0\n" in text
    assert "LMVSC is ahead of" in text and "* - msrcv1\n     - **.900**\n" in text
    assert "No result of LMVSC-released on ``msrcv1``, ``bdgp2``: no view 'a' was found.\n" in text
    assert "No result of LMVSC-paper on ``bdgp2``: stopped after 9 s.\n" in text
    assert (tmp_path / "_static" / "ranks.png").stat().st_size > 5000
    assert "Handwritten" in (tmp_path / "guides" / "traps.inc").read_text()


def test_the_documentation_shows_the_kept_lines():
    kept = Path(field.__file__).parents[1] / "docs" / "guides"
    shown = "".join(field.describe(Results.from_file(field.LINES)))
    assert (kept / "methods.inc").read_text(encoding="utf-8") == field.MARK + shown
    lines = (field.RESULTS / "successors.jsonl").read_text(encoding="utf-8").splitlines()
    traps = field.describe_traps([json.loads(one) for one in lines])
    assert (kept / "traps.inc").read_text(encoding="utf-8") == field.MARK + traps
    assert "best of its grid\n     - 0.764\n" in traps and traps.count("**missed**") == 1
    lines = (field.RESULTS / "incomplete.jsonl").read_text(encoding="utf-8").splitlines()
    table = incomplete.describe([one for one in map(json.loads, lines) if one["form"] == "full"])
    assert (kept / "missing.inc").read_text(encoding="utf-8").endswith(table)
