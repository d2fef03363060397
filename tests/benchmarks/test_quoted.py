"""What the design page says of the paper's figures is what the kept result lines say."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = ROOT / "benchmarks" / "results" / "published.jsonl"
HANDWRITTEN = "handwritten (released, m=10, alpha=0.01)"
COVTYPE = "covtype (released, m=50, alpha=0.1)"
SINGLE = "covtype, 60 000 rows (released, m=50, alpha=0.1, anchors of one run)"


@pytest.fixture(scope="module")
def last():
    """A function: a case and a score -> its last line of the full form."""
    if not LINES.exists():
        pytest.skip("result lines are not part of the source distribution")
    lines = [json.loads(text) for text in LINES.read_text(encoding="utf-8").splitlines()]

    def find(case, score):
        named = [line for line in lines if line["case"] == f"{case}: {score}"]
        return [line for line in named if line["form"] == "full"][-1]

    return find


def short(value):
    return f"{value:.3f}".removeprefix("0")


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
