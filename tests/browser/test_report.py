"""A reader opens reports from disk: looks, points, draws, presses keys, downloads."""

import csv
import re

import numpy as np
import pytest

# One worker starts one browser, and makes each report once.
pytestmark = pytest.mark.slow

DATASETS = ["digits", "made"]


def box_of(page):
    return page.locator("#canvas").bounding_box()


def draw_lasso(page, corners):
    """Draw a polygon; corners are shares of the canvas."""
    box = box_of(page)
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in [*places[1:], places[0]]:
        page.mouse.move(*place, steps=4)
    page.mouse.up()


EVERYTHING = [(0.01, 0.01), (0.99, 0.01), (0.99, 0.99), (0.01, 0.99)]


def count_selected(page):
    found = re.match(r"([\d\u202f]+) points? selected", page.locator("#count").inner_text())
    return int(found[1].replace("\u202f", "")) if found else 0


@pytest.mark.parametrize("name", DATASETS)
def test_a_report_opens_without_errors_or_requests_and_draws_its_map(report, read, name):
    path, _, views = report(name)
    assert path.stat().st_size < 12e6
    reader = read(path)
    page = reader.wait_for_map()
    pixels = reader.pixels()
    drawn = pixels[pixels[..., 3] > 0]
    assert len(drawn) > 1000
    assert len(np.unique(drawn[:, :3] // 32, axis=0)) > 8  # clusters in their colours
    assert page.title().startswith(f"{len(np.unique(views.target))} clusters in ")
    assert reader.complaints == []
    assert reader.requests == [path.as_uri()]


def test_colours_switch_to_labels_views_and_confidence(report, read):
    path, _, views = report("digits")
    reader = read(path)
    page = reader.wait_for_map()
    options = page.locator("#colour-by option").all_inner_texts()
    assert options[:3] == ["cluster", "confidence", "true label"]
    assert len(options) == 3 + views.n_views
    before = reader.pixels()
    for number in range(1, len(options)):
        page.select_option("#colour-by", index=number)
        reader.wait_for_map()
        after = reader.pixels()
        assert (after != before).any()
        before = after
    assert reader.complaints == []


@pytest.mark.parametrize("name", DATASETS)
def test_hovering_tells_the_id_and_the_cluster(report, read, name):
    path, model, _ = report(name)
    reader = read(path)
    page = reader.wait_for_map()
    page.locator("#canvas").scroll_into_view_if_needed()
    pixels, box = reader.pixels(), box_of(page)
    rows, columns = np.nonzero(pixels[..., 3] > 0)
    middle = len(rows) // 2
    page.mouse.move(box["x"] + columns[middle] + 0.5, box["y"] + rows[middle] + 0.5)
    page.wait_for_selector("#tip:not([hidden])")
    text = page.locator("#tip").inner_text()
    row = int(re.search(r"(\d+)\W*\n", text)[1])
    assert f"cluster {model.labels_[row]}\n" in text
    page.mouse.move(5, 5)
    page.wait_for_selector("#tip", state="hidden")


@pytest.mark.parametrize("name", DATASETS)
def test_a_lasso_lists_points_and_downloads_them(report, read, name, tmp_path):
    path, model, views = report(name)
    page = read(path).wait_for_map()
    page.locator("#canvas").scroll_into_view_if_needed()
    draw_lasso(page, [(0.02, 0.02), (0.5, 0.02), (0.5, 0.98), (0.02, 0.98)])
    half = count_selected(page)
    assert 0 < half < len(model.labels_)
    assert page.locator("#picked li").count() == min(half, 300)
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "selection.csv")
    with (tmp_path / "selection.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == half
    for line in lines[:: max(half // 50, 1)]:
        row = int(line["row"])
        assert int(line["cluster"]) == model.labels_[row]
        assert line["label"] == str(views.target[row])
    page.click("#clear")
    assert count_selected(page) == 0


def test_a_lasso_around_everything_selects_every_row_and_formulas_are_made_harmless(
    report, read, tmp_path
):
    path, model, _ = report("digits")
    page = read(path).wait_for_map()
    page.locator("#canvas").scroll_into_view_if_needed()
    draw_lasso(page, EVERYTHING)
    assert count_selected(page) == len(model.labels_)
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="", encoding="utf-8") as file:
        ids = [line["id"] for line in csv.DictReader(file)]
    assert ids[0] == '\'=cmd|"0"' and ids[1] == "image 1"


def test_a_group_of_the_legend_is_selected_by_pressing_it(report, read):
    path, model, _ = report("digits")
    page = read(path).wait_for_map()
    page.locator("#legend button").nth(3).click()
    assert count_selected(page) == (model.labels_ == 3).sum()
    page.locator("#legend button").nth(4).click()
    assert count_selected(page) == np.isin(model.labels_, (3, 4)).sum()


def test_an_id_is_found(report, read):
    page = read(report("digits")[0]).wait_for_map()
    page.fill("#find-id", "image 12")
    page.press("#find-id", "Enter")
    assert page.locator("#picked li").all_inner_texts() == ["image 12"]
    assert page.locator("#tags .ring").count() == 1
    page.fill("#find-id", "no such image")
    page.press("#find-id", "Enter")
    assert page.locator("#tags .ring").count() == 0
    assert page.locator("#count").inner_text() == "No point there"


def test_everything_is_reached_and_worked_by_keyboard(report, read):
    reader = read(report("digits")[0])
    page = reader.wait_for_map()
    wanted = page.evaluate(
        """() => [...document.querySelectorAll(
            "a[href], button, select, input, summary, canvas[tabindex], .scroll, pre[tabindex]")]
            .filter((e) => e.checkVisibility()).map((e, i) => (e.dataset.stop = i))"""
    )
    reached = set()
    for _ in range(3 * len(wanted)):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.stop ?? null"))
        if page.evaluate("document.activeElement === document.body"):
            break
    missed = [str(stop) for stop in wanted if str(stop) not in reached]
    find = "(s) => document.querySelector(`[data-stop='${s}']`).outerHTML.slice(0, 90)"
    assert [page.evaluate(find, stop) for stop in missed] == []
    page.focus("#canvas")
    before = reader.pixels()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    reader.wait_for_map()
    assert (reader.pixels() != before).any()
    assert "cluster" in page.locator("#spoken").inner_text()
    page.keyboard.press("Enter")
    some = count_selected(page)
    assert 0 < some < 1797
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.keyboard.press("Enter")
    assert count_selected(page) == 1797


def test_the_reader_chooses_light_or_dark(report, read):
    page = read(report("digits")[0], color_scheme="dark").wait_for_map()

    def paper():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper() == "rgb(20, 23, 28)"
    assert page.inner_text("#theme") == "Light colours"
    page.click("#theme")
    assert paper() == "rgb(255, 255, 255)"
    assert page.inner_text("#theme") == "Dark colours"


def test_on_paper_the_map_is_a_picture_in_light_colours(report, read):
    page = read(report("digits")[0], color_scheme="dark").wait_for_map()
    page.emulate_media(media="print")
    assert page.locator("svg.map").is_visible()
    assert not page.locator("#canvas").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_tables_of_eight_views_are_not_cut_off(report, read):
    page = read(report("eight")[0], width=1400).wait_for_map()
    overflow = "(e) => e.scrollWidth - e.clientWidth"
    hidden = [table.evaluate(overflow) for table in page.locator(".heats .scroll").all()]
    assert len(hidden) >= 2 and max(hidden) <= 0


def test_nothing_is_wider_than_a_phone(report, read):
    page = read(report("digits")[0], width=390, height=844, has_touch=True).wait_for_map()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(report, read, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = read(report("evil")[0], color_scheme=scheme, width=width).wait_for_map()
    page.locator("#legend button").first.click()
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 20  # it did look
    bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"]) for v in bad] == []


def test_names_that_attack_are_shown_as_text(report, read):
    path, _, _ = report("evil")
    reader = read(path)
    page = reader.wait_for_map()
    page.on("dialog", lambda dialog: reader.complaints.append("a dialog opened"))
    draw_lasso(page, EVERYTHING)
    assert "<script>alert(1)</script>" in page.locator("#views").inner_text()
    assert "<img src=x onerror=alert(" in page.locator("#picked").inner_text()
    for number in range(1, page.locator("#colour-by option").count()):
        page.select_option("#colour-by", index=number)
        reader.wait_for_map()
    assert "<b>0</b>" in page.locator("#labels").inner_text()
    assert page.locator("img, main b b").count() == 0
    assert reader.complaints == []
    assert reader.requests == [path.as_uri()]


def test_the_static_page_is_whole_without_scripts(report, read):
    path, _, _ = report("evil")
    reader = read(path.with_name("evil-static.html"), java_script_enabled=False)
    assert reader.page.locator("svg.map").is_visible()
    assert reader.complaints == []


def test_without_scripts_the_map_is_a_picture(report, read):
    reader = read(report("evil")[0], java_script_enabled=False)
    assert reader.page.locator("svg.map").is_visible()
    assert not reader.page.locator("#canvas").is_visible()


def test_without_webgl_a_plain_canvas_draws_the_map(report, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(
        """const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind === "webgl2" ? null : get.call(this, kind, ...rest);
        };"""
    )
    page = context.new_page()
    page.goto(report("digits")[0].as_uri())
    page.wait_for_selector("#stage[data-ready]")
    drawn = page.evaluate(
        """() => { const c = document.getElementById("canvas");
        return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0); }"""
    )
    context.close()
    assert drawn
