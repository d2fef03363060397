"""What the experiments beside the tables run."""

from manyview.bench.cells import Store
from manyview.reproduce import figures, methods
from manyview.reproduce.plan import Options


def test_row_order_has_every_method_in_both_orders():
    found = figures.ordered(Options("full"))
    run = {cell.method for one in found for cell in one.in_file_order}
    assert run == {*methods.PUBLISHED, methods.DEFAULT, *methods.COMPARED, "TBGL"}
    for one in found:
        assert {cell.data.shuffled for cell in one.in_file_order} == {None}
        assert [cell.data.shuffled for cell in one.shuffled] == [0, 1, 2, 3, 4]
        assert [cell.seed for cell in one.in_file_order] == [cell.seed for cell in one.shuffled]


def test_time_is_shown_of_every_method_of_the_paper():
    found = [entry.method for entry in figures.growing()]
    assert set(methods.BASELINES) <= set(found) and methods.RELEASED in found


def test_our_grid_has_more_anchors_than_the_papers(some_data):
    cells = figures.our_grid(figures.PROBLEMS["handwritten"], Options("quick"))
    assert {cell.settings["n_anchors"] for cell in cells} == {10, 50, 100, 200, 300}
    assert len(cells) == 2 * 5 * 5


def test_absent_data_has_no_jobs(monkeypatch):
    monkeypatch.setattr("manyview.reproduce.problems.Problem.is_present", lambda problem: False)
    assert not [job for jobs in figures.JOBS.values() for job in jobs(Options(), Store(None))]
