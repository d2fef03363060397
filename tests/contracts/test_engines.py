"""Every engine: the labels of one thread in memory, whatever it does to rows."""

from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from manyview import LMVSC, Views
from manyview.engines import _ENGINES, Dask, Disk, Memory, choose_engine
from manyview.engines.base import TILE_ROWS, Run, TreeSum
from manyview.stages.labels import VERY_MANY_CLUSTERS
from tests.templates import OneByOne


def as_they_are(views, folder):
    return views


def in_files(views, folder):
    """Write each view to a file: sparse ones as npz, dense ones as npy."""
    paths = []
    for number, view in enumerate(views if isinstance(views, list) else [views]):
        paths.append(folder / f"{number}{'.npz' if sparse.issparse(view) else '.npy'}")
        (sparse.save_npz if sparse.issparse(view) else np.save)(paths[-1], view)
    return paths


def one_in_a_file(views, folder):
    """Write the first view to a file."""
    return [*in_files(views[:1], folder), *views[1:]] if isinstance(views, list) else views


# A new engine adds a line here: how it is made, how it runs, and where it finds the views.
ENGINES = {
    "memory": (Memory, {}, as_they_are),
    "memory, two threads": (Memory, {"n_jobs": 2}, as_they_are),
    "memory, odd blocks": (partial(Memory, 5001), {"n_jobs": 2}, as_they_are),
    "memory, large blocks": (partial(Memory, 2 * TILE_ROWS), {"n_jobs": 2}, as_they_are),
    "memory, files": (Memory, {}, in_files),
    "disk": (Disk, {}, in_files),
    "disk, arrays": (Disk, {"n_jobs": 2}, as_they_are),
    "disk, mixed": (Disk, {"n_jobs": 2}, one_in_a_file),
    "disk, little memory": (partial(Disk, "9 MB"), {"n_jobs": 1}, in_files),
    "disk, two threads": (partial(Disk, "10 MB"), {"n_jobs": 2}, in_files),
    "dask": (Dask, {}, as_they_are),
    "the guide's example": (OneByOne, {"n_jobs": 1}, as_they_are),
}
N_ROWS = 2 * TILE_ROWS + 701


def make_model(**options):
    cheap = {"n_anchors": 12, "n_repeats": 1, "scaling": "standard"}
    return LMVSC(4, random_state=0, **{**cheap, **options})


@pytest.fixture(params=ENGINES, scope="module")
def engine(request, tmp_path_factory):
    """An engine, how the estimator runs it, and a function that puts views where it looks."""
    make, options, place = ENGINES[request.param]
    with nullcontext() if make is not Dask else _active_client(request):
        yield make(), options, lambda views: place(views, tmp_path_factory.mktemp("views"))


def _active_client(request):
    return request.getfixturevalue("cluster").client.as_current()


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, N_ROWS)
    X = 2.0 * rng.normal(size=(4, 5))[groups] + rng.normal(size=(N_ROWS, 5))
    Y = rng.poisson(np.exp(rng.normal(size=(4, 12)))[groups])
    return [X.astype(np.float32), sparse.csr_array(Y)]


@pytest.fixture(scope="module")
def expected(views):
    return make_model(n_repeats=2, scaling="auto", n_jobs=1, engine="memory").fit(views)


@pytest.fixture(scope="module")
def fitted(engine, views):
    """A model fitted by an engine, and the views where it found them."""
    kind, options, place = engine
    views = place(views)
    return make_model(n_repeats=2, scaling="auto", engine=kind, **options).fit(views), views


def make_evident(**options):
    return LMVSC(3, random_state=0, n_repeats=1, **options)


@pytest.fixture(scope="module")
def evident():
    """Rows whose clusters a column tells apart, and the model of one thread."""
    rows = np.random.default_rng(0).normal(size=(TILE_ROWS + 99, 6))
    rows[:, 0] += 40.0 * (np.arange(len(rows)) % 3)
    return rows, make_evident(engine="memory", n_jobs=1).fit([rows])


def make_many(**options):
    return make_model(n_anchors=300, n_neighbors=3, scaling=None, **options).set_params(
        n_clusters=VERY_MANY_CLUSTERS + 20
    )


@pytest.fixture(scope="module")
def many():
    """Rows of very many clusters, and the model of one thread."""
    n_clusters, rng = VERY_MANY_CLUSTERS + 20, np.random.default_rng(0)
    rows = 9.0 * rng.normal(size=(n_clusters, 4))[np.arange(N_ROWS) % n_clusters]
    rows += rng.normal(size=(N_ROWS, 4))
    return [rows], make_many(engine="memory", n_jobs=1).fit([rows])


