"""The page and its Markdown: whole, self-contained, and every number leads to a line."""

import re

import pytest

from manyview.reproduce.cells import Store
from manyview.reproduce.facts import build_facts, describe_data_key
from manyview.reproduce.page import render_markdown, render_page, write_pages
from manyview.reproduce.problems import PROBLEMS
from manyview.reproduce.run import FIGURES


@pytest.fixture(scope="module")
def page(quick_facts):
    return render_page(quick_facts)


@pytest.fixture(scope="module")
def text(quick_facts):
    return render_markdown(quick_facts)


def test_every_number_leads_to_a_line_that_exists(page, quick_run):
    ids = {line["id"] for line in quick_run[1].all_lines()}
    named = {i for group in re.findall(r'data-lines="([^"]+)"', page) for i in group.split()}
    linked = set(re.findall(r'href="#l-(\w+)"', page))
    shown = set(re.findall(r'<tr id="l-(\w+)"', page))
    assert len(named) > 100 and named | linked <= shown == ids


def test_the_page_shows_every_table_and_figure(page):
    for name in PROBLEMS:
        assert f'id="table-{name}"' in page
    for name in FIGURES:
        assert f'<section id="{name}">' in page
    assert page.count("is not on this machine") == 5
    assert "<script" not in page


def test_the_page_asks_for_nothing_outside_itself(page):
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', page)
    assert {address[:1] for address in addresses} == {"#", "d"}
    assert all(a.startswith(("#", "data:image/png;base64,")) for a in addresses)
    assert "url(" not in page and "@import" not in page
    assert "default-src 'none'" in page or "default-src &#39;none&#39;" in page


@pytest.mark.parametrize("target", ["nus", "digits", "time-rows", "datasets"])
def test_a_page_of_one_target_shows_that_alone(made_up, target):
    facts = build_facts([target], *made_up)
    page, text = render_page(facts), render_markdown(facts)
    assert page.count("<section id=") - ('id="findings"' in page) == 2  # it, and how it was run
    assert text.startswith("# The LMVSC paper")


def test_names_are_escaped(page):
    assert "<view>" not in page and "&lt;view&gt;" in page


def test_markdown_has_the_same_tables_and_findings(quick_facts, text):
    for finding in quick_facts["findings"]:
        assert finding["title"] in text and all(one in text for one in finding["measured"])
    for table in quick_facts["tables"]:
        assert f"### {table['title']}\n" in text
    assert "[0.9165]" in text and "&#" not in text


def test_markdown_tables_have_the_same_number_of_cells_in_each_line(text):
    widths = []
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        widths.append({line.count("|") for line in block.splitlines()})
    assert len(widths) > 20 and all(len(width) == 1 for width in widths)


def test_lines_say_their_data():
    data = {"problem": "nus", "rows": 500, "made": True}
    assert describe_data_key({"data": data}) == "nus, made, 500 rows"


def test_made_data_has_no_scores_in_the_list_of_lines(quick_facts):
    made = [line for line in quick_facts["lines"] if "made" in line["data"]]
    assert made and all(line["accuracy"] is line["nmi"] is None for line in made)
    assert any(line["seconds"] for line in made)


def test_guessed_sparsity_is_said(page, text):
    assert page.count("a guess") == 2 == text.count("a guess")


def test_markdown_names_every_line_of_a_finding(quick_facts, text):
    for finding in quick_facts["findings"]:
        assert all(line in text for line in finding["lines"])


def test_a_page_is_whole_when_all_its_cells_have_lines(quick_facts, made_up, everything):
    assert quick_facts["n_unreached"] == 0
    options, store = made_up
    del store._lines[next(iter(store._lines))]
    assert build_facts(everything, options, store)["n_unreached"] == 1


def test_an_empty_run_makes_a_page_that_says_so(some_data, made_up, everything, tmp_path):
    options, _ = made_up
    facts = build_facts(everything, options, Store(None))
    page, text = write_pages(facts, tmp_path)
    assert "not run yet" in page.read_text()
    assert "goes on where it stopped" in text.read_text()
