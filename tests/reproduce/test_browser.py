"""The page in a real browser: no errors, everything visible, light, dark, narrow and on paper."""

import pytest

from manyview.reproduce.page import write_pages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page_file(page, tmp_path_factory):
    return write_pages(page, tmp_path_factory.mktemp("page"))[0]


def test_it_opens_without_errors_or_requests_and_shows_everything(page_file, read, page):
    reader = read(page_file)
    shown = reader.page
    assert shown.locator("h1").inner_text() == "The LMVSC paper, run again"
    assert shown.locator("#claims tbody tr").count() == len(page.claims.rows)
    for section in page.sections:
        part = shown.locator(f"section#{section.name}")
        assert part.locator("svg").first.is_visible() and part.locator("table").first.is_visible()
    assert reader.complaints == []
    assert [url for url in reader.requests if not url.startswith("data:")] == [page_file.as_uri()]


def test_evidence_is_behind_one_fold(page_file, read):
    page = read(page_file).page
    fold = page.locator("#gain details")
    assert fold.count() == 1 and not fold.locator("table").is_visible()
    fold.locator("summary").click()
    assert fold.locator("table").is_visible()


def test_it_is_dark_for_those_who_like_it_and_light_on_paper(page_file, read):
    page = read(page_file, color_scheme="dark").page
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 23, 28)"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert not page.locator(".evidence").first.is_visible()
    assert page.locator("#handwritten table").first.is_visible()


def test_nothing_is_wider_than_a_phone_and_verdicts_are_seen_there(page_file, read):
    page = read(page_file, width=390, height=844).page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    edges = page.eval_on_selector_all(
        "#claims .verdict span", "all => all.map((one) => one.getBoundingClientRect().right)"
    )
    assert edges and max(edges) <= 390


@pytest.mark.parametrize(
    ("scheme", "parts", "options", "least"),
    [
        ("light", None, {}, 15),
        # Only colours are others there, and the same in sections of a kind.
        ("dark", [["#claims"], ["#gain"], ["#covertype"]], {"runOnly": ["color-contrast"]}, 1),
    ],
)
def test_axe_finds_nothing_serious(page_file, read, scheme, parts, options, least):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = read(page_file, color_scheme=scheme).page
    found = axe.Axe().run(page, parts, options).response
    assert len(found["passes"]) >= least  # it did look
    bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"]) for v in bad] == []
