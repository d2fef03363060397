import re
import shutil
import subprocess

import pytest

from manyview.bench.results import Results
from tests.bench.test_results import line


@pytest.fixture
def results():
    lines = [
        line("A_1", "one & two", 0.5),
        line("A_1", "one & two", 0.7, seed=1),
        line("B", "one & two", 0.8),
        line("A_1", "100%", 0.3),
        line("B", "100%", 0, status="failed", reason="it broke"),
    ]
    return Results(lines)


def test_text_is_aligned_and_says_over_how_many_sets_the_mean_is(results):
    rows = results.table().splitlines()
    assert rows[0].split() == ["nmi", "A_1", "B"]
    assert rows[2].split() == ["100%", ".300", "-"]
    assert rows[3].split() == ["mean", "of", "1", ".600", ".800"]
    assert rows[4].split() == ["rank", "1.50", "1.50"]
    assert len({len(row) for row in rows}) == 1


def test_markdown_has_the_best_in_bold_and_the_spread(results):
    rows = results.table(kind="markdown", spread=True).splitlines()
    assert rows[1] == "| --- | ---: | ---: |"
    assert rows[2] == "| one & two | .600 ± .141 | **.800 ± .000** |"


def test_latex_escapes_names_and_closes_what_it_opens(results):
    text = results.table(kind="latex")
    assert r"one \& two & .600 & \textbf{.800} \\" in text
    assert r"A\_1" in text and r"100\%" in text
    assert text.count("{") == text.count("}")
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert begun == ended == ["tabular"]
    columns = re.search(r"tabular}{(\w+)}", text)[1]
    rows = [row for row in text.splitlines() if row.endswith(r"\\")]
    assert all(len(re.split(r"(?<!\\)&", row)) == len(columns) for row in rows)


PAGE = r"""\documentclass{article}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


def has_booktabs():
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    return bool(subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).stdout)


@pytest.mark.skipif(not has_booktabs(), reason="no pdflatex with the package booktabs")
def test_latex_compiles_whatever_names_hold(tmp_path):
    odd = "".join(map(chr, range(32, 127)))
    names = (odd, "[2]", "*", "a")
    results = Results([line(f"{odd} {i}", data, 0.1 * i) for i in range(3) for data in names])
    path = tmp_path / "table.tex"
    path.write_text(PAGE % results.table(kind="latex", spread=True))
    arguments = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", path.name]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]


def test_unknown_kind_is_refused(results):
    with pytest.raises(ValueError, match="kind"):
        results.table(kind="html")
