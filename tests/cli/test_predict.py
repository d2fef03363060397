"""``manyview predict``: new rows, columns found by name, views by name or order."""

import csv
import json
import warnings

import numpy as np
import pytest

from .conftest import VIEWS, N, is_one_line


def labels_of(text):
    return {row[0]: row[1] for row in csv.reader(text.splitlines()[1:])}


@pytest.fixture
def known(fitted):
    return labels_of((fitted / "labels.csv").read_text())


@pytest.mark.parametrize("model", ["out", "out/model.mv"])
def test_the_rows_that_were_fitted_get_their_clusters(known, run, model):
    result = run("predict", model, *VIEWS, "--id-column", "id")
    assert result.stdout.startswith("id,cluster,confidence\n")
    assert labels_of(result.stdout) == known


def test_new_rows_under_other_names_in_the_same_order(files, known, run):
    lines = (files / "colour.csv").read_text().splitlines()
    (files / "new_colour.csv").write_text("\n".join(lines[:1] + lines[11:21]))
    result = run(
        "predict", "out", "new_colour.csv", *VIEWS[1:], "--id-column", "id", "--join", "inner",
        "-o", "new.csv",
    )  # fmt: skip
    assert "new_colour as colour" in result.stderr
    found = labels_of((files / "new.csv").read_text())
    assert found == {i: known[i] for i in list(known)[10:20]}


def test_rows_that_are_marked_are_in_no_cluster(tmp_path, run):
    from manyview import LMVSC

    rows = np.random.default_rng(0).normal(size=(60, 3))
    rows[:2] *= 1e3
    np.save(tmp_path / "rows.npy", rows)
    LMVSC(2, outliers="mark", n_repeats=1, random_state=0).fit(rows).save(tmp_path / "m.mv")
    files = [tmp_path / name for name in ("m.mv", "rows.npy")]
    result = run("predict", *files, "-o", tmp_path / "found.csv")
    assert "60 rows in 2 clusters, 2 of them in none (-1), written to" in result.stderr


def test_columns_are_found_by_name_whatever_their_order(files, known, run):
    rows = [line.split(",") for line in (files / "colour.csv").read_text().splitlines()]
    turned = [
        ",".join([r[3], "note" if i == 0 else "hello", r[1], r[0], r[2]])
        for i, r in enumerate(rows)
    ]
    (files / "turned.csv").write_text("\n".join(turned))
    result = run("predict", "out", "turned.csv", *VIEWS[1:], "--id-column", "id", "-q")
    assert labels_of(result.stdout) == known


def test_a_column_that_is_missing_is_named(files, known, run):
    text = (files / "colour.csv").read_text().replace("green", "grün", 1)
    (files / "colour.csv").write_text(text, encoding="utf-8")
    result = run("predict", "out", *VIEWS, "--id-column", "id", code=2)
    assert "lacks 1 column that the model was fitted to: 'green'" in result.stderr


def test_rows_are_joined_by_the_ids_of_the_fit(known, run):
    result = run("predict", "out", *VIEWS)
    assert result.stdout.startswith("id,cluster,confidence\n")
    assert labels_of(result.stdout) == known


def test_an_id_column_that_no_file_has_is_refused(fitted, run):
    result = run("predict", "out", *VIEWS, "--id-column", "nothere", code=2)
    assert "--id-column must name a column of the files; none has 'nothere'" in result.stderr


def test_the_same_files_in_another_order(known, run):
    result = run("predict", "out", VIEWS[1], VIEWS[2], VIEWS[0], "--id-column", "id", "-q")
    assert labels_of(result.stdout) == known


