"""From a spreadsheet with categories to a report, and to the clusters of new rows."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manyview import load, metrics

CUSTOMERS = Path(__file__).parents[2] / "examples" / "customers.xlsx"
LIGHT = ("--n-repeats", 1, "-k", 3)


@pytest.fixture(scope="module")
def frame():
    return pd.read_excel(CUSTOMERS)


def read_clusters(path):
    with path.open() as file:
        return [int(row["cluster"]) for row in csv.DictReader(file)]


@pytest.mark.slow
def test_a_spreadsheet_becomes_a_report_by_one_command(tmp_path, run, frame):
    out = tmp_path / "out"
    result = run("fit", CUSTOMERS, "--id-column", "customer", "--drop", "group", *LIGHT, "-o", out)
    assert "'plan' category (3 levels)" in result.stderr
    assert "'remark' left out (free text" in result.stderr
    assert "'country' left out (constant: always 'Switzerland')" in result.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "plan=family" in page and "left out (free text" in page
    clusters = read_clusters(out / "labels.csv")
    assert metrics.nmi(frame["group"], clusters) > 0.8

    frame.drop(columns=["country", "remark"]).to_csv(tmp_path / "new.csv", sep=";", decimal=",")
    result = run("predict", out, tmp_path / "new.csv", "-o", tmp_path / "new-labels.csv")
    assert read_clusters(tmp_path / "new-labels.csv") == clusters


def test_columns_are_treated_as_asked_for(tmp_path, run):
    out = tmp_path / "out"
    run(
        "fit", CUSTOMERS, "--drop", "group,remark,country", "--encode", "visits", "--keep",
        "customer", *LIGHT, "-o", out, "--no-report",
    )  # fmt: skip
    told = load(out / "model.mv").encodings_[0].summary()
    assert told["visits"].startswith("category") and told["customer"].startswith("category")
    assert "remark" not in told
    facts = json.loads((out / "summary.json").read_text())["fit"]
    assert any(choice["parameter"] == "categories" for choice in facts["choices"])


def test_strict_names_what_would_be_left_out(tmp_path, run):
    result = run("fit", CUSTOMERS, "--categories", "strict", *LIGHT, "-o", tmp_path / "out", code=2)
    assert "--categories is strict" in result.stderr and "'remark' (free text" in result.stderr


def test_numbers_with_commas_are_read_as_told(tmp_path, run):
    (tmp_path / "t.csv").write_text("a;b\n" + "".join(f"1,{i:03d};2.{i:03d}\n" for i in range(30)))
    result = run("inspect", tmp_path / "t.csv", "--no-cost", "--json", "--decimal", ",")
    (view,) = json.loads(result.stdout)["views"]
    assert (view["least"], view["greatest"]) == (1.0, 2029.0)


@pytest.mark.parametrize("n_files", [1, 2])
def test_new_rows_are_read_as_the_fit_read_its_own(tmp_path, run, n_files):
    """Codes stay codes, and commas commas, where new rows alone do not show what they are."""
    rows = [("01", "1,5"), ("02", "2,234"), ("x", "9,25")] * 8
    head, out = "kind\tsize\n", tmp_path / "out"
    (tmp_path / "t.tsv").write_text(head + "".join(f"{a}\t{b}\n" for a, b in rows))
    views = [f"kind={tmp_path}/t.tsv::kind", f"size={tmp_path}/t.tsv::size"]
    result = run(
        "fit", *(views if n_files == 2 else [tmp_path / "t.tsv"]), *LIGHT, "-o", out, "--no-report"
    )
    (tmp_path / "new.tsv").write_text(head + "02\t2,234\n" * 2)
    views = [view.replace("t.tsv", "new.tsv") for view in views]
    new = views if n_files == 2 else [tmp_path / "new.tsv"]
    result = run("predict", out, *new, "-o", tmp_path / "new.csv")
    assert "decimal commas in 'size'" in result.stderr and "thousands marks" not in result.stderr
    assert read_clusters(tmp_path / "new.csv") == [read_clusters(out / "labels.csv")[1]] * 2


def test_outliers_are_counted_apart_from_clusters(tmp_path, run, blobs):
    rng, names = np.random.default_rng(1), [tmp_path / "a.npy", tmp_path / "b.npy"]
    for name, X in zip(names, blobs(n=300, widths=(4, 6)), strict=True):
        np.save(name, np.vstack([X, 40.0 * rng.normal(size=(6, X.shape[1]))]))
    np.save(tmp_path / "y.npy", [*(np.arange(300) % 3), *[0] * 6])
    asked = ("--labels", tmp_path / "y.npy", "--outliers", "mark", "--scaling", "standard")
    result = run("fit", *names, *LIGHT, *asked, "--no-report", "-o", tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())["fit"]
    assert facts["n_outliers"] >= 6 and facts["scores"]["accuracy"] == 1.0
    assert f"outliers, without a cluster (-1): {facts['n_outliers']} rows\n" in result.stdout


def test_files_that_name_the_same_rows_in_another_order_are_not_paired_by_place(run, files):
    result = run("fit", "colour.csv", "shape.parquet", *LIGHT, "-o", "out", code=2)
    assert "'id' names rows of views 'colour' and 'shape', but not in the same" in result.stderr
    assert "--id-column id" in result.stderr and not Path("out").exists()


@pytest.fixture
def renamed(files):
    """The same ids as in colour.csv, in another order and under another name."""
    frame = pd.read_parquet("shape.parquet").rename(columns={"id": "sample"})
    frame.to_csv("renamed.csv", index=False)
    return "colour.csv", "renamed.csv"


def test_nor_are_files_that_call_them_differently(run, renamed):
    result = run("fit", *renamed, *LIGHT, "-o", "out", code=2)
    assert "'id' of view 'colour' and 'sample' of 'renamed' name the same rows" in result.stderr
    assert "--id-column id --id-column sample" in result.stderr and not Path("out").exists()


def test_each_file_may_have_a_column_of_ids_of_its_own(run, renamed):
    named = ("--id-column", "id", "--id-column", "sample")
    run("fit", "colour.csv", "shape.parquet", *named[:2], *LIGHT, "--no-report", "-o", "same")
    run("fit", *renamed, *named, *LIGHT, "--no-report", "-o", "out")
    assert Path("out/labels.csv").read_text() == Path("same/labels.csv").read_text()
    again = run("predict", "out", *renamed, "-q")  # as in the fit
    assert again.stdout.splitlines()[0].startswith("id,")
    assert len(again.stdout.splitlines()) == len(Path("out/labels.csv").read_text().splitlines())
    result = run("fit", *renamed, *named[:3], "nothere", *LIGHT, "-o", "new", code=2)
    assert "--id-column must name a column of the files; none has 'nothere'" in result.stderr
