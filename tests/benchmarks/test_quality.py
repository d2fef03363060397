"""What the comparison with rivals measures, keeps and sums up."""

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from manyview import datasets, metrics

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import quality, quality_methods, quality_summary
from benchmarks.easy import draw_easy
from benchmarks.quality_methods import METHODS, Method
from benchmarks.quality_summary import Measured


@pytest.fixture(scope="module")
def views():
    return datasets.make_uneven((200, 60, 40), (5, 7), random_state=0)


@pytest.fixture
def reports(tmp_path):
    return quality.make_reports(tmp_path, quick=False)


@pytest.fixture
def made(monkeypatch, views):
    """A data set and two methods, ours and a rival, that cost nothing and keep what they were given."""
    given = []

    def guess(rows, k, seed):
        given.append(rows)
        return np.arange(len(rows)) % k

    methods = {
        "default": Method("ours", {"auto": guess}, is_ours=True),
        "kmeans": Method("rival", {"bad": guess, "good": lambda rows, k, seed: rows.target}),
        "absent": Method(
            "absent", {"auto": lambda rows, k, seed: import_module("no_such_package")}
        ),
    }
    monkeypatch.setattr(quality, "METHODS", methods)
    monkeypatch.setattr(quality.Sources, "__missing__", lambda self, name: views)
    return given


def lines_of(reports):
    return quality.read_lines(reports[0].folder / "quality.jsonl")


def test_a_line_has_every_setting_and_the_best_by_the_labels(reports, made):
    quality.compare(reports, ["made"], ["kmeans"], [3])
    (line,) = lines_of(reports)
    assert (line["data"], line["method"], line["seed"]) == ("made", "kmeans", 3)
    assert line["settings"] == "good" and line["figure"] == line["tried"]["good"]["nmi"] == 1.0
    assert set(line["tried"]) == {"good", "bad"}
    assert {"cpu_seconds", "n_found", "accuracy"} <= line["tried"]["bad"].keys()
    assert {"commit", "versions", "n_rows", "n_clusters"} <= line.keys()


def test_rows_are_shuffled_by_the_seed(reports, made, views):
    quality.compare(reports, ["made"], ["default"], [0, 1])
    _, first, second = made  # what warms up comes before
    assert not np.array_equal(first.target, second.target)
    assert np.array_equal(np.sort(first.arrays[0][:, 0]), np.sort(views.arrays[0][:, 0]))
    order = np.argsort(first.arrays[0][:, 0])
    assert np.array_equal(first.target[order], views.target[np.argsort(views.arrays[0][:, 0])])


def test_of_large_sets_some_rows_are_drawn(reports, made, monkeypatch, views):
    monkeypatch.setattr(quality, "MOST_ROWS", {"made": 50})
    quality.compare(reports, ["made", "made-whole"], ["kmeans"], [0])
    assert [line["n_rows"] for line in lines_of(reports)] == [50, len(views)]


def test_quick_runs_leave_large_sets_out(tmp_path, made, monkeypatch, capsys):
    monkeypatch.setattr(quality, "QUICK_ROWS", 50)
    reports = quality.make_reports(tmp_path, quick=True)
    quality.compare(reports, ["made"], ["default"], [0])
    assert "300 rows are more than 50" in capsys.readouterr().out
    assert lines_of(reports) == []