@pytest.fixture(scope="module")
def present():
    """Whole tiles without a view, and holes elsewhere."""
    rng = np.random.default_rng(1)
    present = rng.random((N_ROWS, 2)) > 0.3
    present[:TILE_ROWS, 0] = False
    present[~present.any(axis=1), 1] = True
    return present


@pytest.fixture(scope="module")
def expected_of_some(views, present):
    return make_model(n_jobs=1, engine="memory").fit(Views(views, present=present))


@pytest.fixture(scope="module")
def weighted(views):
    """Views with a few rows of junk, weights, and the model of both by one thread."""
    junk = [views[0].copy(), views[1]]
    junk[0][TILE_ROWS - 3 : TILE_ROWS + 3] = 500.0
    weights = np.random.default_rng(2).random(N_ROWS)
    model = make_model(n_jobs=1, engine="memory", outliers="mark")
    return junk, weights, model.fit(junk, sample_weight=weights)


@pytest.fixture(scope="module")
def grouped(views):
    """Groups of rows, and the model of the views without them by one thread."""
    groups = np.array(["a", "b", "c"])[np.arange(N_ROWS) % 3]
    return groups, make_model(n_jobs=1, engine="memory").fit(views, groups=groups)


@pytest.fixture(scope="module")
def published():
    """Clear groups, so that each k-means takes few sweeps, and the published model of them."""
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 4, TILE_ROWS + 99)
    X = 9.0 * np.eye(4, 5)[groups] + rng.normal(size=(len(groups), 5))
    views = [X.astype(np.float32), sparse.csr_array(rng.poisson(9.0 * np.eye(4, 12)[groups]))]
    model = LMVSC.as_published(4, 5, 1.0, random_state=0, n_jobs=1)
    return views, model.fit([np.asarray(views[0], np.float64), views[1]])


@pytest.mark.slow
class TestEstimator:
    def test_labels_and_embedding_are_those_of_one_thread(self, fitted, expected):
        model, _ = fitted
        assert np.array_equal(np.asarray(model.labels_), expected.labels_)
        assert np.array_equal(np.asarray(model.embedding_), expected.embedding_)
        assert model.inertia_ == expected.inertia_
        assert np.array_equal(np.asarray(model.confidence_), expected.confidence_)

    def test_groups_are_taken_off_everywhere_alike(self, engine, views, grouped):
        kind, options, place = engine
        groups, expected = grouped
        rows = place(views)
        model = make_model(engine=kind, **options).fit(rows, groups=groups)
        assert np.array_equal(np.asarray(model.labels_), expected.labels_)
        assert model.batch_mixing_ == expected.batch_mixing_
        again = np.asarray(model.predict(rows, groups=groups))
        assert np.array_equal(again, expected.labels_)

    def test_predict_on_training_rows_gives_the_labels(self, fitted):
        model, views = fitted
        assert np.array_equal(np.asarray(model.predict(views)), np.asarray(model.labels_))
        assert np.array_equal(np.asarray(model.transform(views)), np.asarray(model.embedding_))

    def test_probabilities_are_those_of_one_thread(self, fitted, expected, views):
        model, placed = fitted
        found = model.predict_proba(placed)
        assert np.array_equal(np.asarray(found), expected.predict_proba(views))
        few, known = model.predict_proba(placed, top=2), expected.predict_proba(views, top=2)
        few = few.compute() if hasattr(few, "compute") else few
        assert np.array_equal(few.toarray(), known.toarray())

    def test_cuts_are_those_of_one_thread(self, fitted, expected):
        model, views = fitted
        for n in (2, 7):
            assert np.array_equal(np.asarray(model.cut(n)), expected.cut(n))
        assert np.array_equal(np.asarray(model.cut(7, views)), expected.cut(7))

    def test_evident_clusters_are_cut_as_by_one_thread(self, engine, evident):
        kind, options, place = engine
        rows, expected = evident
        placed = place([rows])
        model = make_evident(engine=kind, **options).fit(placed)
        assert model.model_.hierarchy.of_columns
        for n in (2, 7):
            assert np.array_equal(np.asarray(model.cut(n)), expected.cut(n))
            assert np.array_equal(np.asarray(model.cut(n, placed)), expected.cut(n))

    def test_very_many_clusters_are_those_of_one_thread(self, engine, many):
        kind, options, place = engine
        rows, expected = many
        model = make_many(engine=kind, **options).fit(place(rows))
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.model_.sizes, expected.model_.sizes)
        assert model.inertia_ == expected.inertia_

    def test_weights_and_marks_are_those_of_one_thread(self, engine, views, weighted):
        kind, options, place = engine
        junk, weights, expected = weighted
        placed = place(junk)
        model = make_model(engine=kind, outliers="mark", **options)
        model.fit(placed, sample_weight=weights)
        assert np.array_equal(np.asarray(model.labels_), expected.labels_)
        assert np.array_equal(np.asarray(model.outlier_score_), expected.outlier_score_)
        assert np.array_equal(np.asarray(model.predict(placed)), expected.labels_)

    def test_samples_lack_the_same_views_everywhere(self, engine, views, present, expected_of_some):
        kind, options, place = engine
        some = Views(place(views), present=present)
        model = make_model(engine=kind, **options).fit(some)
        assert np.array_equal(np.asarray(model.labels_), expected_of_some.labels_)
        assert np.array_equal(np.asarray(model.embedding_), expected_of_some.embedding_)
        assert np.array_equal(np.asarray(model.predict(some)), expected_of_some.labels_)

    def test_rows_of_nan_are_missing_everywhere(self, engine, views, present, expected_of_some):
        kind, options, place = engine
        X = np.where(present[:, :1], views[0], np.nan).astype(views[0].dtype)
        placed = Views(place([X, views[1]]))
        some = Views(placed, present={"view_1": present[:, 1]})
        model = make_model(engine=kind, **options)
        assert np.array_equal(np.asarray(model.fit(some).labels_), expected_of_some.labels_)

    def test_the_published_method_gives_the_labels_of_one_thread(self, engine, published):
        kind, options, place = engine
        some, expected = published
        model = clone(expected).set_params(**options)
        model.engine = kind
        model.fit(place(some))
        assert np.array_equal(np.asarray(model.labels_), expected.labels_)
        assert np.array_equal(np.asarray(model.embedding_), expected.embedding_)
        for anchors, others in zip(model.anchors_, expected.anchors_, strict=True):
            assert np.array_equal(anchors, others)

    def test_a_failure_inside_comes_out_with_its_place(self, engine, views, fitted):
        _, _, place = engine
        X = views[0].copy()
        X[2 * TILE_ROWS + 5, 3] = np.nan
        with pytest.raises(ValueError, match=f"row {2 * TILE_ROWS + 5}, column 3"):
            np.asarray(fitted[0].predict(place([X, views[1]])))  # an engine may compute only now


