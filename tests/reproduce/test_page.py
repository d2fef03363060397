"""The page and its Markdown: claims first, self-contained, evidence in folds."""

import re

import pytest

from manyview.bench.cells import Store
from manyview.reproduce.claims import CLAIMS
from manyview.reproduce.page import build_page, render_markdown, render_page, write_pages
from manyview.reproduce.plan import Options
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.run import targets


@pytest.fixture(scope="module")
def html(page):
    return render_page(page)


@pytest.fixture(scope="module")
def text(page):
    return render_markdown(page)


def test_the_claims_are_one_table_at_the_top(page, html, text):
    assert [row[0] for row in page.claims.rows] == [claim.title for claim in CLAIMS]
    assert html.index('<section id="claims">') < html.index('<section id="figures">')
    for shown in (html, text):
        assert all(row[3] in shown for row in page.claims.rows)


def test_every_section_has_a_figure_a_table_and_one_fold(page, html):
    assert [section.name for section in page.sections] == [
        "figures", "gain", "single_views", "speed", "linear_time", "anchors", "alpha", "purity",
        "baselines", "row_order",
    ]  # fmt: skip
    for part in html.split("<section id=")[2:12]:
        assert part.count("<details") == 1 and part.count("<svg") == 1


def test_no_list_of_ids_is_in_the_text(html, text, full_run):
    for shown in (html, text):
        assert not [line["id"] for line in full_run[1].all_lines() if line["id"] in shown]


def test_the_page_shows_every_data_set_and_says_which_are_not_here(html):
    for name in set(PROBLEMS) - {"msrcv1"}:
        assert f'<section id="{name}">' in html
    assert html.count("not on this machine") == 5
    assert "<script" not in html


def test_the_page_asks_for_nothing_outside_itself(html):
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', html)
    assert {address[:1] for address in addresses} == {"#"}
    assert "url(" not in html and "@import" not in html
    assert "default-src &#39;none&#39;" in html


def test_markdown_has_the_same_tables(page, text):
    for section in [*page.sections, *page.tables]:
        for row in section.table.rows if section.table else []:
            assert f"| {' | '.join(row)} |" in text
    assert "&#" not in text


def test_markdown_tables_have_the_same_number_of_cells_in_each_line(text):
    widths = []
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths.append({line.count("|") for line in block.splitlines()})
    assert len(widths) > 20 and all(len(width) == 1 for width in widths)


def test_evidence_has_one_line_for_all_seeds_of_a_setting(page):
    (section,) = [section for section in page.sections if section.name == "gain"]
    seeds = [row[4] for row in section.evidence.rows]
    assert seeds == ["0, 1, 2", "0, 1, 2"] and len(section.lines) == 6


def test_a_page_of_one_target_measures_that_alone(some_data, fill):
    options = Options("quick")
    page = build_page(["row-order"], options, fill(["row-order"], options))
    assert [s.name for s in page.sections] == [
        "purity",
        "row_order",
    ]  # purity is of the paper alone
    assert not page.tables and page.n_unfinished == 0


def test_a_method_without_a_result_says_why(some_data, fill):
    def stop(cell, line):
        return (
            {"status": "stopped", "reason": "stopped after 4 s"} if cell.method == "AMGL" else line
        )

    options = Options("quick")
    page = build_page(["handwritten"], options, fill(["handwritten"], options, change=stop))
    rows = {row[0]: row for row in page.tables[0].table.rows}
    assert rows["AMGL"][1] == "stopped after 4 s" and len(set(map(len, rows.values()))) == 1


def test_names_are_escaped(made_up):
    options, store = made_up
    for line in store.all_lines():
        line["cpu"] = "<cpu>"
    page = render_page(build_page(["row-order"], options, store))
    assert "<cpu>" not in page and "&lt;cpu&gt;" in page


def test_a_page_says_what_is_left_to_do(made_up, page):
    assert page.n_unfinished == 0
    options, store = made_up
    del store._lines[next(iter(store._lines))]
    assert build_page(targets(["all"]), options, store).n_unfinished > 0


def test_an_empty_run_makes_a_page_that_says_so(some_data, tmp_path):
    page, text = write_pages(build_page(targets(["all"]), Options(), Store(None)), tmp_path)
    assert "not measured" in page.read_text()
    assert "goes on where it stopped" in text.read_text()


def test_the_quick_form_judges_nothing(some_data, fill):
    options = Options("quick")
    page = build_page(targets(["all"]), options, fill(["all"], options))
    assert {row[3] for row in page.claims.rows} <= {"not judged", "not measured"}
    assert "judges nothing" in render_page(page)
    assert not [name for s in page.sections for name in s.table.head if "Verdict" in name]


def test_claims_about_different_cases_share_a_column(page):
    heads = {section.name: section.table.head for section in page.sections}
    assert heads["row_order"][-1] == "Verdict"
    assert heads["speed"][-2:] == ["Verdict, timed", "Verdict, whole"]
