"""Every benchmark runs, in the tiniest form it has; what it measures is its own business."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from manyview import LMVSC, Views
from manyview.datasets import make_views
from manyview.stages.litekmeans import litekmeans
from manyview.stages.scaling import fit_scaler

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import (
    atlas,
    batches,
    cost_model,
    dask_cluster,
    default_fit,
    default_fit_data,
    graph_stage,
    growth,
    incomplete,
    label_free,
    measure,
    out_of_core,
    problems,
    published,
    run,
    simplex_qp,
    single_cell,
    start_up,
    task_graph,
    test_matrix,
    whole_fit,
)
from benchmarks.record import Report, Target


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return Report("tiny", quick=True, folder=tmp_path)


@pytest.fixture(scope="module")
def views() -> Views:
    return make_views(300, 3, (5, 7), random_state=0)


def read_lines(report: Report) -> list[dict]:
    return [json.loads(line) for line in (report.folder / "tiny.jsonl").read_text().splitlines()]


def test_every_named_benchmark_can_be_run():
    modules = [importlib.import_module(f"benchmarks.{name}") for name in run.NAMES]
    assert all(callable(module.run) for module in modules)


def test_names_are_listed(capsys):
    run.main(["--list"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        *run.NAMES,
        *run.ALONE,
    ]


def test_unknown_name_is_refused():
    with pytest.raises(SystemExit):
        run.main(["nonsense"])


def test_line_says_what_was_measured_where_and_how_it_stands(report):
    report.add("a case", 3.0, Target(at_most=2.0), seconds=[1.0], extra=np.float64(4.0))
    (line,) = read_lines(report)
    assert (line["verdict"], line["target"], line["extra"]) == ("miss", "<= 2", 4.0)
    assert line["versions"]["numpy"] == np.__version__
    assert line["form"] == "quick"
    assert {"commit", "dirty", "date", "cores", "cpu", "threads", "seed"} <= line.keys()
    assert "0 of 1 targets met" in report.summary()


@pytest.mark.parametrize(
    ("target", "figure", "verdict"),
    [
        (Target(at_most=9.0, stretch=6.0), 7.0, "pass"),
        (Target(at_most=9.0, stretch=6.0), 5.0, "pass (stretch)"),
        (Target(at_least=12.0), 11.0, "miss"),
        (Target(at_least=0.84, at_most=0.92), 0.93, "miss"),
        (Target(at_most=1.0, indicative=True), 0.5, "pass?"),
        (Target(at_most=1.0), float("nan"), "miss"),
    ],
)
def test_verdict_follows_the_bounds(target, figure, verdict):
    assert target.verdict(figure) == verdict


def test_rivals_take_turns():
    calls = []
    rivals = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    seconds = measure.time_in_turn(rivals, repeats=3)
    assert "".join(calls) == "ababab"
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_peak_memory_sees_what_was_freed_again():
    with measure.PeakMemory() as peak:
        np.ones(4_000_000).sum()
    assert 31e6 < peak.bytes < 64e6


def test_missing_data_is_a_line(report, monkeypatch, tmp_path):
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path))
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path))
    assert problems.find(report, "covtype") is None
    assert read_lines(report)[0]["note"] == "missing data"


@pytest.mark.slow
def test_simplex_cell_beats_nothing_but_is_certified(report, views):
    X = problems.standardised(views.arrays[0])
    A = problems.find_anchors(X, 8)
    cell = simplex_qp.Cell(5, 8, 0.1, 0.1)
    ratios, worst = simplex_qp.measure_cell(report, cell, X, A, repeats=1)
    simplex_qp.summarise(report, {cell: ratios}, {cell: worst})
    assert set(ratios) == {"daqp", "daqp reused", "quadprog"}
    assert worst < simplex_qp.MAX_CERTIFICATE
    assert read_lines(report)[0]["rival_gap"] < simplex_qp.MAX_CERTIFICATE


def test_graph_stage_is_timed_over_the_product(report, views):
    X = problems.shuffled(problems.standardised(views.arrays[0]))
    setting = graph_stage.Setting("made", 10.0, 0.0)
    graph_stage.measure_stage(report, setting, X, problems.find_anchors(X, 10), repeats=1)
    graph_stage.measure_large_alpha(report, 500, repeats=1)
    graph_stage.measure_threads(report, Views(list(views.arrays)), repeats=1)
    assert all(line["figure"] > 0 for line in read_lines(report))


@pytest.mark.slow
def test_whole_fit_is_compared(report, views):
    case = whole_fit.Case("handwritten", 3, 20, 300, (("KMeans n_init=10", 2.0),), True)
    whole_fit.compare(report, case, views, repeats=1)
    lines = read_lines(report)
    assert len(lines) == 1 + len(whole_fit.applicable(300, quick=True))
    assert [line["target"] for line in lines].count("<= 2") == 1


@pytest.mark.slow
def test_default_fit_is_compared_with_those_who_can_handle_as_many_rows(report, monkeypatch):
    monkeypatch.setattr(default_fit, "in_child", lambda function, *arguments: function(*arguments))
    monkeypatch.setattr(default_fit, "NEIGHBOUR_ROWS", 100)
    monkeypatch.setitem(
        default_fit_data.SETS,
        "made k=300",
        lambda n_rows: default_fit_data.make_histograms(3, min(n_rows, 300)),
    )
    rivals = [default_fit.ONE, default_fit.SPECTRAL]
    profiles = report.folder / "profiles"
    default_fit.measure(report, ["made k=300"], rivals, repeats=1, profiles=profiles)
    ours, *others = read_lines(report)
    assert ours["cpu_seconds"][0] > 0 and "graph" in ours["stages"]
    assert [line["target"] for line in others][-1] == "<= 6"
    assert not any(default_fit.SPECTRAL in line["case"] for line in others)
    assert (profiles / "made-k=300.prof").stat().st_size > 0


def test_cpu_for_ten_times_as_many_clusters_and_memory_of_large_inputs_have_a_bar(
    report, monkeypatch
):
    def cost(function, name, *arguments):
        large = default_fit.LARGE_ROWS
        n_bytes = 8 * large * default_fit.LARGE_COLUMNS
        cpu = 30.0 if name == default_fit.MANY else 10.0
        return default_fit.Cost(cpu, cpu, 10, 1.0, large, n_bytes, {})

    monkeypatch.setattr(default_fit, "in_child", cost)
    default_fit.measure(report, [default_fit.FEW, default_fit.MANY], [], repeats=1)
    lines = read_lines(report)
    assert (lines[-1]["figure"], lines[-1]["target"]) == (3.0, "<= 12")
    assert lines[1]["target"] == "<= 40"


@pytest.mark.parametrize(
    ("make", "n_columns"),
    [
        (default_fit_data.make_histograms, default_fit_data.HISTOGRAMS),
        (default_fit_data.make_embeddings, default_fit_data.EMBEDDINGS),
        (default_fit_data.make_texts, default_fit_data.REUTERS_COLUMNS),
    ],
)
def test_made_data_has_the_shape_that_is_told(make, n_columns):
    views = make(4, 50)
    assert views.n_rows == 50 and tuple(views.n_features) == n_columns
    assert len(np.unique(views.target)) == 4
    joined = default_fit_data.join(views)
    assert joined.shape == (50, sum(n_columns))
    KMeans(2, init="random", n_init=1, random_state=0).fit(joined)  # takes it


@pytest.mark.slow
def test_growth_is_measured_and_drawn(report, monkeypatch):
    monkeypatch.setattr(growth, "in_child", lambda function, *arguments: function(*arguments))
    growth.measure_sizes(report, (500, 1000))
    assert read_lines(report)[2]["target"] == "<= 4.4"
    assert (report.folder / "growth.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.usefixtures("one_anchor_seed")
def test_out_of_core_is_measured_and_cleaned_up(report, monkeypatch, tmp_path):
    monkeypatch.setattr(out_of_core, "in_child", lambda function, *arguments: function(*arguments))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out_of_core.measure(report, out_of_core.Sizes(4500, 400, 200, 300))
    lines = {line["case"]: line for line in read_lines(report)}
    differing = [line["figure"] for case, line in lines.items() if "labels that differ" in case]
    assert differing == [0, 0, 0]
    assert len(lines) == 13
    assert not list(tmp_path.glob("manyview-bench-*"))


def test_child_gives_its_result():
    assert measure.in_child(len, [1, 2, 3]) == 3


def test_start_up_is_timed(report):
    start_up.measure_imports(report, repeats=1)
    start_up.measure_help(report, repeats=1)
    call = "def call(): pass\n"
    start_up.measure_kernels(report, "nothing", call, Target(at_most=12.0), 1)
    assert len(read_lines(report)) == 9


def test_start_up_code_is_valid(monkeypatch):
    monkeypatch.setattr(LMVSC, "fit", lambda self, X: self)
    for code in (start_up.DEFAULT_FIT, start_up.ALL_METHODS):
        names: dict = {}
        exec(code, names)
        assert callable(names["call"])


def test_published_figures_are_put_beside_ours(report, views):
    wanted = {"nmi": (0.5, Target(at_least=0.1))}

    def make(seed: int) -> LMVSC:
        return LMVSC.as_published(3, 10, 0.1, variant="released", random_state=seed)

    published.score_seeds(report, "made", views, make, wanted, n_seeds=2)
    (line,) = read_lines(report)
    assert line["paper"] == 0.5
    assert len(line["scores"]) == 2


def test_what_hangs_on_the_anchors_k_means_is_shown(report, views):
    asked = []

    def make(seed: int) -> LMVSC:
        asked.append(seed)
        return LMVSC.as_published(3, 10, 0.1, variant="released", random_state=seed)

    published.add_single_runs(report, views, make, n_seeds=2)
    lines = read_lines(report)
    assert asked == [0, 1]
    assert [line["paper"] for line in lines] == [0.3862, 0.1273, 0.4889]
    assert all(line["target"] is None and "of one run" in line["case"] for line in lines)


def test_anchors_of_least_inertia_are_no_worse_by_that_measure(views):
    rows = fit_scaler(views.arrays[0], name="made", kind=None).apply(views.arrays[0])
    starts = [rows[np.arange(i, i + 8)].dense() for i in range(6)]

    def over(function):
        return function(rows, 0)

    found = published._least_inertia(over, iter(starts))
    assert found.inertia <= litekmeans(over, starts).inertia
    assert found.inertia == min(litekmeans(over, [start]).inertia for start in starts)


@pytest.mark.slow
def test_a_dask_cluster_is_compared_with_memory(report, cluster):
    cluster.wait_for_workers()
    with cluster.client.as_current():
        dask_cluster.compare(report, cluster.client, 4200, repeats=1)  # two tiles
    figures = {line["case"]: line["figure"] for line in read_lines(report)}
    assert figures["labels are those of the engine in memory"] == 1.0
    assert figures["bytes to the driver / bytes of input"] > 0.0


SIZES = cost_model.draw_sizes(40, seed=0, n_rows=(1000, 9000))


def made_runs(sizes):
    """Runs that cost exactly what a model with every coefficient 1e-9 says."""
    seen = {"r": 2, "u": 1, "m": 500, "s": 2.9, "i": 7, "p": 300}
    runs = [{**size, **seen, "c": size["k"] + 3, "q": size["k"] % 2} for size in sizes]
    for made in runs:
        costs = cost_model.terms(made)
        made["seconds"] = {
            stage: 1e-9 * sum(of_stage.values()) for stage, of_stage in costs.items()
        }
    return runs


def test_the_cost_model_finds_what_made_the_costs():
    model = cost_model.fit_model(made_runs(SIZES[:30]))
    errors = cost_model.relative_errors(model, made_runs(SIZES[30:]))
    assert errors.shape == (10,) and errors.max() < 0.01


@pytest.mark.slow
def test_fits_are_measured_by_stage():
    (run,) = measure.in_child(
        cost_model.measure_fits, [{"n": 600, "d": 5, "v": 2, "k": 3, "noise": 2.0}], 2
    )
    assert set(run["seconds"]) == set(cost_model.STAGES)
    assert sum(run["seconds"].values()) > 0.0 and run["s"] > 1.0 and run["p"] >= 0


@pytest.mark.slow
def test_sums_of_more_rows_take_more_bytes_up_to_dense_ones():
    example, found = measure.in_child(cost_model.measure_example, (1, 2))
    assert 0 < found[1] < found[2] < 2 * found[1]
    assert found[1] < cost_model.sum_bytes(example, found, 16)
    dense = 8 * example["u"] * (4 * example["m"]) ** 2
    assert cost_model.sum_bytes(example, found, 1 << 30) == dense


class TestSimulation:
    COSTS = task_graph.Costs(1e-4, 1e-4, 1e4)

    def simulate(self, n_workers, *, block_rows=1 << 16, costs=COSTS):
        seen = {"r": 2, "u": 2, "m": 2000, "s": 2.9, "c": 15, "i": 10, "sums": 1e6}
        size = {**cost_model.EXAMPLE, **seen, "n": 1e8}
        cluster = task_graph.Cluster(n_workers, 1e9)
        stages = dict.fromkeys(cost_model.STAGES, (1e-5, 0.5))
        return task_graph.simulate(stages, size, block_rows, cluster, costs)

    def test_no_schedule_beats_perfect_sharing(self):
        rows_seconds = 1e8 * 5e-5  # graph, embedding, labels, oddness and confidence
        for n_workers in (1, 10, 100):
            found = self.simulate(n_workers)
            assert rows_seconds / n_workers < found["seconds"] < 2 * rows_seconds / n_workers + 60
            assert 0.0 < found["workers_busy"] <= 1.0

    def test_a_busy_scheduler_is_the_limit_of_small_blocks(self):
        slow = task_graph.Costs(1e-3, 1e-3, 1e4)
        small, large = (self.simulate(1000, block_rows=b, costs=slow) for b in (1 << 12, 1 << 16))
        assert small["seconds"] > small["scheduler_seconds"] / 2 > large["seconds"]

    def test_the_page_is_written(self, tmp_path):
        runs = made_runs(SIZES[:5])
        point = {**self.simulate(10), "n": 1e9, "block_rows": 4096}
        content = {
            "fits": runs,
            "held_back": runs,
            "errors": [0.1, 0.3],
            "coefficients": cost_model.fit_model(runs),
            "task": vars(self.COSTS),
            "cpu": "some",
            "example": {
                **cost_model.EXAMPLE,
                "r": 2,
                "u": 1,
                "m": 2000,
                "s": 3.0,
                "c": 15,
                "i": 5,
                "q": 0,
                "p": 200,
            },
            "sums": {4: 1_000_000, 16: 3_000_000},
            "predictions": [{**point, "n_workers": n_workers} for n_workers in (10, 100, 1000)],
        }
        cost_model.write_page(content, tmp_path)
        assert (tmp_path / "_static" / "scaling.png").stat().st_size > 1000
        tables = (tmp_path / "explanation" / "scaling.inc").read_text()
        assert "mean error 20%" in tables and "3 MB of 16 tiles" in tables
        assert tables.count("list-table") == 3


def test_single_cells_are_measured_over_seeds(report):
    counts = np.random.default_rng(0).poisson(3.0, size=(90, 6)) * (np.arange(90) % 3 + 1)[:, None]
    cells = Views({"rna": counts, "protein": counts[:, :4]}, target=np.arange(90) % 3)
    methods = ["sc.tl.lmvsc", "k-means, CLR"]
    single_cell.measure(report, cells, [0, 1], name="made", methods=methods)
    lines = read_lines(report)
    assert [line["method"] for line in lines] == methods
    assert [line["seed"] for line in lines] == [[0, 1]] * 2
    assert all(score["cpu_seconds"] > 0 for line in lines for score in line["scores"])


def test_batches_are_measured_with_and_without_their_key(report):
    rng = np.random.default_rng(0)
    kinds, batch = np.arange(120) % 3, np.arange(120) // 60
    counts = rng.poisson(np.exp(rng.normal(4, 1, (3, 8)))[kinds] * (1 + 9 * batch[:, None]))
    methods = [batches.PLAIN, batches.WITH_KEY]
    batches.measure(report, counts, kinds, batch, [0], methods=methods)
    lines = read_lines(report)
    assert [line["method"] for line in lines] == methods
    assert lines[1]["figure"] > 0.9 and lines[1]["explained"] < 0.1


def test_cells_of_an_atlas_are_drawn_from_real_ones_of_their_kind():
    counts = np.kron(np.eye(2), np.full((3, 4), 50.0))  # each kind counts in columns of its own
    kinds = np.array([0, 1, 1, 0])
    rows = atlas._draw(counts, kinds, [np.arange(3), np.arange(3, 6)], 20, np.random.default_rng(0))
    assert rows.shape == (4, 20)
    assert np.array_equal(rows > 0, np.tile(counts > 0, 3)[kinds * 3, :20])


def test_backed_cells_are_measured_beside_those_in_memory(report):
    outcome = atlas.Outcome(2.0, 1.0, 10**9, np.zeros(5, np.int32), 1.0)
    memory = atlas.Outcome(2.0, 0.8, 10**9, np.zeros(5, np.int32), 1.0)
    atlas.add(report, "backed CSR", outcome, memory, 1000)
    assert [line["figure"] for line in read_lines(report)] == [1.0, 1.25]


def test_a_rare_kind_counts_as_much_as_a_frequent_one():
    target = np.repeat([0, 1], [960, 40])
    split, merged = np.where(np.arange(1000) < 480, 2, target), np.zeros(1000, int)
    assert single_cell.judge(target, target)["macro_f1"] == 1.0
    assert single_cell.judge(target, split)["n_found"] == 2
    found = single_cell.judge(target, merged)
    assert found["n_found"] == 1 and found["macro_f1"] < 0.55


def test_the_pick_without_labels_is_one_of_the_settings(report, views):
    facts = label_free.compare(report, "made", views, [{"alpha": 0.01}, {"alpha": 10.0}])
    assert facts["worst"] <= facts["pick"] <= facts["best"]


class TestIncomplete:
    @pytest.mark.parametrize("pattern", incomplete.PATTERNS)
    def test_every_sample_keeps_a_view(self, pattern):
        present = incomplete.PATTERNS[pattern](400, 3, np.random.default_rng(0))
        assert present.any(axis=1).all()
        assert not present.all()

    def test_every_method_labels_every_sample(self, views):
        present = incomplete.at_random(300, 2, np.random.default_rng(0), share=0.3)
        for method in incomplete.METHODS.values():
            assert len(np.unique(method(views, present, 3, 0))) == 3

    def test_too_few_complete_samples_give_no_labels(self, views):
        present = np.eye(2, dtype=bool)[np.arange(300) % 2]
        assert incomplete.drop_samples(views, present, 3, 0) is None

    def test_a_picture_is_drawn_of_what_there_is(self, tmp_path):
        pytest.importorskip("matplotlib")
        lines = [
            {"data": "hdigit", "pattern": p, "method": m, "figure": 0.5}
            for p, m in [("complete", incomplete.WHOLE), ("50%", incomplete.OURS)]
        ]
        incomplete.draw(lines, tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 1000


class TestMatrix:
    def test_a_cell_counts_and_names_tests_and_says_where_they_ran(self, tmp_path, capfd):
        file = tmp_path / "test_three.py"
        file.write_text(
            "import os, pytest\n"
            "def test_kernel(): assert os.environ['OPENBLAS_CORETYPE'] == 'Haswell'\n"
            "def test_wrong(): assert 1 == 2\n"
            "@pytest.mark.skip\n"
            "def test_skipped(): pass\n"
        )
        arguments = ["--kernels", "Haswell", "--pythons", "--results", str(tmp_path), str(file)]
        assert test_matrix.main(arguments) == 1
        (line,) = map(json.loads, (tmp_path / "test_matrix.jsonl").read_text().splitlines())
        assert [line[word] for word in ("passed", "failed", "skipped")] == [1, 1, 1]
        assert line["failing"][0].endswith("test_three.test_wrong")
        assert {
            "case",
            "seconds",
            "kernels_used",
            "commit",
            "cpu",
            "versions",
            "date",
        } <= line.keys()
        assert "1 passed, 1 failed, 1 skipped" in capfd.readouterr().out

    def test_a_python_that_is_not_here_is_named(self, tmp_path, capsys):
        arguments = ["--kernels", "--pythons", "3.99", "--results", str(tmp_path)]
        assert test_matrix.main(arguments) == 0
        assert "there is no Python 3.99 here" in capsys.readouterr().out

    def test_this_python_is_found(self):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        assert test_matrix.find_python(version) == sys.executable
