"""Stages on a terminal: bars that grow, and an engine that changes nothing but what is seen."""

import io

import numpy as np
from rich.console import Console
from rich.progress import Progress

from manyview import LMVSC
from manyview.cli.display import StageBars
from manyview.datasets import make_views


def make_bars():
    bars = Progress(console=Console(file=io.StringIO()), disable=True)
    return bars, StageBars(bars)


def test_a_stage_that_starts_again_makes_its_bar_longer():
    bars, stages = make_bars()
    for _ in range(3):
        stages.start("anchors", 2)
        stages.advance()
        stages.advance()
        stages.finish()
    (task,) = bars.tasks
    assert (task.description, task.total, task.completed) == ("anchors", 6, 6)


def test_a_stage_with_nothing_left_to_do_is_shown_as_done():
    bars, stages = make_bars()
    stages.start("labels", 0)
    stages.finish()
    assert bars.tasks[0].finished


def test_a_step_is_done_even_if_it_fails():
    bars, stages = make_bars()
    try:
        with stages.step("picture"):
            raise ValueError
    except ValueError:
        pass
    assert bars.tasks[0].finished


def test_watching_changes_no_label():
    views = make_views(300, 3, (5, 6), random_state=0)
    bars, stages = make_bars()
    watched = LMVSC(3, random_state=0, verbose=stages).fit(views)
    assert np.array_equal(watched.labels_, LMVSC(3, random_state=0).fit(views).labels_)
    assert {"anchors", "graph", "embedding", "labels"} <= {task.description for task in bars.tasks}


def test_only_one_bar_tells_the_time_left_and_it_ends_full():
    bars, stages = make_bars()
    LMVSC(3, n_repeats=1, random_state=0, verbose=stages).fit(
        make_views(300, 3, (5, 6), random_state=0)
    )
    (whole,) = [task for task in bars.tasks if "estimate" in task.fields]
    assert (whole.description, whole.completed) == ("all of it", 1.0)
    assert all(task.finished for task in bars.tasks)


def test_a_remark_is_a_line_until_the_next():
    bars, stages = make_bars()
    stages.say("compiling")
    assert [task.description for task in bars.tasks] == ["compiling"]
    stages.say("")
    assert bars.tasks == []
