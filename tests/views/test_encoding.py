"""Tables with categories, from the data frame to the labels of new rows."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from manyview import LMVSC, Views, load, metrics
from manyview.errors import ParameterError
from manyview.sources.table import Table
from manyview.views.encoding import learn_encoding

GROUP = np.repeat([0, 1, 2], 40)
SETTINGS = {"n_clusters": 3, "random_state": 0, "n_repeats": 1, "n_jobs": 1}


@pytest.fixture(scope="module")
def people():
    """Three groups that only numbers and categories together tell apart well."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(120)],
            "job": np.array(["baker", "nurse", "pilot"])[GROUP],
            "smokes": GROUP == 1,
            "age": 10.0 * GROUP + rng.normal(size=120),
            "born": pd.Timestamp("2000-01-01") + pd.to_timedelta(GROUP * 300, "D"),
            "size": pd.Categorical(np.array(["S", "M", "L"])[GROUP], ["S", "M", "L"], ordered=True),
        }
    )
    frame.loc[3, "job"] = None
    frame.loc[5, "age"] = np.nan
    return frame


@pytest.fixture(scope="module")
def model(people):
    return LMVSC(**SETTINGS, categories={"name": "drop"}).fit(people)


class TestEncoding:
    table = Table(
        {
            "kind": np.array(["a", "b", "a", "b", "", "a"]),
            "size": np.array([1.0, 2, 3, np.nan, 5, 6]),
        }
    )

    def test_a_row_has_one_level_of_each_column(self):
        encoding = learn_encoding(self.table, "t")
        assert encoding.feature_names == (
            "kind=a",
            "kind=b",
            "kind=(missing)",
            "size",
            "size=(missing)",
        )
        made = encoding.encode(self.table, "t")
        assert (made[:, :3].sum(axis=1) == 1).all()
        assert made[:, 3].tolist() == [1, 2, 3, 3, 5, 6] and made[:, 4].tolist() == [
            0,
            0,
            0,
            1,
            0,
            0,
        ]

    def test_unknown_levels_are_like_rare_ones_or_none(self):
        new = Table({"kind": np.array(["z"]), "size": np.array([1.0])})
        assert learn_encoding(self.table, "t").encode(new, "t")[0, :3].tolist() == [0, 0, 0]
        rare = Table({"kind": np.array(["a"] * 8 + ["x", "y"]), "size": np.arange(10.0)})
        assert learn_encoding(rare, "t").encode(new, "t")[0, :2].tolist() == [0, 1]

    def test_a_row_without_any_value_lacks_the_view(self):
        new = Table({"kind": np.array(["", "a"]), "size": np.array([np.nan, 1.0])})
        made = learn_encoding(self.table, "t").encode(new, "t")
        assert np.isnan(made[0]).all() and np.isfinite(made[1]).all()

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"kind": ["a"]}, "lacks 1 column that the model was fitted to: 'size'"),
            ({"kind": ["a"], "size": ["big"]}, "'size' of view 't' was fitted as a number.*'big'"),
            ({"kind": ["a"], "size": [1.0], "more": [1.0]}, "did not have in the fit: 'more'"),
        ],
    )
    def test_other_columns_are_refused(self, columns, message):
        table = Table({name: np.array(values) for name, values in columns.items()})
        with pytest.raises(ValueError, match=message):
            learn_encoding(self.table, "t").encode(table, "t")

    @pytest.mark.parametrize("days", [["2020-01-01", "2020-01-02"], pd.to_timedelta([1, 2], "D")])
    def test_days_and_numbers_are_not_taken_for_each_other(self, days):
        days, kind = np.array(days), np.array(["a", "b"])
        numbers, lacking = np.array([2024.0, 7.0]), np.array([np.nan, np.nan])
        of_days = learn_encoding(Table({"kind": kind, "x": days}), "t")
        of_numbers = learn_encoding(Table({"kind": kind, "x": numbers}), "t")
        for values in (numbers, np.array(["2024", "7"])):
            with pytest.raises(ValueError, match=r"'x' of view 't' was fitted as a date.*'2024'"):
                of_days.encode(Table({"kind": kind, "x": values}), "t")
        with pytest.raises(ValueError, match="'x' of view 't' was fitted as a number"):
            of_numbers.encode(Table({"kind": kind, "x": days}), "t")
        for encoding in (of_days, of_numbers):
            assert np.isfinite(encoding.encode(Table({"kind": kind, "x": lacking}), "t")).all()

    def test_a_table_of_names_only_is_refused(self):
        names = Table({"name": np.array([f"p{i}" for i in range(30)])})
        with pytest.raises(
            ValueError, match="no column that could be a feature: 'name' is left out"
        ):
            learn_encoding(names, "t")


