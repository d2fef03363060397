"""Every Python block of the README and of the documentation runs, in the order of its page."""

import ast
import functools
import importlib
import re
import runpy
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs"))  # what makes the page of messages is a script there
BUILT = ("_build", "generated", "messages.rst")

_MARKDOWN = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_RST = re.compile(r"^( *)\.\. code-block:: python\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE)


def find_pages():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
    return sorted(page for page in pages if not set(BUILT) & set(page.parts))


def _prose_of(page):
    """A page without code: blocks, literals, and lines that are shown as they are."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"``.*?``|`[^`]*`", "", text, flags=re.DOTALL)


def find_blocks(text):
    """The line number and the code of each Python block."""
    matches = [(match, match[1]) for match in _MARKDOWN.finditer(text)]
    matches += [(match, match[2]) for match in _RST.finditer(text)]
    return [
        (text.count("\n", 0, match.start()) + 3, textwrap.dedent(code)) for match, code in matches
    ]


_OWN_TESTS = {ROOT / "docs" / "gallery", ROOT / "docs" / "tutorial.rst"}
"""Pages that are made from scripts, which tests/test_gallery.py runs."""

_UNWANTED = {
    r"in order to": "to",
    r"utili[sz]\w+": "use",
    r"leverag\w+": "use",
    r"(?:please )?note that": "",
    r"simply|obviously|of course|basically|easily": "",
    r"state[- ]of[- ]the[- ]art|seamless\w*|powerful|blazing\w*|cutting[- ]edge": "a figure",
    r"behavior|normalization|neighbor(?!s\.|s=|s\b.*`)\w*": "British spelling",
    r"(\b[a-z]+) \1": "one of them",
    r"very(?! different)": "a stronger word, or none",
    r"due to the fact that|in the event that|for the purpose of": "because, if, to",
    r"it should be noted|it is (?:important|worth) \w+ing": "",
    r"(?:is|are|was|were) able to": "can",
}
"""Words that say nothing, or that are said twice, and what to write instead."""


def is_only_python(text):
    """Whether a page has Python blocks, and no commands: those run in test_console.py."""
    return bool(find_blocks(text)) and not re.search(r"^ *\$ ", text, re.MULTILINE)


WITH_ALL_DEFAULTS = ("index.rst",)
"""Pages whose fits run as they stand; on others, one anchor seed stands in for up to nine."""

PAGES = [
    page
    for page in find_pages()
    if (page.name == "README.md" or is_only_python(page.read_text(encoding="utf-8")))
    and not {page, page.parent} & _OWN_TESTS
]


def test_blocks_are_found_in_markdown_and_in_rst():
    markdown = "text\n```python\nx = 1\n\ny = 2\n```\n```sh\nls\n```\n"
    rst = "text\n\n.. code-block:: python\n\n   x = 1\n\n   y = 2\n\n.. code-block:: sh\n\n   ls\n"
    assert [code.strip() for _, code in find_blocks(markdown)] == ["x = 1\n\ny = 2"]
    assert [code.strip() for _, code in find_blocks(rst)] == ["x = 1\n\ny = 2"]
    assert {"README.md", "index.rst", "inputs.rst"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_links_of_a_built_site_are_followed(tmp_path):
    find_broken = runpy.run_path(str(ROOT / "docs" / "links.py"))["find_broken"]
    (tmp_path / "a.html").write_text('<a href="b.html#here"></a> <a href="b.html#there"></a>')
    (tmp_path / "b.html").write_text('<p id="here"><a href="c.html"></a> <a href="https://x"></a>')
    assert find_broken(tmp_path) == ["a.html: b.html#there", "b.html: c.html"]


LONGEST = 45
"""Words of a sentence that can still be read in one go."""


def long_sentences(text):
    """Sentences of too many words; headings, entries of lists and cells of tables end one, too."""
    parts = re.split(
        r"\n *\n|\n *(?:[-*|]|\d+\.|\* -|\.\.) |[.!?:;](?:\*\*|[)\"'])?\s|\n[-=~]{3,}\n", text
    )
    return [
        " ".join(part.split())
        for part in parts
        if len(part.split()) > LONGEST and "====" not in part
    ]


def test_long_sentences_are_found():
    words = " ".join(["word"] * 30)
    assert long_sentences(f"{words}. {words}.\n\n- {words}\n- {words}") == []
    assert len(long_sentences(f"Short. {words}, {words}. {words}")) == 1


@pytest.mark.parametrize("page", find_pages(), ids=lambda page: page.name)
def test_prose_is_plain(page):
    text = re.sub(
        r"^( *)\.\. (?:code-block|math)::.*\n\n(?:\1 +.*\n|\n)+", "", _prose_of(page), flags=re.M
    )
    assert long_sentences(text) == []
    found = [
        (match[0], instead)
        for wrong, instead in _UNWANTED.items()
        for match in re.finditer(rf"\b(?:{wrong})\b", text, re.IGNORECASE)
    ]
    assert found == []


def test_the_recipe_for_conda_asks_for_the_same_packages():
    recipe = yaml.safe_load((ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["cli"]
    python = f"python {project['requires-python']}"
    assert recipe["package"] == {"name": project["name"], "version": project["version"]}
    assert recipe["requirements"]["run"] == [python, *(one.replace(">=", " >=") for one in wanted)]
    assert recipe["build"]["entry_points"] == ["manyview = " + project["scripts"]["manyview"]]
    assert recipe["about"]["license"] == project["license"]


messages = importlib.import_module("messages")

WITHOUT_WORDS = {
    "baselines/base.py": "warn_user(message",  # said by each method, which is on the page
    "cli/console.py": "return Failure(",  # what the library said, in the words of the command
    "datasets/lookup.py": "warn_user(info.warning",  # from the registry
    "engines/files.py": "os.strerror",
    "estimator/growing.py": "str(error)",
    "machine.py": "InUseError(",  # its class has the words
    "datasets/download.py": "has no {member}",
    "pipeline/model_fields.py": "raise ValueError(",  # parts of "is not a whole manyview model file"
    "readers/text.py": "{path}: {error}",
    "report/advice.py": "_warning(",  # the words are handed on
    "views/container.py": ("str(error)", "warn_user(doubt"),
}
"""Places that raise or warn in the words of another place, of the system, or in hardly any."""


def test_every_message_can_be_searched(tmp_path):
    messages.write_page(tmp_path / "messages.rst")
    text = (tmp_path / "messages.rst").read_text(encoding="utf-8")
    assert "All views must describe the same samples in the same order." in text
    assert "- n\\_clusters must not exceed" in text  # a parameter and its problem
    assert "… is empty." in text  # short
    assert "stopped at max\\_iter=" in text  # by a method that warns
    assert "shares no id with another table" in text  # a list of doubts
    assert "needs pooch" in text  # a constant
    assert text.count("\n- ") > 600


def test_no_place_that_raises_or_warns_is_without_its_words():
    files = messages.read_package()
    texts = messages.Texts(files.values())
    silent = []
    for file, tree in files.items():
        lines = (messages.SOURCE / file).read_text(encoding="utf-8").splitlines()
        for number, said in texts.find_messages(tree):
            known = WITHOUT_WORDS.get(file.as_posix(), ())
            known = (known,) if isinstance(known, str) else known
            if not said and not any(words in lines[number - 1] for words in known):
                silent.append(f"{file}:{number} {lines[number - 1].strip()}")
    assert silent == []


def test_texts_are_followed_through_names_functions_and_conditions():
    tree = ast.parse(
        "WORDS = 'is {} of them'\n"
        "def choose(n):\n    return 'one word' if n == 1 else f'{n} words'\n"
        "def stop(n):\n    problem = f'View {n!r} {choose(n)}.'\n    raise ValueError(problem)\n"
        "def warn(n):\n    warn_user(WORDS.format(n + 1), UserWarning)\n"
    )
    found = [said for _, said in messages.Texts([tree]).find_messages(tree)]
    assert found == [("View … one word.", "View … words."), ("is … of them",)]


_FOR_PLUG_INS = (
    "manyview.engines.base",
    "manyview.errors",
    "manyview.readers",
    "manyview.sources",
    "manyview.views.",
)
"""What those who add to manyview look up: the guide and docs/templates show how it is used."""


def find_public_names():
    """The names of the reference, with their modules."""
    text = (ROOT / "docs" / "reference" / "index.rst").read_text(encoding="utf-8")
    module, is_listed = None, False
    for line in text.splitlines():
        if found := re.match(r"\.\. (\w+)::(?: (\S+))?", line):
            is_listed = found[1] == "autosummary"
            module = found[2] if found[1] == "currentmodule" else module
        elif is_listed and (found := re.match(r"   ([\w.]+)$", line)):
            yield module, found[1]


def find_public_classes():
    """The classes of the reference that users meet."""
    for module, name in find_public_names():
        thing = getattr(importlib.import_module(module), name, None)
        if isinstance(thing, type) and not module.startswith(_FOR_PLUG_INS):
            yield thing


def test_names_of_the_reference_are_there():
    names = list(find_public_names())
    assert len(names) > 50
    lost = []
    for module, name in names:
        try:
            functools.reduce(getattr, name.split("."), importlib.import_module(module))
        except AttributeError:
            lost.append(f"{module}.{name}")
    assert lost == []


def test_every_public_class_has_an_example_and_says_what_else_to_see():
    classes = list(find_public_classes())
    assert len(classes) > 30
    needed = ("See Also\n", ">>> ")
    lacking = [c.__name__ for c in classes if not all(part in c.__doc__ for part in needed)]
    assert set(lacking) <= {"Trial", "Source", "TreeSum"}  # parts of what the others show


def test_methods_and_measures_have_notes_with_their_mathematics():
    without = {c.__name__ for c in find_public_classes() if ":math:`" not in c.__doc__}
    without -= {c.__name__ for c in find_public_classes() if ".. math::" in c.__doc__}
    assert without <= {
        "Views", "Selection", "Trial", "PerView", "DatasetInfo", "Source", "Method", "Results",
        "EmbeddingDisplay", "SpectrumDisplay", "AgreementDisplay", "SensitivityDisplay", "FlowDisplay",
        "Memory", "Disk", "Dask",
    }  # fmt: skip


@pytest.mark.parametrize(
    "room",
    ["bench", "baselines", "compose", "metrics", "report", "sc.pl", "sc.tl", "select"],
)
def test_every_public_name_is_in_the_reference(room):
    listed = (ROOT / "docs/reference/index.rst").read_text().split()
    assert set(importlib.import_module(f"manyview.{room}").__all__) <= set(listed)


@pytest.mark.parametrize("page", ["README.md", "docs/install.rst"])
def test_what_is_installed_for_the_command_line_reads_the_first_file(page):
    installed = re.search(r"pip install '\.\[(cli.*?)\]'", (ROOT / page).read_text("utf-8"))[1]
    first = re.search(r"manyview fit \S+\.(\w+)", (ROOT / "README.md").read_text("utf-8"))[1]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = extras["optional-dependencies"]
    assert first == "xlsx" and {"report", "excel"} <= set(installed.split(",")) <= set(extras)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.fixture
def on_the_cluster(cluster, monkeypatch):
    """Clients of clusters that pages start are those of the one that tests share."""
    import distributed

    class Client(distributed.Client):
        def __init__(self, **options):
            super().__init__(cluster.client.scheduler.address)

    monkeypatch.setattr(distributed, "Client", Client)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_run(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)  # what a page saves goes here
    if page.name == "dask.rst":
        request.getfixturevalue("on_the_cluster")
    if page.name not in WITH_ALL_DEFAULTS:
        request.getfixturevalue("one_anchor_seed")
    namespace = {"__name__": "page"}
    for line, code in find_blocks(page.read_text(encoding="utf-8")):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
    assert len(namespace) > 2, "no block of the page made anything"
