"""Progress: a line on a terminal, nothing anywhere else."""

from __future__ import annotations

import io
import logging

from manyview.engines.progress import SilentProgress, TerminalProgress


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