class TestRows:
    @pytest.fixture
    def rows(self, engine, views):
        kind, options, place = engine
        run = Run(options.get("n_jobs", 1))
        with run.resources:
            yield kind.open(Views(place(views)).arrays, run)

    def test_count(self, rows):
        assert rows.n_rows == N_ROWS

    def test_sums_are_added_in_the_order_of_the_tree(self, rows, views):
        total = TreeSum()
        for number, start in enumerate(range(0, N_ROWS, TILE_ROWS)):
            total.add(number, views[0][start : start + TILE_ROWS].sum(axis=0))
        result = rows.map_reduce(lambda tile, first: tile[0].sum(axis=0), stage="sums")
        assert np.array_equal(result, total.result())

    def test_tiles_are_whole_and_numbered(self, rows):
        seen = rows.map_reduce(lambda tile, first: [(first, tile[1].shape)], stage="tiles")
        assert seen == [
            (start, (min(TILE_ROWS, N_ROWS - start), 12)) for start in range(0, N_ROWS, TILE_ROWS)
        ]

    def test_mapped_rows_keep_their_order(self, rows, views):
        result = rows.map_rows(lambda tile, first: tile[0][:, 1], stage="rows")
        assert np.array_equal(np.asarray(result), views[0][:, 1])

    def test_sampled_rows_are_those_asked_for(self, rows, views):
        numbers = np.array([1, TILE_ROWS, N_ROWS - 1])
        sample = rows.sample_rows(numbers)
        assert np.array_equal(np.asarray(sample.arrays[0]), views[0][numbers])
        assert np.array_equal(sample.arrays[1].toarray(), views[1][numbers].toarray())

    def test_derived_rows_are_made_from_tiles(self, rows, views):
        doubled = rows.derive(lambda tile, first: 2.0 * tile[0])
        result = doubled.map_rows(lambda tile, first: tile, stage="rows")
        assert np.array_equal(np.asarray(result), 2.0 * views[0])

    def test_has_a_name_that_finds_it(self, engine, monkeypatch):
        kind, *_ = engine
        monkeypatch.setitem(_ENGINES, OneByOne.name, OneByOne)  # the line that a merge adds
        assert type(choose_engine(kind.name, ())) is type(kind)
