"""A reader opens the documentation: on a desk or a phone, by day or by night, and searches it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
LEFT_OUT = "_build,reference,templates,gallery/[!di]*"
"""What takes long to build, and looks as the rest does."""

SCREENS = [
    *(("index", width, scheme) for width in (1400, 390) for scheme in ("light", "dark")),
    *((name, 390, "dark") for name in ("tutorial", "gallery/index", "gallery/digits")),
    *((name, 1400, "light") for name in ("tutorial", "gallery/index", "gallery/digits")),
    *((name, 390, "light") for name in ("explanation/design", "guides/methods", "guides/files")),
    *((name, 1400, "dark") for name in ("explanation/design", "guides/methods", "guides/files")),
]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The pages but for the reference and most of the gallery, built."""
    if os.environ.get("CI") != "true":
        pytest.importorskip("sphinx", reason="Sphinx is not installed")
    folder = tmp_path_factory.mktemp("site")
    options = ["-D", f"exclude_patterns={LEFT_OUT}", "-D", "autosummary_generate=0"]
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-Q", "-b", "html", *options, DOCS, folder], check=True
    )
    return folder


def widths_of(page, selector):
    return page.locator(selector).evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().width)"
    )


@pytest.mark.parametrize(("name", "width", "scheme"), SCREENS)
def test_pages_fit_the_screen_and_show_their_pictures(site, read, name, width, scheme):
    reader = read(site / f"{name}.html", width=width, color_scheme=scheme)
    page = reader.page
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert (
        page.locator("img").evaluate_all("all => all.filter(one => !one.naturalWidth).length") == 0
    )
    assert all(image <= width for image in widths_of(page, "article img"))
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert reader.complaints == []
    assert all(request.startswith("file:") for request in reader.requests)


@pytest.mark.parametrize("name", ["guides/command_line", "guides/files", "tutorial"])
def test_no_line_that_was_printed_is_cut_off_on_a_desk(site, read, name):
    page = read(site / f"{name}.html", width=1400).page
    printed = page.locator("div.highlight-none pre, div.highlight-console pre")
    assert printed.count() >= 3
    assert all(printed.evaluate_all("all => all.map(one => one.scrollWidth <= one.clientWidth)"))


def test_tiles_are_beside_each_other_on_a_desk_and_below_on_a_phone(site, read):
    desk = widths_of(read(site / "index.html", width=1400).page, ".tile")
    phone = widths_of(read(site / "index.html", width=390).page, ".tile")
    assert desk[0] < 1400 / 3
    assert min(phone) > 300


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_landing_page(site, read, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = read(site / "index.html", width=1400, color_scheme=scheme).page
    found = axe.Axe().run(page, context="article").response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_a_search_finds_the_page(site, read):
    page = read(site / "search.html").page
    page.goto((site / "search.html").as_uri() + "?q=surest")
    page.wait_for_selector("#search-results li a")
    assert "gallery/digits.html" in page.locator("#search-results li a").first.get_attribute("href")
