"""The page in a real browser: no errors, everything visible, light, dark, narrow and on paper."""

from __future__ import annotations

import pytest

from manyview.reproduce.facts import build_facts
from manyview.reproduce.page import write_pages
from manyview.reproduce.run import FIGURES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def pages():
    """Give a dict that keeps the page once it is made: its facts need what lasts for one test only."""
    return {}


@pytest.fixture
def page_file(pages, request, tmp_path_factory):
    if not pages:
        options, store = request.getfixturevalue("made_up")
        facts = build_facts(request.getfixturevalue("everything"), options, store)
        pages["page"] = write_pages(facts, tmp_path_factory.mktemp("page"))[0]
    return pages["page"]


def test_it_opens_without_errors_or_requests_and_shows_everything(page_file, read):
    reader = read(page_file)
    page = reader.page
    assert page.locator("h1").inner_text() == "The LMVSC paper, run again"
    assert page.locator("#tables table").count() >= 10
    for name in FIGURES:
        section = page.locator(f"section#{name}")
        assert section.locator("svg, img, table").first.is_visible()
        assert section.locator("table").count() > 0  # the same, for those who cannot see it
    widths = page.eval_on_selector_all("img", "all => all.map((one) => one.naturalWidth)")
    assert len(widths) == 3 and min(widths) > 0
    assert reader.complaints == []
    assert [url for url in reader.requests if not url.startswith("data:")] == [page_file.as_uri()]


def test_a_number_leads_to_its_line(page_file, read):
    page = read(page_file).page
    page.locator("#table-handwritten ~ div .ids summary").first.click()
    link = page.locator("#table-handwritten ~ div .ids a").first
    target = link.get_attribute("href")
    link.click()
    assert page.locator(target).is_visible()


def test_no_measured_number_of_a_table_is_without_its_lines(page_file, read):
    page = read(page_file).page
    numbers, untraced = page.evaluate(
        """() => {
            const cells = document.querySelectorAll("section:not(#runs) td:not(.paper)");
            const numbers = [...cells].filter((c) => /^-?\\d+\\.\\d+/.test(c.textContent.trim()));
            const bare = numbers.filter((c) => !c.closest("[data-lines]"));
            return [numbers.length, bare.map((c) => c.outerHTML)];
        }"""
    )
    assert numbers > 500 and untraced == []


def test_it_is_dark_for_those_who_like_it_and_light_on_paper(page_file, read):
    page = read(page_file, color_scheme="dark").page
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 23, 28)"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert not page.locator(".all-lines").is_visible()
    assert page.locator("#table-handwritten").is_visible()


def test_every_cell_of_the_heat_maps_is_on_paper(page_file, read):
    page = read(page_file).page
    count = (
        "() => [...document.querySelectorAll('.heat td')].filter((c) => c.checkVisibility()).length"
    )
    on_screen = page.evaluate(count)
    assert page.locator(".heat td.best").count() >= page.locator(".heat").count() > 0
    page.emulate_media(media="print")
    assert page.evaluate(count) == on_screen == page.locator(".heat td").count()


def test_tables_show_their_last_column_on_a_laptop(page_file, read):
    page = read(page_file, width=1280, height=800).page
    wide = page.evaluate(
        """() => [...document.querySelectorAll("#tables .scroll")]
            .filter((box) => box.scrollWidth > box.clientWidth)
            .map((box) => [box.getAttribute("aria-label"), box.scrollWidth, box.clientWidth])"""
    )
    assert wide == []


def test_nothing_is_wider_than_a_phone(page_file, read):
    page = read(page_file, width=390, height=844).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(made_up, tmp_path, read, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    facts = build_facts(["datasets", "nus", "covertype", *FIGURES], *made_up)
    facts["lines"] = facts["lines"][:20]  # it looks at every cell
    page = read(write_pages(facts, tmp_path)[0], color_scheme=scheme).page
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 15  # it did look
    bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"]) for v in bad] == []
