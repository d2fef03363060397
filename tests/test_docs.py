"""Every Python block of the README and of the documentation runs, in the order of its page."""

import re
import runpy
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILT = ("_build", "auto_examples", "generated")

_MARKDOWN = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_RST = re.compile(r"^( *)\.\. code-block:: python\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


def find_pages():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    return sorted(page for page in pages if not set(BUILT) & set(page.parts))


def find_blocks(text):
    """The line number and the code of each Python block."""
    matches = [(match, match[1]) for match in _MARKDOWN.finditer(text)]
    matches += [(match, match[2]) for match in _RST.finditer(text)]
    return [
        (text.count("\n", 0, match.start()) + 3, textwrap.dedent(code)) for match, code in matches
    ]


def is_only_python(text):
    """Whether a page has Python blocks, and no commands: those run in test_console.py."""
    return bool(find_blocks(text)) and not re.search(r"^ *\$ ", text, re.MULTILINE)


WITH_ALL_DEFAULTS = ("index.rst", "tutorial.rst")
"""Pages whose fits run as they stand; on others, one anchor seed stands in for up to nine."""

PAGES = [page for page in find_pages() if is_only_python(page.read_text(encoding="utf-8"))]


def test_blocks_are_found_in_markdown_and_in_rst():
    markdown = "text\n```python\nx = 1\n\ny = 2\n```\n```sh\nls\n```\n"
    rst = "text\n\n.. code-block:: python\n\n   x = 1\n\n   y = 2\n\n.. code-block:: sh\n\n   ls\n"
    assert [code.strip() for _, code in find_blocks(markdown)] == ["x = 1\n\ny = 2"]
    assert [code.strip() for _, code in find_blocks(rst)] == ["x = 1\n\ny = 2"]
    assert {"tutorial.rst", "inputs.rst"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_message_can_be_searched(tmp_path):
    write_page = runpy.run_path(str(ROOT / "docs" / "messages.py"))["write_page"]
    write_page(tmp_path / "messages.rst")
    text = (tmp_path / "messages.rst").read_text(encoding="utf-8")
    assert "All views must describe the same samples in the same order." in text
    assert "- n\\_clusters must not exceed" in text  # a parameter and its problem
    assert text.count("\n- ") > 400


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_run(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)  # what a page saves goes here
    if page.name not in WITH_ALL_DEFAULTS:
        request.getfixturevalue("one_anchor_seed")
    namespace = {"__name__": "page"}
    for line, code in find_blocks(page.read_text(encoding="utf-8")):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    assert len(namespace) > 2, "no block of the page made anything"
