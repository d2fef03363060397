"""Stages on a terminal: one line that changes nothing but what is seen."""

import io

import numpy as np
import pytest

from manyview import LMVSC
from manyview.cli.display import StageLine
from manyview.datasets import make_views


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_step_is_shown_and_wiped_even_if_it_fails():
    stream = Terminal()
    with pytest.raises(ZeroDivisionError), StageLine(stream).step("picture"):
        1 / 0  # noqa: B018
    assert stream.getvalue() == "\r\x1b[Kpicture ...\r\x1b[K"


def test_watching_changes_no_label_and_leaves_nothing_on_the_line():
    views = make_views(300, 3, (5, 6), random_state=0)
    stream = Terminal()
    watched = LMVSC(3, n_repeats=1, random_state=0, verbose=StageLine(stream)).fit(views)
    expected = LMVSC(3, n_repeats=1, random_state=0).fit(views)
    assert np.array_equal(watched.labels_, expected.labels_)
    assert all(stage in stream.getvalue() for stage in ("anchors", "graph", "embedding", "labels"))
    assert stream.getvalue().endswith("\r\x1b[K")
