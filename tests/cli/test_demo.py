"""``manyview demo``: one real run in a process of its own, and what it must never do."""

import csv
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import manyview
from manyview.cli.group import manyview as command_line

FEW = 150
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "made" / "here"
    finished = subprocess.run(
        [sys.executable, "-m", "manyview", "demo", "-o", str(folder)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return folder, finished


@pytest.fixture
def quick_demo(monkeypatch):
    """The demo of a few digits in this process: one anchor seed, a plain map, no k-means."""
    from manyview.cli import demo, picture

    few = manyview.datasets.digits_views()[:FEW]
    monkeypatch.setattr(manyview.datasets, "digits_views", lambda: few)
    monkeypatch.setattr(manyview, "LMVSC", partial(manyview.LMVSC, n_repeats=1))

    monkeypatch.setattr(picture, "lay_out", lambda embedding, placed, seed: embedding[:, 1:3])
    monkeypatch.setattr(demo, "kmeans_labels", lambda views, n_clusters, seed: views.target)

    def invoke(*arguments):
        return CliRunner().invoke(command_line, ["demo", *map(str, arguments)])

    return invoke


def read_labels(folder):
    with open(folder / "labels.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    return {name: [int(line[name]) for line in table] for name in ("row", "cluster", "digit")}


@pytest.mark.slow
def test_demo_writes_exactly_the_files_it_lists(run):
    folder, finished = run
    names = {path.name for path in folder.iterdir()}
    assert names == {"embedding.png", "labels.csv", "labels.npy", "model.mv", "scores.json"}
    assert all(str(folder / name) in finished.stdout for name in names)


@pytest.mark.slow
def test_labels_files_and_model_agree(run):
    folder, _ = run
    views = manyview.datasets.digits_views()
    table, model = read_labels(folder), manyview.load(folder / "model.mv")
    assert table["row"] == list(range(len(views)))
    assert table["digit"] == views.target.tolist()
    assert table["cluster"] == np.load(folder / "labels.npy").tolist() == model.labels_.tolist()
    assert model.predict(views).tolist() == model.labels_.tolist()


@pytest.mark.slow
def test_printed_scores_are_those_of_the_labels(run):
    folder, finished = run
    table = read_labels(folder)
    scores = manyview.metrics.scores(table["digit"], table["cluster"])
    printed = [line.strip() for line in finished.stdout.splitlines() if line.strip()]
    lines = {line.rsplit(maxsplit=2)[0]: line for line in printed}
    titles = ["accuracy", "NMI (max)", "purity", "inverse purity", "ARI"]
    keys = ["accuracy", "nmi", "purity", "inverse_purity", "ari"]
    assert [lines[title].split()[-2] for title in titles] == [f"{scores[key]:.3f}" for key in keys]
    assert "seconds" in lines
    stages = {line.split()[0] for line in printed}
    assert {"anchors", "graph", "spectrum", "embedding", "labels"} <= stages
    record = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    assert record["scores"]["LMVSC"]["accuracy"] == scores["accuracy"]


@pytest.mark.slow
def test_where_no_one_looks_there_is_no_progress_and_no_colour(run):
    _, finished = run
    assert finished.stderr == ""
    assert "\x1b" not in finished.stdout


@pytest.mark.slow
def test_picture_shows_all_clusters_in_colour(run):
    folder, _ = run
    with Image.open(folder / "embedding.png") as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert pixels.shape[0] >= 600 and pixels.shape[1] >= 1000
    assert (pixels.min(axis=2) < 250).mean() > 0.02
    strong = pixels[np.ptp(pixels, axis=2) > 60]
    assert len(np.unique(strong, axis=0)) >= 6
    assert (folder / "embedding.png").stat().st_size < 200_000


@pytest.mark.slow
def test_the_readme_tells_and_shows_what_the_demo_does(run):
    folder, _ = run
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["scores"]
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    told = re.search(r"by \.(\d\d) \(accuracy\); k-means on the same columns, by \.(\d\d)", text)
    assert [int(number) for number in told.groups()] == [
        round(100 * scores[name]["accuracy"]) for name in ("LMVSC", "k-means")
    ]
    pictures = [ROOT / "docs" / "_static" / "digits.png", folder / "embedding.png"]
    typical = [
        np.asarray(Image.open(path).convert("L"), dtype=float)[:, 1040:] for path in pictures
    ]
    assert np.abs(typical[0] - typical[1]).mean() < 4  # other fonts, a digit that changed its place


@pytest.mark.slow
def test_a_second_demo_replaces_its_own_files_and_no_others(run, quick_demo):
    folder, _ = run
    (folder / "notes.txt").write_text("mine")
    before = np.load(folder / "labels.npy")
    result = quick_demo("-o", folder, "--seed", 4, "--quiet")
    assert result.exit_code == 0, result.output
    assert "Written" not in result.stdout and "accuracy" in result.stdout
    assert (folder / "notes.txt").read_text() == "mine"
    assert not np.array_equal(before, np.load(folder / "labels.npy"))


def test_a_file_of_someone_else_is_not_replaced(tmp_path, quick_demo):
    (tmp_path / "labels.csv").write_text("precious")
    result = quick_demo("-o", tmp_path)
    assert result.exit_code == 2
    assert "labels.csv" in result.stderr and "--force" in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert (tmp_path / "labels.csv").read_text() == "precious"


def test_interrupting_says_so_in_one_line(tmp_path, monkeypatch, quick_demo):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("manyview.cli.demo._compare", interrupt)
    result = quick_demo("-o", tmp_path)
    assert result.exit_code == 130
    assert result.stderr.strip() == "manyview: stopped."
    assert list(tmp_path.iterdir()) == []
