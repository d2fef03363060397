"""Labels without the rest of a fit are those of the fit."""

import numpy as np
import pytest

from manyview import LMVSC, datasets, metrics
from manyview.engines import Memory
from manyview.pipeline.label_only import find_labels, find_labels_of_view, graphs_of_view
from manyview.pipeline.settings import resolve


@pytest.mark.parametrize("given", [{}, {"n_components": 4}, {"n_anchors": 20, "n_repeats": 2}])
def test_labels_are_those_of_a_fit(given):
    views = datasets.make_views(150, 3, (4, 5), separation=2.0, random_state=1)
    model = LMVSC(3, random_state=5, n_jobs=1, **given)
    settings = resolve(model.get_params(), views)
    labels = find_labels(views, settings, engine=Memory(), seed=5, n_jobs=1)
    np.testing.assert_array_equal(labels, model.fit(views).labels_)


def test_a_view_alone_is_labelled_by_the_models_own_graphs_of_it():
    views = datasets.digits_views()[:300]
    model = LMVSC(10, random_state=0, n_repeats=3, n_anchors=50, n_jobs=1).fit(views)
    alone = views.select([views.names[1]])
    settings = resolve(model.get_params() | {"scaling": model.scaling_[1]}, alone)
    graphs = graphs_of_view(model.model_, 1, 2)
    own = [graph.anchors for graph in model.model_.graphs if graph.views == (1,)]
    assert [id(graph.anchors) for graph in graphs] == list(map(id, own[:2]))
    labels = [
        find_labels_of_view(alone, settings, model.model_, graphs, view=1, seed=0, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*labels)
    fresh = find_labels(alone, settings, engine=Memory(), seed=0, n_jobs=1)
    truth = views.target
    assert metrics.nmi(truth, labels[0]) > metrics.nmi(truth, fresh) - 0.05


def test_a_model_of_all_views_side_by_side_has_no_graph_of_one():
    views = datasets.make_views(90, 3, (4, 5), separation=4.0, random_state=1)
    model = LMVSC(3, random_state=0, n_repeats=1, fusion="early").fit(views)
    assert graphs_of_view(model.model_, 1, 2) == ()
