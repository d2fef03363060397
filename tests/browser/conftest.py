"""Reports opened from disk in a real browser."""

from functools import cache

import pytest

from manyview import LMVSC, Views, datasets
from manyview.report import layout


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Give a function: a name -> the file of its report, the model and the views; each made once."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def make(name):
        ids = None
        if name == "digits":
            views, k = datasets.digits_views(), 10
            ids = [f'=cmd|"{i}"' if i % 7 == 0 else f"image {i}" for i in range(1797)]
        elif name == "made":
            views, k = datasets.make_views(100_000, 8, (6, 8, 10), random_state=0), 8
        elif name == "eight":
            views, k = datasets.make_views(90, 3, range(5, 13), random_state=0), 3
        else:
            some = datasets.make_views(150, 3, (4, 5), random_state=0)
            name_of_view = "<script>alert(1)</script>"
            given = {name_of_view: some.arrays[0], "</script>": some.arrays[1]}
            views, k = Views(given, target=[f"<b>{label}</b>" for label in some.target]), 3
            ids = [f"<img src=x onerror=alert({i})>" for i in range(150)]
        model = LMVSC(k, n_anchors=50, n_repeats=1, random_state=0).fit(views)
        path = model.report(folder / f"{name}.html", views, ids=ids)
        if name == "evil":
            model.report(folder / "evil-static.html", views, ids=ids, static=True)
        return path, model, views

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            layout, "_N_ITERATIONS", 250
        )  # the fewest: no test looks at how good the map is
        yield make