def test_a_set_that_is_not_here_is_left_out(reports, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    quality.compare(reports, ["msrcv1"], ["default", "kmeans"], [0, 1])
    assert capsys.readouterr().out.count("msrcv1: left out") == 1


def test_what_has_a_line_is_not_run_again_unless_asked(reports, made):
    for _ in range(2):
        quality.compare(reports, ["made"], ["kmeans"], [0, 1])
    assert len(lines_of(reports)) == 2
    quality.compare(reports, ["made"], ["kmeans"], [0], again=True)
    assert len(lines_of(reports)) == 3


@pytest.mark.parametrize(
    ("commit", "dirty", "is_done"), [("a", False, True), ("a", True, False), ("b", False, False)]
)
def test_ours_is_run_again_when_the_code_has_changed(monkeypatch, commit, dirty, is_done):
    monkeypatch.setattr(quality, "code_and_machine", lambda: {"commit": "a", "dirty": False})
    facts = {"data": "made", "seed": 0, "commit": commit, "dirty": dirty}
    done = quality.has_line([{**facts, "method": "default"}, {**facts, "method": "kmeans"}])
    assert (("made", "default", 0) in done) == is_done
    assert ("made", "kmeans", 0) in done


def test_what_cannot_run_is_left_out_with_a_word(reports, made, monkeypatch, capsys):
    broken = replace(quality.METHODS["kmeans"], tries={"bad": lambda rows, k, seed: 1 / 0})
    monkeypatch.setitem(quality.METHODS, "kmeans", broken)
    quality.compare(reports, ["made"], ["absent", "kmeans", "default"], [0])
    out = capsys.readouterr().out
    assert "absent did not run: No module named 'no_such_package'" in out
    assert "rival did not run: division by zero" in out
    assert [line["method"] for line in lines_of(reports)] == ["default"]


def test_easy_draws_have_a_file_of_their_own(reports, made):
    names = list(quality.find_names("easy,made", None, draws="2:4"))
    assert names == ["easy-2", "easy-3", "made"]
    quality.compare(reports, names, ["default"], [0, 1])
    easy = quality.read_lines(reports[0].folder / "quality_easy.jsonl")
    assert [line["data"] for line in easy] == ["easy-2", "easy-3"]  # one seed each
    assert [line["data"] for line in lines_of(reports)] == ["made", "made"]


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("key", ["kmeans", "spectral", "umap", "leiden", "easy"])
def test_rivals_find_clear_clusters_with_the_usual_scalings(key, views):
    pytest.importorskip({"umap": "umap", "leiden": "igraph"}.get(key, "sklearn"))
    fits = {setting: fit for setting, fit in METHODS[key].tries.items() if "unit" not in setting}
    for setting, fit in fits.items():
        assert metrics.nmi(views.target, fit(views, 3, 0)) > 0.9, setting


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_rivals_take_sparse_views_as_they_are():
    views = datasets.make_uneven((60, 40), (3,), n_words=200, random_state=0)
    for key in ("kmeans", "spectral", "easy"):
        for setting, fit in METHODS[key].tries.items():
            assert len(fit(views, 2, 0)) == 100, setting


def test_noise_is_not_added_to_a_single_view():
    views = datasets.make_uneven((30, 30), (3,), random_state=0)
    with pytest.raises(ValueError, match="two good ones or more"):
        METHODS["noise1"].tries["auto"](views, 2, 0)


def line(data, method, *scores, seed=0, commit="c1", k=5, found=5, cpu=1.0):
    """A line in which the settings of a method have these scores."""
    settings = METHODS[method].tries
    tried = {
        setting: {"nmi": score, "n_found": found, "cpu_seconds": cpu}
        for setting, score in zip(settings, scores, strict=False)
    }
    facts = {"data": data, "method": method, "seed": seed, "commit": commit}
    return {**facts, "tried": tried, "n_clusters": k, "n_rows": 100}


def figures(found):
    return {figure.title.strip(): figure.value for figure in found}


def test_the_line_to_beat_is_the_best_mean_over_seeds_of_a_rival_with_one_scaling():
    lines = [
        line("msrcv1", "default", 0.8), line("msrcv1", "default", 0.6, seed=1),
        line("msrcv1", "kmeans", 0.9, 0.5), line("msrcv1", "kmeans", 0.1, 0.6, seed=1),
        line("scene15", "default", 0.3),
        line("scene15", "kmeans", 0.2, 0.1), line("scene15", "spectral", 0.2, 0.4),
    ]  # fmt: skip
    found = Measured(lines)
    assert found.best("msrcv1", "kmeans") == (pytest.approx(0.55), "energy")
    assert found.best_rival("scene15") == (0.4, "kNN spectral, energy")
    summary = figures(quality_summary.means(found))
    assert summary["mean NMI, 2 of 13 sets"] == pytest.approx(0.5)
    assert summary["best rival and scaling of each, picked with the labels"] == pytest.approx(0.475)
    assert summary["sets won"] == 1
    assert summary["k-means, best scaling of each, 2 sets"] == pytest.approx(0.375)


def test_our_lines_are_those_of_one_commit():
    lines = [
        line("msrcv1", "default", 0.5, commit="c1", cpu=2.0), line("tdt2", "default", 0.7, commit="c1"),
        line("msrcv1", "default", 0.6, commit="c2", cpu=3.0), line("msrcv1", "kmeans", 0.1, commit="c1"),
    ]  # fmt: skip
    assert Measured(lines).names("default") == ["msrcv1"]
    assert Measured(lines, "c1").mean("msrcv1", "default") == 0.5
    change = figures(quality_summary.changes(Measured(lines), Measured(lines, "c1")))
    assert change["NMI gained since c1, 1 sets"] == pytest.approx(0.1)
    assert change["greatest ratio of CPU"] == pytest.approx(1.5)


def test_a_method_that_was_not_measured_again_keeps_its_lines():
    lines = [
        line("msrcv1", "default", 0.5, commit="c1"), line("msrcv1", "auto", 0.4, commit="c1", found=6),
        line("msrcv1", "default", 0.6, commit="c2"),
    ]  # fmt: skip
    found = Measured(lines)
    assert found.commits == {"default": "c2", "auto": "c1"}
    assert (found.mean("msrcv1", "default"), found.mean("msrcv1", "auto")) == (0.6, 0.4)
    assert "c2 (method 'default'), c1 (method 'auto')" in quality_summary.describe(lines, [])


def test_costs_and_losses_by_noise_are_those_of_the_same_seeds():
    lines = [
        line("msrcv1", "default", 0.5, cpu=6.0), line("msrcv1", "default", 0.9, cpu=6.0, seed=1),
        line("msrcv1", "late", 0.4, cpu=2.0), line("msrcv1", "noise1", 0.4),
    ]  # fmt: skip
    (cost,) = quality_summary.costs(Measured(lines))
    assert cost.value == pytest.approx(3.0)
    (loss,) = quality_summary.losses_by_noise(Measured(lines))
    assert loss.value == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("k", "suggested", "word"),
    [
        (5, 6, "near"),
        (10, 12, "near"),
        (10, 13, "off"),
        (4, 10, "off"),
        (4, 11, "far"),
        (4, 1, "off"),
    ],
)
def test_suggested_numbers_are_near_off_or_far(k, suggested, word):
    found = Measured([line("msrcv1", "auto", 0.5, k=k, found=suggested)])
    assert quality_summary._suggested(found, "msrcv1") == f"{suggested} of {k}, {word}"
    summary = figures(quality_summary.suggestions(found))
    assert summary["suggested k near, of 1 sets"] == (word == "near")
    assert summary["above 2.5 times the truth"] == (word == "far")


