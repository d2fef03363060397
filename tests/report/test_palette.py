"""Colours stay apart for all eyes, and from the paper."""

from __future__ import annotations

import re

import pytest

from manyview.report.palette import (
    DARK_PAPER,
    LIGHT_PAPER,
    choose_colours,
    contrast,
    smallest_distance,
)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("n_colours", "apart"), [(10, 4.0), (20, 2.5)])
def test_colours_are_apart_for_colour_blind_eyes(n_colours, apart, dark):
    # Two in hundredths of OKLab is about the least difference that an eye can see.
    assert smallest_distance(choose_colours(n_colours, dark=dark)) >= apart


@pytest.mark.parametrize("dark", [False, True])
def test_a_hundred_colours_are_all_different_and_valid(dark):
    colours = choose_colours(100, dark=dark)
    assert len(set(colours)) == 100
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


@pytest.mark.parametrize(
    ("dark", "paper", "least"), [(False, LIGHT_PAPER, 1.6), (True, DARK_PAPER, 3.0)]
)
def test_colours_can_be_told_from_the_paper(dark, paper, least):
    assert min(contrast(colour, paper) for colour in choose_colours(100, dark=dark)) >= least


def test_no_colours():
    assert choose_colours(0) == ()
