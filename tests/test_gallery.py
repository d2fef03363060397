"""Every example has its page, with the code that it has and the output that it gives."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs"))  # the recorder and the console's session are scripts there

gallery = importlib.import_module("gallery")
EXAMPLES = {path.stem: path for path in gallery.find_examples()}
QUICK = ("customers", "digits", "explain", "number", "tutorial", "uneven")
"""Examples that need no data and few seconds; the others run when they are recorded."""

_NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?)(?![\w.]*\w)")


def read_page(name):
    return gallery.page_of(EXAMPLES[name]).read_text(encoding="utf-8")


def divide(text):
    """What is said, spaces aside, and the numbers in it; measured seconds and bytes are left out."""
    text = re.sub(r"\d+(?:\.\d+)?(?= (?:s|seconds|MB|GB)\b)", "", text)
    return re.sub(r"\s+", " ", _NUMBER.sub("#", text)), _NUMBER.findall(text)


def is_near(number, other):
    """Whether a count differs by few, or a figure by little: another BLAS may move some rows."""
    most = max(3 if "." not in number else 0.02, 0.03 * abs(float(number)))
    return abs(float(number) - float(other)) <= most


def test_numbers_and_words_of_an_output_are_told_apart():
    found = divide("NMI 0.95 of  10 rows, 3.2 s, view_0")
    assert found == ("NMI # of # rows, s, view_0", ["0.95", "10"])
    assert is_near("0.95", "0.96") and is_near("10", "13") and is_near("1000", "1020")
    assert not is_near("0.95", "0.98") and not is_near("10", "14")


def test_a_script_is_divided_into_parts():
    parts = gallery.read_parts(
        '"""\nTitle\n=====\n"""\n\nx = 1\n\n# %%\n# Some\n# text.\n\ny = 2\n'
    )
    assert parts == [("Title\n=====", "x = 1"), ("Some\ntext.", "y = 2")]
    page = gallery.compose("some", parts, [("", []), ("2\n3", ["a map"])])
    assert gallery.read_results(page, parts) == [("", []), ("2\n3", ["a map"])]
    with pytest.raises(ValueError):
        gallery.read_results(page, [gallery.Part("Title", "x = 2")])
    shown = [*parts, gallery.Part(".. image:: /_static/a.png\n   :alt: another", "")]
    results = [("", []), ("  2\n 3", ["a map"]), ("", [])]
    assert gallery.read_results(gallery.compose("some", shown, results), shown) == results
    assert page.endswith(".. image:: /gallery/some-1.png\n   :alt: a map\n")


def test_figures_and_output_are_caught(tmp_path):
    code = 'import matplotlib.pyplot as plt\nprint(1)\nplt.subplots(num="a map")\n'
    ((printed, (figure,)),) = gallery.run_parts([gallery.Part("", code)], tmp_path / "work")
    gallery.save_figure(figure, tmp_path / "a.png")
    assert printed == "1"
    assert figure.get_label() == "a map"
    assert 0 < (tmp_path / "a.png").stat().st_size < 20_000


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_shows_the_code_of_its_example_and_kept_figures(name):
    page, parts = read_page(name), gallery.read_parts(EXAMPLES[name].read_text(encoding="utf-8"))
    kept = gallery.read_results(page, parts)  # a ValueError: run make gallery NAMES=...
    assert gallery.compose(name, parts, kept) == page, "run python docs/gallery.py --text"
    figures = sorted(gallery.KEPT.glob(f"{name}-[0-9]*.png"))
    assert sorted(set(re.findall(rf"/gallery/({name}-\d+\.png)", page))) == [
        f.name for f in figures
    ]
    assert figures, "every page shows what was found"
    assert not re.search(r":alt: *$", page, re.MULTILINE), (
        "plt.subplots(num=...) describes a figure"
    )
    assert "**Look at**" in page or name == "tutorial"
    assert sum(figure.stat().st_size for figure in figures) < 300_000


def test_the_gallery_shows_every_page():
    index = (gallery.KEPT / "index.rst").read_text(encoding="utf-8")
    pages = EXAMPLES.keys() - {"tutorial"}
    assert set(re.findall(r"<(\w+)>`", index)) == pages
    kept = {page.stem for page in gallery.KEPT.glob("*.rst")} - {"index"}
    assert kept == pages, "a page without an example"


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_the_page_says_what_the_example_prints(name, tmp_path):
    parts = gallery.read_parts(EXAMPLES[name].read_text(encoding="utf-8"))
    kept = gallery.read_results(read_page(name), parts)
    now_printed = gallery.run_parts(parts, tmp_path / "work")
    for (before, _), (now, _) in zip(kept, now_printed, strict=True):
        (words, numbers), (same_words, others) = divide(before), divide(now)
        assert words == same_words, f"run make gallery NAMES={name}"
        far = [pair for pair in zip(numbers, others, strict=True) if not is_near(*pair)]
        assert far == [], f"run make gallery NAMES={name}"
