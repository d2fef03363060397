"""Progress: a line on a terminal or in a notebook, nothing anywhere else."""

import io
import logging
import sys
import time
import warnings
from types import SimpleNamespace

import pytest

from manyview import LMVSC
from manyview.datasets import make_views
from manyview.engines.progress import (
    Estimate,
    NotebookProgress,
    SilentProgress,
    TerminalProgress,
    progress_for,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def show(stream, *, total=4, done=2, every=0.0):
    progress = TerminalProgress(stream, every=every)
    progress.start("graph", total)
    for _ in range(done):
        progress.advance()
    return progress


def test_a_terminal_shows_stage_and_share():
    stream = Terminal()
    show(stream, total=4, done=2)
    last = stream.getvalue().split("\r")[-1]
    assert "graph" in last
    assert "50%" in last
    assert "s left" in last
    assert last.count("█") == 12
    assert "2 of 4 tiles" in last
    assert "a second" in last


def test_the_line_is_wiped_at_the_end():
    stream = Terminal()
    show(stream).finish()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_what_is_no_terminal_stays_empty():
    stream = io.StringIO()
    show(stream).finish()
    assert stream.getvalue() == ""


def test_drawing_is_rare():
    stream = Terminal()
    show(stream, total=10**6, done=1000, every=3600.0).finish()
    assert stream.getvalue() == ""


def test_more_steps_than_announced_stay_at_all():
    stream = Terminal()
    show(stream, total=2, done=5)
    assert "100%" in stream.getvalue().split("\r")[-1]


def test_several_steps_count_at_once():
    stream = Terminal()
    progress = TerminalProgress(stream, every=0.0)
    progress.start("graph", 10)
    progress.advance(7)
    assert "70%" in stream.getvalue()


def test_a_stage_without_steps_is_harmless():
    stream = Terminal()
    progress = TerminalProgress(stream, every=0.0)
    progress.start("graph", 0)
    progress.finish()
    assert stream.getvalue() == ""


def test_a_new_stage_starts_from_nothing():
    stream = Terminal()
    progress = show(stream, total=2, done=2)
    progress.finish()
    progress.start("labels", 4)
    progress.advance()
    last = stream.getvalue().split("\r")[-1]
    assert "labels" in last
    assert "25%" in last


def test_silence_still_goes_to_the_log(caplog, capsys):
    progress = SilentProgress()
    with caplog.at_level(logging.DEBUG, logger="manyview"):
        progress.start("graph", 7)
        progress.advance()
        progress.finish()
    assert caplog.messages == ["graph: 7 tiles"]
    assert capsys.readouterr() == ("", "")


class TestEstimate:
    def test_shares_are_those_of_the_plan(self):
        estimate = Estimate()
        estimate.plan({"sample": 1.0, "graph": 3.0})
        estimate.start("sample", 0)
        assert estimate.share == 0
        estimate.finish()
        assert estimate.share == 0.25
        estimate.start("graph", 0)  # the pipeline's stage, and the engine's inside it
        estimate.start("graph", 10)
        estimate.advance(5)
        assert estimate.share == 0.625
        estimate.finish()
        estimate.finish()
        assert estimate.share == 1.0

    def test_what_is_not_planned_counts_for_nothing(self):
        estimate = Estimate()
        estimate.plan({"clusters": 1.0, "labels": 1.0})
        estimate.start("clusters", 0)
        estimate.start("sample's graph", 4)
        estimate.advance(4)
        assert estimate.share == 0
        estimate.finish()
        estimate.finish()
        assert estimate.share == 0.5

    def test_the_time_left_is_that_of_all_stages(self):
        now = [0.0]
        estimate = Estimate(lambda: now[0])
        estimate.plan({"anchors": 1.0, "graph": 3.0})
        assert estimate.left is None
        estimate.start("anchors", 0)
        now[0] = 5.0
        estimate.finish()
        assert estimate.left == 15.0

    def test_what_is_waited_for_is_no_part_of_the_time_left(self):
        now = [0.0]
        estimate = Estimate(lambda: now[0])
        estimate.plan({"anchors": 1.0, "graph": 3.0})
        estimate.start("anchors", 0)
        now[0] = 5.0
        estimate.pause()
        now[0] = 100.0
        assert estimate.elapsed == 5.0
        estimate.resume()
        estimate.finish()
        assert estimate.left == 15.0


class TestNotebook:
    def test_one_line_changes_and_ends_with_the_time_taken(self):
        shown = []

        class Handle:
            def update(self, text):
                shown.append(text)

        progress = NotebookProgress(lambda text: shown.append(text) or Handle(), every=0.0)
        model = LMVSC(2, n_repeats=1, random_state=0, verbose=progress)
        model.fit(make_views(200, 2, (4,), random_state=0))
        assert "sample" in shown[0] and any("graph" in text for text in shown)
        assert shown[-1].startswith("done in ")

    def test_a_notebook_is_known_by_its_kernel(self, monkeypatch):
        shell = SimpleNamespace(kernel=object())
        notebook = SimpleNamespace(get_ipython=lambda: shell)
        monkeypatch.setitem(sys.modules, "IPython", notebook)
        assert isinstance(progress_for(1), NotebookProgress)
        shell.kernel = None
        assert isinstance(progress_for(1), TerminalProgress)
        assert isinstance(progress_for(0), SilentProgress)


def test_a_warning_is_on_a_line_of_its_own(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: stream.write(str(message)))
    progress = show(stream, total=4, done=2)
    warnings.showwarning("odd", UserWarning, "file.py", 1)
    assert stream.getvalue().endswith("left\r\x1b[Kodd")
    progress.advance()
    progress.finish()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_remarks_stand_in_the_line():
    stream = Terminal()
    progress = show(stream)
    progress.say("compiling, once")
    assert "compiling, once" in stream.getvalue().split("\r")[-1]
    progress.say("")
    assert "compiling" not in stream.getvalue().split("\r")[-1]


def test_compiling_is_not_counted_in_the_time_left(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = Terminal()
    progress = show(stream, total=4, done=0)
    progress.say("compiling, once")
    now[0] = 60.0
    progress.say("")
    now[0] = 61.0
    progress.advance()
    assert "about 3 s left" in stream.getvalue().split("\r")[-1]


def test_any_object_may_be_told():
    told = []
    watcher = SimpleNamespace(
        start=lambda stage, total: told.append(stage),
        advance=lambda steps=1: None,
        finish=lambda: told.append("end"),
    )
    model = LMVSC(2, n_repeats=1, random_state=0, verbose=watcher)
    model.fit(make_views(200, 2, (4,), random_state=0))
    assert told[0] == "sample" and told.count("end") == len(told) / 2


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="verbose must be 0, 1, or an object with start"):
        progress_for("yes")
