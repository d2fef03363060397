"""Figures as parts of the page: text stays text, and colours are the page's."""

import re

import pytest

from manyview.reproduce.drawings import Curve, Dots, Plot, draw

CURVES = [Curve("<ours>", [500, 2000], [0.1, 0.4]), Curve("theirs", [500], [3.0])]
DOTS = [Dots("Data: LMVSC", [0.8, 0.85], 0.9), Dots("without a mark", [0.5])]


@pytest.fixture(params=[CURVES, DOTS], ids=["curves", "dots"])
def drawn(request):
    return draw(Plot("Title", "Words."), request.param)


def test_it_has_no_style_clip_or_name_of_its_own(drawn):
    assert "style" not in drawn and "url(" not in drawn and "clip" not in drawn
    names = re.findall(r' id="([^"]*)"', drawn)
    assert all(re.fullmatch(r"m[0-9a-f]{10}", name) for name in names)
    assert set(re.findall(r'href="#([^"]*)"', drawn)) == set(names)


def test_everybody_is_told_what_it_shows(drawn):
    assert drawn.startswith("<svg ") and drawn.endswith('</svg><p class="caption">Words.</p>')
    assert re.search(r'role="img" aria-label="Title"><title>Title<', drawn)


def test_curves_are_named_in_the_order_they_end_in_and_marked_differently():
    drawn = draw(Plot("Seconds", "Both logarithmic.", "rows", "seconds", True), CURVES)
    assert "&lt;ours&gt;" in drawn and ">2k<" in drawn and ">seconds<" in drawn
    assert drawn.index("theirs") < drawn.index("&lt;ours&gt;")
    marks = {
        re.search(rf'class="curve k{i}".*?href="#(\w+)"', drawn, re.DOTALL)[1] for i in range(2)
    }
    assert len(marks) == 2


def test_seeds_stand_beside_the_mark():
    drawn = draw(Plot("Seeds", "Words."), DOTS)
    assert "Data: LMVSC" in drawn
    seeds, marks = (
        re.search(rf'class="{kind}">(.*?)</g></g>', drawn, re.DOTALL)[1].count("<use")
        for kind in ("seed", "mark")
    )
    assert (seeds, marks) == (2, 1)