def test_only_draws_that_a_rival_solves_count_as_easy():
    lines = [
        line("easy-0", "easy", 0.5, 0.99), line("easy-0", "default", 0.96),
        line("easy-1", "easy", 0.98), line("easy-1", "default", 0.90),
        line("easy-2", "easy", 1.0), line("easy-2", "default", 0.3),
        line("easy-2", "auto", 0.3, found=4),
        line("easy-3", "easy", 0.97), line("easy-3", "default", 0.1),
    ]  # fmt: skip
    for each in lines:  # all nine settings of the rivals
        for setting in METHODS[each["method"]].tries:
            each["tried"].setdefault(setting, {"nmi": 0.0, "n_found": 5, "cpu_seconds": 1.0})
    summary = figures(quality_summary.easy_draws(Measured(lines)))
    assert summary["easy draws, 3 of 4: share with 0.95 or more"] == pytest.approx(1 / 3)
    assert summary["below 0.85"] == 1
    assert summary["suggested k right, of 1"] == 0
    assert {"easy-1", "easy-2"} <= summary.keys() and "easy-3" not in summary


def test_the_summary_of_lines_is_printed_and_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    lines = [line(n, m, 0.5) for n in ("msrcv1", "other") for m in ("default", "auto", "kmeans")]
    text = quality_summary.describe(lines, [], against="c1")
    assert "| msrcv1 | 100 | 5 | 0.500 |  | 0.500 |" in text
    assert "| other |" in text
    quality_summary.draw(lines, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


class TestDrawEasy:
    def test_a_seed_is_a_draw(self):
        one, two = draw_easy(5), draw_easy(5)
        assert one.settings == two.settings
        assert all(map(np.array_equal, one.views.arrays, two.views.arrays))
        assert str(one) != str(draw_easy(6))

    def test_the_family_has_what_anyone_might_try(self):
        draws = [draw_easy(seed).settings for seed in range(80)]
        sizes = [draw["sizes"] for draw in draws]
        ratios = [max(each) / min(each) for each in sizes]
        assert min(ratios) == 1 and max(ratios) > 30
        assert {len(each) for each in sizes} >= set(range(2, 13))
        assert max(map(sum, sizes)) <= 6000 and min(map(min, sizes)) >= 5
        widths = [width for draw in draws for width in draw["n_features"]]
        assert min(widths) == 2 and 60 < max(widths) <= 100
        assert {len(draw["n_features"]) for draw in draws} == {1, 2, 3, 4}
        assert {draw["shape"] for draw in draws} == {"blobs", "moons", "circles", "spirals"}
        for word in ("noise_features", "n_words", "duplicates"):
            assert 3 < sum(bool(draw[word]) for draw in draws) < 40
        assert any(len(d["n_features"]) == 1 and d["noise_features"] for d in draws)
        assert any(d["stretch"] > 2 for d in draws)


def test_side_by_side_gives_views_of_equal_energy(views):
    for kind in quality_methods.SCALINGS:
        X = quality_methods.side_by_side(views, kind)
        parts = np.split(X, [5], axis=1)
        assert [np.square(part).sum(axis=1).mean() for part in parts] == pytest.approx([1, 1])
