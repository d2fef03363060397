"""What the design page says of the paper's figures is what the kept result lines say."""

import json
import re
from pathlib import Path
from statistics import geometric_mean

import pytest

ROOT = Path(__file__).parents[2]
LINES = ROOT / "benchmarks" / "results" / "published.jsonl"
HANDWRITTEN = "handwritten (released, m=10, alpha=0.01)"
COVTYPE = "covtype (released, m=50, alpha=0.1)"
SINGLE = "covtype, 60 000 rows (released, m=50, alpha=0.1, anchors of one run)"


@pytest.fixture(scope="module")
def last():
    """A function: a case and a score -> its last line of the full form."""
    lines = [json.loads(text) for text in LINES.read_text(encoding="utf-8").splitlines()]

    def find(case, score):
        named = [line for line in lines if line["case"] == f"{case}: {score}"]
        return [line for line in named if line["form"] == "full"][-1]

    return find


def short(value):
    return f"{value:.3f}".replace("0.", ".", 1)


def spread(line, score):
    each = [scores[score] for scores in line["scores"]]
    return f"{short(min(each))} to {short(max(each))}"


def test_figures_of_the_papers_script_are_those_of_the_result_lines(last):
    page = ROOT / "docs" / "explanation" / "design.rst"
    text = " ".join(page.read_text(encoding="utf-8").split())
    ours = last(HANDWRITTEN, "accuracy")
    assert len(ours["scores"]) == 20
    assert f"accuracy is {short(ours['figure'])} ({spread(ours, 'accuracy')} over twenty" in text
    others = last(f"{HANDWRITTEN}, anchors of least inertia", "accuracy")
    assert others["commit"] == ours["commit"] and others["seed"] == ours["seed"]
    assert f"the same seeds have {short(others['figure'])}" in text
    scores = ("accuracy", "nmi", "inverse_purity")
    covtype = {score: last(COVTYPE, score) for score in scores}
    accuracy, nmi, inverse = (short(covtype[score]["figure"]) for score in scores)
    assert len(covtype["nmi"]["scores"]) == 5
    assert (
        f"accuracy {accuracy} ({spread(covtype['accuracy'], 'accuracy')} over five seeds), "
        f"NMI {nmi} and inverse purity {inverse}, where .3862, .1273 and .4889 are printed"
    ) in text
    assert f"accuracy from {spread(last(SINGLE, 'accuracy'), 'accuracy')}" in text


def _rows_of_guide(n_cells):
    """Method and figures in the tables of the guide to single cells that have so many columns."""
    text = (ROOT / "docs" / "guides" / "single_cell.rst").read_text()
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    return [row for row in rows if len(row) == n_cells and re.match(r"\.\d{3} / \.\d{3}", row[1])]


def _last_lines(name, *keys):
    path = LINES.with_name(f"{name}.jsonl")
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {tuple(line[key] for key in keys): line for line in lines if "method" in line}


def test_figures_of_single_cells_are_those_of_the_kept_lines():
    kept = _last_lines("single_cell", "method", "data")
    rows = _rows_of_guide(4)
    assert len(rows) >= 6
    for method, *cells in rows:
        for data, cell in zip(
            ("citeseq_pbmc10x", "citeseq_gse100866", "adt13"), cells, strict=True
        ):
            if cell != "not measured":
                line = kept[method, data]
                f1 = sum(score["macro_f1"] for score in line["scores"]) / len(line["scores"])
                seconds = sum(line["seconds"]) / len(line["seconds"])
                assert cell == f"{short(line['figure'])} / {short(f1)} / {seconds:.1f} s"


def test_figures_of_a_million_cells_are_those_of_the_kept_lines():
    path = LINES.with_name("atlas.jsonl")
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    kept = {line["case"].removeprefix("1000000 cells, "): line for line in lines}
    figures = {case: line["figure"] for case, line in kept.items()}
    said = (
        f"take {figures['backed CSR: GB']:.1f} GB and {figures['backed CSR: CPU time / in memory']:.2f} "
        "times the CPU seconds of the same cells in memory, which take "
        f"{figures['CSR in memory: GB']:.1f} GB; stored by columns, {figures['backed CSC: GB']:.1f} GB "
        f"and {figures['backed CSC: CPU time / in memory']:.2f} times. The labels are the same."
    )
    text = (ROOT / "docs" / "guides" / "single_cell.rst").read_text(encoding="utf-8")
    assert said in " ".join(text.split())
    assert {line["scores"]["same"] for line in kept.values()} == {1.0}