def test_names_that_are_numbers_are_names(files, run):
    texts = ("1=colour.csv", "0=shape.parquet")
    run("fit", *texts, "--id-column", "id", "-k", 3, "-o", "n", "--no-report")
    expected = labels_of((files / "n" / "labels.csv").read_text())
    for order in (texts, texts[::-1], ("colour.csv", "shape.parquet")):
        result = run("predict", "n", *order, "-q")
        assert labels_of(result.stdout) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "nothere", *VIEWS), "there is no model nothere"),
        (("predict", "colour.csv", *VIEWS), "colour.csv"),
        (("predict", "out"), "Missing argument 'VIEW...'"),
        (
            ("predict", "out", "colour=plain.npy"),
            "view colour has 4 columns, but the model was fitted to 3",
        ),
        (("predict", "out", "plain.npy"), "the views are called plain, but the model was fitted"),
        (
            (
                "predict",
                "out",
                "a=colour.csv",
                "b=shape.parquet",
                "c=words.npz",
                "--id-column",
                "id",
            ),
            "the views are called a, b, c, but the model was fitted to colour, shape, words",
        ),
        (
            ("predict", "out", *VIEWS, "--drop", "red"),
            "--drop must not name a fitted column; got 'red'",
        ),
        (
            ("predict", "out", *VIEWS, "--label-column", "red"),
            "--label-column must not name a fitted column; got 'red'",
        ),
        (
            ("predict", "out", "shape.parquet", "words.npz", "plain.npy", "--join", "order"),
            "the views are called shape, words, plain, but the model was fitted to colour",
        ),
        (("predict", "out", *VIEWS, "-o", "x.txt"), "must end in .csv or .npy"),
        (("predict", "out", *VIEWS, "-o", "colour.csv/x.csv"), "cannot make the folder colour.csv"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(fitted, run, arguments, message):
    result = run(*arguments, code=2)
    assert is_one_line(result.stderr.splitlines()[-1] + "\n")
    assert message in result.stderr


def test_as_an_array_and_as_json(fitted, files, run):
    result = run("predict", "out", *VIEWS, "--id-column", "id", "-o", "p.npy", "--json", "-q")
    assert json.loads(result.stdout) == {
        "n_rows": N, "cluster_sizes": {"0": 30, "1": 30, "2": 30},
    }  # fmt: skip
    assert np.array_equal(np.load(files / "p.npy"), np.load(fitted / "labels.npy"))
    assert result.stderr == ""


def test_one_table_that_was_split_is_split_again(files, run):
    split = ("--columns", "warm=red", "--columns", "cold=green,blue", "--id-column", "id")
    run("fit", "colour.csv", *split, "-k", "3", "-o", "two", "--no-report")
    result = run("predict", "two", "colour.csv", "--id-column", "id", "-q")
    assert labels_of(result.stdout) == labels_of((files / "two" / "labels.csv").read_text())


def test_svmlight_files_that_use_fewer_columns(files, run):
    rng = np.random.default_rng(0)
    rows = [
        f"{i % 3} " + " ".join(f"{j + 1}:{rng.normal() + 9 * (i % 3 == j)}" for j in range(4))
        for i in range(60)
    ]
    (files / "a.svm").write_text("\n".join(rows))
    run("fit", "a.svm", "-k", "3", "-o", "s", "--no-report")
    (files / "b.svm").write_text("\n".join(row.rpartition(" ")[0] for row in rows))
    result = run("predict", "s", "b.svm", "-q")
    assert result.stdout.count("\n") == 61


def test_warnings_are_remarks(files, run):
    second = np.load("plain.npy")
    np.save("second.npy", second)
    views = ("plain.npy", "second.npy")
    run("fit", *views, "-k", "3", "--view-weights", "1,0", "-o", "out", "--no-report")
    np.save("plain.npy", np.where(np.arange(N)[:, None] < 5, np.nan, second))
    said = "manyview: warning: 5 sample(s) have no view but ['second']"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none gets past the command
        assert said in run("predict", "out", *views).stderr
        assert run("predict", "out", *views, "-q").stderr == ""


@pytest.mark.parametrize("memory", [1 << 30, 1], ids=["in memory", "on disk"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_a_split_table_are_found_by_name(files, run, kind, memory, monkeypatch):
    monkeypatch.setattr("manyview.cli.inputs.memory_for_views", lambda: memory)
    rng = np.random.default_rng(0)
    table = {
        f"{v}{j}": 5.0 * j * (np.arange(N) % 3 == j) + rng.normal(size=N)
        for v in "ab"
        for j in range(3)
    }
    save_table(files / f"t.{kind}", table)
    save_table(files / f"turned.{kind}", dict(reversed(table.items())))
    save_table(files / f"short.{kind}", {n: v for n, v in table.items() if n != "a1"})
    save_table(files / f"more.{kind}", {"a9": rng.normal(size=N), **table})
    for name, views in (
        ("split", ["--columns", "a=a*", "--columns", "b=b*"]),
        ("keys", None),
    ):

        def texts(file, views=views):
            return [file, *views] if views else [f"{file}::a*", f"{file}::b*"]

        run("fit", *texts(f"t.{kind}"), "-k", 3, "-o", name, "--no-report")
        result = run("predict", name, *texts(f"turned.{kind}"), "-q")
        assert result.stdout == (files / name / "labels.csv").read_text()
        result = run("predict", name, *texts(f"more.{kind}"), "-q")
        assert result.stdout == (files / name / "labels.csv").read_text()
        result = run("predict", name, *texts(f"short.{kind}"), "-q", code=2)
        assert "View 'a" in result.stderr and "lacks 1 column" in result.stderr


def test_a_table_with_samples_as_columns(files, run):
    table = np.load("plain.npy")
    head = "id," + ",".join(f"s{i}" for i in range(N))
    lines = [f"g{j}," + ",".join(map(repr, table[:, j].tolist())) for j in range(4)]
    (files / "genes.csv").write_text("\n".join([head, *lines]))
    (files / "new.csv").write_text("\n".join([head, *lines[::-1]]))
    options = ("--id-column", "id", "--transpose")
    run("fit", "genes.csv", *options, "genes", "-k", 3, "-o", "g", "--no-report")
    result = run("predict", "g", "new.csv", *options, "new", "-q")
    assert result.stdout == (files / "g" / "labels.csv").read_text()


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("int64", 0),
        ("float64", "0"),
        ("string", "0"),
        ("date32", "1970-01-01"),
        ("timestamp[ns]", "1970-01-01"),
    ],
)
def test_ids_are_written_as_they_are_compared(files, run, kind, first):
    import pyarrow as pa
    from pyarrow import parquet

    count = pa.array(range(24))
    days = [86_400 * 10**9 * i for i in range(24)]
    ids = pa.array(days, kind) if kind == "timestamp[ns]" else count.cast("int32").cast(kind)
    groups = np.arange(24) % 2
    table = {"id": ids, "a": groups * 9.0, "b": np.random.default_rng(0).normal(size=24)}
    parquet.write_table(pa.table(table), files / "t.parquet")
    parquet.write_table(pa.table({"id": ids, "label": groups})[::-1], files / "truth.parquet")
    options = ("--id-column", "id", "-q")
    run(
        "fit", "t.parquet", *options, "-k", 2, "--n-repeats", 1, "-o", "o", "--no-report"
    )  # fmt: skip
    run("evaluate", "truth.parquet", "o/labels.csv", "--json", "-q")
    result = run("predict", "o", "t.parquet", *options, "--json")
    assert json.loads(result.stdout)["ids"][0] == first


def test_a_folder_that_another_command_removed_is_made_again(fitted, files, run, monkeypatch):
    from manyview import LMVSC

    predict = LMVSC.predict

    def removing(model, views):
        (files / "res").rmdir()  # as a refused command does that had made it
        return predict(model, views)

    (files / "res").mkdir()
    monkeypatch.setattr(LMVSC, "predict", removing)
    run("predict", "out", *VIEWS, "-o", "res/b.csv")
    assert (files / "res" / "b.csv").exists()


def save_table(path, columns):
    import pyarrow as pa
    from pyarrow import csv, parquet

    write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
    write(pa.table(columns), path)


def test_a_refused_prediction_leaves_no_folder_behind(fitted, run):
    run("predict", "out", "absent.csv", "-o", "new/labels.csv", code=2)
    assert not (fitted.parent / "new").exists()
