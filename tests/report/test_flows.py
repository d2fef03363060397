"""Who moved where, drawn."""

import numpy as np
from matplotlib.figure import Figure

from manyview.report import FlowDisplay


def test_every_row_is_in_one_flow_and_one_bar_a_side():
    rng = np.random.default_rng(0)
    before, after = rng.integers(-1, 4, 90), rng.integers(0, 6, 90)
    display = FlowDisplay(before, after)
    assert sum(size for _, _, size in display.flows) == 90
    assert display.n_bars == 6
    axes = Figure().add_subplot()
    assert display.plot(ax=axes).ax_ is axes
    assert len(axes.patches) == len(set(before)) + len(set(after))
    assert len(axes.collections) == len(display.flows)


def test_names_of_clusters_and_sides_are_written():
    axes = Figure().add_subplot()
    FlowDisplay([0, 7], [7, 7], names=("old", "a/very/long/path/to/some/other/folder")).plot(
        ax=axes
    )
    texts = [text.get_text() for text in axes.texts]
    assert texts[:3] == ["0", "7", "7"] and texts[3] == "old"
    assert texts[4].startswith("...") and texts[4].endswith("folder")