def test_figures_of_batches_are_those_of_the_kept_lines():
    kept = _last_lines("batches", "method", "n_rows")
    rows = _rows_of_guide(3)
    assert len(rows) == 4
    for method, *cells in rows:
        for n_rows, cell in zip((20_000, 350_868), cells, strict=True):
            if cell != "not measured":
                line = kept[method, n_rows]
                assert cell == f"{short(line['figure'])} / {short(line['explained'])}"


def answers_about(words):
    """The last line of each case of the answers that has these words."""
    lines = map(json.loads, LINES.with_name("answers.jsonl").read_text().splitlines())
    last = {line["case"]: line for line in lines if line["form"] == "full"}
    return [line for case, line in last.items() if words in case]


def test_figures_of_junk_are_those_of_the_kept_lines():
    far, even = answers_about("accuracy lost to 20 rows of junk")
    found = {line["figure"] for line in answers_about("rows of junk found")}
    text = (ROOT / "docs" / "guides" / "answers.rst").read_text(encoding="utf-8")
    lost = [
        (short(line["figure"]), short(line["scores"]["deviation of lost"])) for line in (far, even)
    ]
    assert found == {20.0}
    assert (
        "All of 20 rows of junk among 1797 digits are found. They cost {} of accuracy in the mean of "
        "8 seeds (deviation {}, as fits vary from seed to seed) where junk lies far out, and {} ({}) "
        "where it is even in each column."
    ).format(*lost[0], *lost[1]) in " ".join(text.split())
    assert far["case"].endswith("mean of 8 seeds")


def test_figures_of_updates_are_those_of_the_kept_lines():
    held = [line["figure"] for line in answers_about("handwritten in one new cluster")]
    stayed = [line["figure"] for line in answers_about("old labels that stay")]
    assert len(held) == len(stayed) == 10
    text = " ".join((ROOT / "docs" / "guides" / "models.rst").read_text(encoding="utf-8").split())
    assert f"holds {short(min(held))} of the class or more" in text
    assert f"and {short(min(stayed))} of the old labels or more stay" in text


def _lines_of(benchmark):
    path = LINES.with_name(f"{benchmark}.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_figures_of_speed_are_those_of_the_kept_lines():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    fits = {line["case"].partition(" (NMI")[0]: line for line in _lines_of("default_fit")}
    for name, rows in (("mnist", "MNIST (70 000"), ("covtype", "CoverType (581 012")):
        once, ten = (fits[f"{name}: wall / KMeans n_init={n}"]["figure"] for n in (1, 10))
        said = re.search(
            rf"{re.escape(rows)} rows\),? (?:it takes )?(\S+) .*? and (\S+) times", text
        )
        assert said[1] == f"{once:.1f}"
        assert said[2] == (f"{ten:.1f}" if ten > 0.95 else f"{ten:.2f}".removeprefix("0"))
    million = [line for line in _lines_of("growth") if line.get("n_rows") == 10_000_000][-1]
    taken = f"{million['figure']:.0f} seconds and {million['peak_bytes'] / 1e9:.1f} GB"
    assert (
        f"Ten million rows of {sum(million['columns'])} columns in three views take {taken}" in text
    )
    cells = {line["case"]: line for line in _lines_of("simplex_qp") if "ratios" in line}
    ratios = [line["ratios"]["daqp"] for line in cells.values()]
    said = f"(geometric mean of {len(ratios)} settings, at least {int(min(ratios))} times)"
    assert f"{geometric_mean(ratios):.0f} times as fast" in text and said in text
    assert f"{max(line['certificate'] for line in cells.values()):.0e}".replace("e-0", "e-") in text