class TestFit:
    def test_categories_and_numbers_find_the_groups(self, model):
        assert metrics.nmi(GROUP, model.labels_) > 0.9
        assert model.scaling_ == ["mixed"]

    def test_what_was_done_is_told(self, model):
        (choice,) = [c for c in model.choices_ if c["parameter"] == "categories"]
        told = choice["value"]["view_0"]
        assert told["job"] == "category (3 levels, missing as one more)"
        assert told["name"] == "left out (as asked)"
        assert "S < M < L" in told["size"] and told["born"].startswith("date")
        json.dumps(choice)

    def test_predict_on_training_rows_gives_the_labels(self, model, people, tmp_path):
        model.save(tmp_path / "m.mv")
        loaded = load(tmp_path / "m.mv")
        assert loaded.encodings_ == model.encodings_
        for fitted in (model, loaded):
            assert np.array_equal(fitted.predict(people), model.labels_)

    def test_frames_of_other_libraries_and_files_are_encoded_the_same(
        self, model, people, tmp_path
    ):
        people.to_csv(tmp_path / "p.csv", index=False)
        people.to_parquet(tmp_path / "p.parquet")
        given = [pl.from_pandas(people), pa.Table.from_pandas(people)]
        given += [tmp_path / "p.csv", tmp_path / "p.parquet", Views({"view_0": people})]
        for rows in given:
            assert np.array_equal(model.predict(rows), model.labels_)

    def test_rows_are_labelled_one_by_one_and_with_new_levels(self, model, people):
        alone = model.predict(people.iloc[[7]])
        assert alone[0] == model.labels_[7]
        new = people.iloc[[7]].assign(job="astronaut", smokes=None, name="who")
        with pytest.warns(
            UserWarning, match="'job' of .* 1 level that the fit did not have: 'astro"
        ):
            assert model.predict(new).shape == (1,)

    @pytest.mark.parametrize("library", ["pandas", "objects", "polars", "pyarrow", "parquet"])
    def test_missing_truth_values_are_a_level(self, people, library, tmp_path):
        answers = [None if i % 10 == 0 else bool(g) for i, g in enumerate(GROUP == 1)]
        frame = people[["age"]].fillna(0.0).assign(smokes=pd.array(answers, dtype="boolean"))
        frame.to_parquet(tmp_path / "p.parquet")
        made = {
            "pandas": frame,
            "objects": frame.assign(smokes=np.array(answers, object)),
            "polars": pl.from_pandas(frame),
            "pyarrow": pa.Table.from_pandas(frame),
            "parquet": tmp_path / "p.parquet",
        }[library]
        model = LMVSC(**SETTINGS).fit({"people": made})
        assert model.feature_names_per_view_ == [
            ["age", "smokes=False", "smokes=True", "smokes=(missing)"]
        ]
        known = frame[frame.smokes.notna()].astype({"smokes": bool})
        assert np.array_equal(model.predict({"people": known}), model.labels_[frame.smokes.notna()])

    def test_truth_values_stay_so_without_columns_that_were_left_out(self, people):
        frame = people[["age", "smokes", "name"]].fillna(0.0)
        model = LMVSC(**SETTINGS, categories={"name": "drop"}).fit({"people": frame})
        assert np.array_equal(model.predict({"people": frame[["age", "smokes"]]}), model.labels_)

    def test_advice_names_a_column_of_which_nothing_was_asked(self, people):
        frame = people.assign(first="same")[["first", *people.columns]]
        with pytest.warns(UserWarning, match=r"with categories={'name': 'drop'}"):
            LMVSC(**SETTINGS, categories={"first": "drop"}).fit(frame)

    def test_what_is_left_out_unasked_is_warned_about(self, people):
        with pytest.warns(UserWarning, match=r"left out 'name' \(identifiers: 120 values"):
            LMVSC(**SETTINGS).fit(people)

    def test_what_names_rows_can_be_their_ids(self, people):
        with pytest.warns(
            UserWarning, match=r"if 'name' names the rows, pass Views\(..., ids='name'\)"
        ):
            LMVSC(**SETTINGS).fit(people)
        named = LMVSC(**SETTINGS).fit(Views(people, ids="name"))
        assert named.ids_[:2].tolist() == ["p0", "p1"]

    def test_strict_refuses_it_and_refuse_refuses_all(self, people):
        with pytest.raises(ParameterError, match=r"strict.* 'name' \(identifiers"):
            LMVSC(**SETTINGS, categories="strict").fit(people)
        with pytest.raises(ValueError, match=r"non-numeric column\(s\) 'name', 'job'"):
            LMVSC(**SETTINGS, categories="refuse").fit(people)

    def test_a_column_that_is_not_there_is_named(self, people):
        with pytest.raises(ParameterError, match="must name columns of the views; got 'nmae'"):
            LMVSC(**SETTINGS, categories={"nmae": "drop"}).fit(people)

    def test_likely_ids_are_warned_about_unless_kept(self):
        frame = pd.DataFrame({"nr": np.arange(120), "x": 9.0 * GROUP + np.sin(np.arange(120))})
        with pytest.warns(UserWarning, match="'nr' of view 'view_0' holds whole numbers in order"):
            LMVSC(**SETTINGS).fit(frame)
        LMVSC(**SETTINGS, categories={"nr": "keep"}).fit(frame)
        dropped = LMVSC(**SETTINGS, categories={"nr": "drop"}).fit(frame)
        assert dropped.feature_names_per_view_ == [["x"]]
        assert np.array_equal(dropped.predict(frame), dropped.labels_)

    def test_columns_of_one_wide_frame_are_split(self, people):
        split = {"work": ["job", "smokes"], "body": ["age", "size", "born"]}
        model = LMVSC(**SETTINGS, views=split).fit(people)
        assert model.n_features_per_view_ == [6, 4]
        assert np.array_equal(model.predict(people), model.labels_)

    def test_samples_may_lack_the_table(self, people):
        rng = np.random.default_rng(0)
        x = pd.DataFrame(GROUP[:, None] + rng.normal(size=(120, 2)), index=people.name)
        table = people.set_index("name")
        views = Views.from_tables({"x": x, "table": table.iloc[:100]}, how="outer")
        model = LMVSC(**SETTINGS).fit(views)
        assert np.array_equal(model.predict(views), model.labels_)
        assert model.predict({"x": x.iloc[:5]}).shape == (5,)
        assert model.predict({"table": table.iloc[:5]}).shape == (5,)

    def test_a_stream_is_encoded_as_its_first_batch(self, people):
        model = LMVSC(**{**SETTINGS, "n_clusters": 2}, n_anchors=5, categories={"name": "drop"})
        model.partial_fit(people[::2]).partial_fit(people[1::2])
        assert model.predict(people).shape == (120,)

    def test_a_clone_keeps_the_parameter(self, model):
        assert clone(model).categories == {"name": "drop"}

    def test_explanations_name_the_levels(self, model, people):
        columns = model.explain(people).features["column"]
        assert {"job=baker", "size"} <= set(columns)
