"""Figures as parts of the page: text stays text, and colours are the page's."""

import re

import pytest

from manyview.reproduce import drawings

CURVES = [
    {"title": "<ours>", "slope": 1.0, "points": [{"x": 500, "y": 0.1}, {"x": 2000, "y": 0.4}]},
    {"title": "theirs", "slope": None, "points": [{"x": 500, "y": 3.0}]},
]
PLACES = {"points": [[0, 0], [1000, 500], [7, 8]], "classes": [1, 0, 1]}
PANEL = {"title": "raw", "neighbours": 0.5, **PLACES}
SEEDS = [
    {"data": "Data", "label": "LMVSC", "protocol": "tuned", "paper": 0.9, "values": [0.8, 0.85]}
]


@pytest.fixture(params=["growth", "panel", "seeds"])
def drawn(request):
    if request.param == "growth":
        return drawings.draw_growth(
            CURVES, title="Seconds", x_title="rows", text="Both logarithmic."
        )
    if request.param == "panel":
        return drawings.draw_panel(PANEL, "Data")
    return drawings.draw_seeds(SEEDS)


def test_it_has_no_style_clip_or_name_of_its_own(drawn):
    assert "style" not in drawn and "url(" not in drawn and "clip" not in drawn
    names = re.findall(r' id="([^"]*)"', drawn)
    assert all(re.fullmatch(r"m[0-9a-f]{10}", name) for name in names)
    assert set(re.findall(r'href="#([^"]*)"', drawn)) == set(names)


def test_those_who_cannot_see_it_are_told_what_it_is(drawn):
    assert drawn.startswith("<svg ") and drawn.endswith("</svg>")
    assert re.search(r'role="img" aria-label="[^"]+\. [^"]+"><title>\S', drawn)


def test_curves_are_named_with_their_power_and_marked_differently():
    drawn = drawings.draw_growth(CURVES, title="Seconds", x_title="rows", text="x")
    assert "&lt;ours&gt;, power 1.00" in drawn and ">theirs<" in drawn and ">2k<" in drawn
    assert drawn.index("theirs") < drawn.index("power 1.00")  # in the order they end in
    marks = {
        re.search(rf'class="curve k{i}".*?href="#(\w+)"', drawn, re.DOTALL)[1] for i in range(2)
    }
    assert len(marks) == 2


def test_a_panel_has_a_dot_for_every_row_in_its_class():
    drawn = drawings.draw_panel(PANEL, "Data")
    dots = {k: re.search(rf'class="points k{k}"><path d="([^"]*)"', drawn)[1] for k in (0, 1)}
    assert [dots[k].count("M") for k in (0, 1)] == [1, 2]
    assert dots[0].split() == ["M", "1020", "520", "L", "1020", "520"]  # up is up: 1040 - 520
    assert "50% have" in drawn


def test_seeds_stand_beside_the_papers_figure():
    drawn = drawings.draw_seeds(SEEDS)
    assert "Data: LMVSC, tuned" in drawn
    seeds, printed = (
        re.search(rf'class="{kind}">(.*?)</g></g>', drawn, re.DOTALL)[1].count("<use")
        for kind in ("seed", "paper")
    )
    assert (seeds, printed) == (2, 1)
