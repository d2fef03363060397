"""Which way a fit goes: evident clusters, a gap or modularity; by a few rows, the same every time."""

import numpy as np
import pytest
from scipy import sparse

from manyview import LMVSC, Views
from manyview.engines import Memory
from manyview.engines.base import Run
from manyview.engines.progress import SilentProgress
from manyview.pipeline import pilot
from manyview.pipeline.settings import resolve
from manyview.stages.sampling import choose_rows
from manyview.stages.scaling import fit_scaler

GRAPHS = {"fusion": "both"}
"""Something asked of graphs: clusters may then not be evident without one."""


def ask(views, k, *, n_jobs=1, **params):
    views = Views(views)
    rows = Memory().open(views.arrays, Run(1, SilentProgress()))
    settings = resolve(LMVSC(k, **params).get_params(), views)
    rng = np.random.default_rng(0)
    return pilot.decide(rows, views.names, settings, rng=rng, n_jobs=n_jobs)


def blobs(spread, *, n=240, k=3, d=8):
    rng = np.random.default_rng(0)
    return 6.0 * rng.normal(size=(k, d))[np.arange(n) % k] + spread * rng.normal(size=(n, d))


@pytest.fixture
def noise():
    return np.random.default_rng(0).normal(size=(240, 8))


class TestWay:
    def test_clusters_that_stand_clear_are_evident(self):
        found = ask([blobs(0.5)], 3)
        assert found.evident is not None
        assert not found.by_gap and not found.trials

    def test_clusters_that_stand_clear_are_evident_on_several_threads(self):
        found = ask([blobs(0.5)], 3, n_jobs=2)
        assert found.evident is not None and not found.trials

    def test_a_gap_after_as_many_eigenvalues_as_clusters(self):
        found = ask([blobs(1.0)], 3, **GRAPHS)
        assert found.evident is None and found.by_gap
        best = max(found.trials, key=lambda kind: found.trials[kind].gap)
        assert found.trials[best].gap >= 0.1
        assert found.kinds == (best,)

    @pytest.mark.parametrize("k", [2, 4])
    def test_a_gap_after_another_number_does_not_count(self, k):
        assert not ask([blobs(1.0)], k, **GRAPHS).by_gap

    def test_principal_components_are_not_standardised(self, noise):
        X = noise * np.linspace(0.5, 3.0, 8)
        U, values, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        assert ask([X], 3).trials.keys() == {"auto", "standard"}
        assert ask([U[:, ::-1] * values[::-1]], 3).trials.keys() == {"auto"}
        assert ask([U * values, X], 3).trials.keys() == {"auto", "standard"}

    def test_otherwise_the_greatest_modularity(self, noise):
        found = ask([np.exp(noise)], 3)
        assert found.evident is None and not found.by_gap
        assert found.trials.keys() == {"auto", "log", "clr"}

        def lead(kind):
            return found.trials[kind].modularity - 0.015 * (kind == "auto")

        assert found.kinds == (max(found.trials, key=lead),)

    @pytest.mark.parametrize(("lead", "taken"), [(0.01, "clr"), (0.02, "auto")])
    def test_a_near_tie_goes_to_logarithms(self, noise, monkeypatch, lead, taken):
        modularity = {"auto": 0.74 + lead, "log": 0.72, "clr": 0.74}

        def try_kind(arrays, names, settings, kinds, *, seed):
            return pilot.Trial(0.0, modularity[kinds[0]])

        monkeypatch.setattr(pilot, "_try", try_kind)
        assert ask([np.exp(noise)], 3, **GRAPHS).kinds == (taken,)

    @pytest.mark.parametrize(("lead", "taken"), [(0.01, "standard"), (0.02, "auto")])
    def test_ranks_are_for_what_gains_by_them(self, noise, monkeypatch, lead, taken):
        modularity = {"auto": 0.7 + lead, "standard": 0.7}

        def try_kind(arrays, names, settings, kinds, *, seed):
            return pilot.Trial(0.0, modularity[kinds[0]])

        monkeypatch.setattr(pilot, "_try", try_kind)
        assert ask([noise], 3, **GRAPHS).kinds == (taken,)

    @pytest.mark.parametrize("count", [2, 5])
    def test_specks_are_no_gap(self, noise, count, monkeypatch):
        """A few rows far away are cut off from all others, but are no cluster."""
        noise[:count] = 20.0 + 0.01 * noise[:count]
        found = ask([noise], 2, scaling="standard", **GRAPHS)
        assert not found.by_gap
        monkeypatch.setattr(pilot, "_SPECKS", 0.0)  # without a look at their labels
        assert ask([noise], 2, scaling="standard", **GRAPHS).by_gap

    def test_no_gap_tells_of_kinds_of_cells(self, monkeypatch):
        """The few that are looked at have a handful of a rare kind."""
        monkeypatch.setattr(pilot, "_try", lambda *given, **seed: pilot.Trial(0.3, 0.5))
        counts = np.rint(np.exp(blobs(1.0) / 4))
        assert ask([counts], 3, scaling="log", **GRAPHS).by_gap
        assert not ask([counts], 3, scaling="lognorm", **GRAPHS).by_gap


