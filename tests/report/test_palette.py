"""Colours stay apart for all eyes, and from the paper."""

import re

import numpy as np
import pytest

from manyview.report.palette import choose_colours

LIGHT_PAPER, DARK_PAPER = "#ffffff", "#14171c"

# Ottosson's OKLab, and the simulation of Machado, Oliveira and Fernandes (2009), severity 1.
TO_LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
RED_BLIND = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]
GREEN_BLIND = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]


def linear_light(colours):
    """Give the light (n, 3) that a screen sends out for colours such as "#rrggbb"."""
    rgb = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in colours])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def smallest_distance(colours, eye):
    """Give the smallest distance of two colours to an eye, in hundredths of OKLab."""
    seen = np.clip(linear_light(colours) @ np.transpose(eye), 0.0, 1.0)
    lab = np.cbrt(seen @ np.transpose(TO_LMS)) @ np.transpose(TO_LAB)
    apart = np.linalg.norm(lab[:, None] - lab, axis=2)
    return 100 * apart[np.triu_indices(len(lab), 1)].min()


def contrasts(colours, paper):
    """Give the contrast of colours with a paper as WCAG defines it, from 1 to 21."""
    light = linear_light([*colours, paper]) @ [0.2126, 0.7152, 0.0722] + 0.05
    return np.maximum(light[:-1], light[-1]) / np.minimum(light[:-1], light[-1])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eye", [np.eye(3), RED_BLIND, GREEN_BLIND], ids=["all", "red", "green"])
@pytest.mark.parametrize(("n_colours", "apart"), [(10, 4.0), (20, 2.5)])
def test_colours_are_apart_for_colour_blind_eyes(n_colours, apart, eye, dark):
    # Two in hundredths of OKLab is about the least difference that an eye can see.
    assert smallest_distance(choose_colours(n_colours, dark=dark), eye) >= apart


@pytest.mark.parametrize("dark", [False, True])
def test_a_hundred_colours_are_all_different_and_valid(dark):
    colours = choose_colours(100, dark=dark)
    assert len(set(colours)) == 100
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


def test_after_a_hundred_colours_repeat():
    assert choose_colours(250)[:100] == choose_colours(250)[100:200]


@pytest.mark.parametrize(
    ("dark", "paper", "least"), [(False, LIGHT_PAPER, 1.6), (True, DARK_PAPER, 3.0)]
)
def test_colours_can_be_told_from_the_paper(dark, paper, least):
    assert contrasts(["#000000"], "#ffffff") == pytest.approx(21)
    assert contrasts(choose_colours(100, dark=dark), paper).min() >= least


def test_no_colours():
    assert choose_colours(0) == ()