class TestTrials:
    def kinds(self, *views, **params):
        found = ask(list(views), 3, **{**GRAPHS, **params})
        return set(found.trials)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_logarithms_are_for_what_is_not_negative(self, noise, convert):
        assert self.kinds(convert(noise)) == {"auto", "standard"}
        assert self.kinds(convert(np.abs(noise))) == {"auto", "log", "clr"}

    def test_text_stays_as_it_is_however_it_is_stored(self, noise):
        text = np.where(noise > 2, 1.0, 0.0)
        assert self.kinds(text) == self.kinds(sparse.csr_array(text)) == {"auto"}

    def test_a_view_keeps_what_it_cannot_have(self, noise):
        views = {"a": noise, "b": np.abs(noise[:, :5]) + 1}
        found = ask(views, 3, **GRAPHS)
        kept = {"auto": "auto", "log": "standard", "clr": "auto"}
        best = max(found.trials, key=lambda kind: found.trials[kind].modularity)
        assert found.kinds == (kept[best], best)

    def test_what_was_set_is_not_tried(self, noise):
        found = ask([np.abs(noise), np.abs(noise)], 3, scaling=["unit", "auto"])
        assert found.kinds[0] == "unit"
        assert len(ask([np.abs(noise)], 3, scaling="energy").trials) == 1

    @pytest.mark.parametrize(
        ("k", "params"),
        [
            (1, {}),
            (3, {"n_components": 3}),
            (3, {"anchor_method": [np.eye(20, 8)]}),
            (101, {}),  # two rows a cluster
        ],
    )
    def test_nothing_is_tried_where_there_is_nothing_to_choose(self, noise, k, params):
        found = ask([noise], k, **params)
        assert not found.trials and found.evident is None and not found.by_gap
        assert found.kinds == ("auto",)

    def test_scalers_of_all_sampled_rows_are_those_of_the_fit(self, noise, monkeypatch):
        few = ask([noise, noise[:, :4]], 3, **GRAPHS)
        wanted = [
            fit_scaler(X, name=n, kind=k, n_axes="auto")
            for X, n, k in zip([noise, noise[:, :4]], ("view_0", "view_1"), few.kinds, strict=True)
        ]
        for found, expected in zip(few.scalers, wanted, strict=True):
            assert np.array_equal(
                found.apply(noise[:, : len(found.shift)]).matrix,
                expected.apply(noise[:, : len(found.shift)]).matrix,
            )
        monkeypatch.setattr(pilot, "MOST_ROWS", 100)
        assert ask([noise, noise[:, :4]], 3, **GRAPHS).scalers is None

    def test_doubts_are_left_to_the_fit(self, noise):
        alike = np.repeat(noise[:3], 9, axis=0)  # a warning of it would be an error
        assert len(ask([alike], 4).trials) == 2

    def test_samples_may_lack_views(self, noise):
        views = Views({"a": noise, "b": blobs(1.0)}, present={"b": np.arange(240) % 3 > 0})
        assert ask(views, 3).trials.keys() == {"auto", "standard"}


class TestSame:
    """The choice depends on the rows of the sample, the settings and the seed, and on nothing else."""

    @pytest.fixture
    def views(self, noise):
        return {"a": np.exp(noise), "b": np.abs(blobs(4.0))}

    def test_for_any_number_of_threads(self, views):
        assert ask(views, 3, n_jobs=1) == ask(views, 3, n_jobs=3)

    def test_in_whatever_order_kinds_are_tried(self, views, monkeypatch):
        trials = ask(views, 3).trials
        monkeypatch.setattr(pilot, "KINDS", pilot.KINDS[::-1])
        assert ask(views, 3).trials == trials

    def test_whatever_the_other_rows_are(self, views, monkeypatch):
        monkeypatch.setattr(pilot, "MOST_ROWS", 100)
        expected = ask(views, 3)
        seen = choose_rows(240, 100, np.random.default_rng(0))
        others = np.setdiff1d(np.arange(240), seen)
        for X in views.values():
            X[others] = 1e6
        assert ask(views, 3) == expected


class TestCounts:
    """Counts of molecules have their own scaling, which nothing else is tried beside."""

    @pytest.fixture
    def cells(self):
        rng = np.random.default_rng(0)
        kinds, depth = np.arange(150) % 3, np.exp(rng.normal(0, 0.5, (150, 1)))
        rna = rng.poisson(depth * np.exp(rng.normal(-2, 2, (3, 200)))[kinds])
        protein = rng.poisson(np.exp(rng.normal(5, 1, (3, 8)))[kinds])
        return [rna.astype(np.float32), protein.astype(np.float32)]

    def test_choices_tell_each_views_kind_and_why(self, cells):
        model = LMVSC(3, n_repeats=1, random_state=0, **GRAPHS).fit(cells)
        told = [c for c in model.choices_ if c["parameter"] == "scaling"]
        assert model.scaling_ == ["lognorm", "clr"]
        assert [c["value"] for c in told] == [{"view_0": "lognorm"}, {"view_1": "clr"}]
        assert "genes" in told[0]["why"] and "proteins" in told[1]["why"]

    def test_what_is_asked_for_is_done(self, cells):
        model = LMVSC(3, n_repeats=1, scaling=["auto", "standard"], random_state=0, **GRAPHS)
        assert model.fit(cells).scaling_ == ["lognorm", "standard"]

    def test_labels_are_the_same_in_files_and_sparse(self, cells, tmp_path):
        fit = LMVSC(3, n_repeats=1, random_state=0, **GRAPHS).fit
        expected = fit(cells).labels_
        paths = [tmp_path / "rna.npy", tmp_path / "protein.npy"]
        for path, X in zip(paths, cells, strict=True):
            np.save(path, X)
        mapped = [np.load(path, mmap_mode="r") for path in paths]
        assert np.array_equal(fit(mapped).labels_, expected)
        assert np.array_equal(fit([sparse.csr_array(cells[0]), cells[1]]).labels_, expected)
        assert np.array_equal(expected == expected[0], np.arange(150) % 3 == 0)
