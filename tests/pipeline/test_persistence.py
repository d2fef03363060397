"""Model files: they predict what was fitted, hold no code, and say what is wrong with them."""

import io
import json
import os
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import manyview
from manyview import LMVSC, load
from manyview.engines import Memory
from manyview.errors import ModelFileError
from tests.model_files import change_json, rewrite

KINDS = [
    "standard",
    "normal-scores",
    "hellinger",
    "unit",
    "energy",
    "log",
    "clr",
    "lognorm",
    "tf-idf",
    None,
]


@pytest.fixture
def views(blobs):
    return blobs()


def fit(X, **options):
    """A cheap fit: with a kind of scaling that is named, and one anchor seed."""
    cheap = {"random_state": 0, "n_jobs": 1, "n_repeats": 1, "scaling": "standard"}
    return LMVSC(3, **{**cheap, **options}).fit(X)


class TestRoundTrip:
    @pytest.mark.parametrize(
        "options",
        [
            {"fusion": "late"},
            {"fusion": "early"},
            {"fusion": "both", "n_repeats": 2},
            {"alpha": [0.01, 0.1], "n_anchors": [8, 12]},
            {"view_weights": [0.2, 0.8]},
            {"view_weights": "amgl", "locality": 0.1},
            {"engine": Memory()},
            pytest.param({"random_state": np.random.RandomState(0)}, id="a generator as seed"),
            {"n_components": 5},
            {"n_neighbors": 3, "n_axes": 2},
            {"n_axes": None},
            pytest.param({"scaling": "auto"}, id="the kind of scaling chosen"),
            *({"scaling": kind, "fusion": "both"} for kind in KINDS),
        ],
        ids=str,
    )
    def test_a_loaded_model_predicts_the_same(self, views, tmp_path, options):
        X = [np.abs(views[0]), sparse.csr_array(np.abs(views[1]))]
        model = fit(X, **options)
        model.save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        new = [v[::-1][:40] for v in X]
        assert np.array_equal(again.predict(X), model.labels_)
        assert np.array_equal(again.transform(new), model.transform(new))

    def test_missing_views_are_missing_as_before(self, views, tmp_path):
        model = fit(views)
        model.save(tmp_path / "m.mv")
        views[0][:5] = np.nan
        assert np.array_equal(load(tmp_path / "m.mv").predict(views), model.predict(views))

    def test_fitted_attributes_come_back(self, views, tmp_path):
        model = fit({"hog": views[0], "gist": views[1]})
        model.save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert np.array_equal(again.labels_, model.labels_)
        assert again.labels_.dtype == np.int32
        assert np.array_equal(again.cluster_centers_, model.cluster_centers_)
        assert np.array_equal(again.singular_values_, model.singular_values_)
        assert np.array_equal(again.view_weights_, model.view_weights_)
        assert all(map(np.array_equal, again.anchors_, model.anchors_))
        for name in (
            "inertia_", "n_iter_", "n_views_", "view_names_", "n_features_per_view_",
            "n_features_in_", "stage_seconds_", "solver_report_",
        ):  # fmt: skip
            assert getattr(again, name) == getattr(model, name)

    def test_parameters_come_back(self, views, tmp_path):
        model = fit(views, alpha=[0.1, 1.0], view_weights=(1, 2), scaling=["unit", None], tol=1e-3)
        model.save(tmp_path / "m.mv")
        assert load(tmp_path / "m.mv").get_params() == model.get_params()

    def test_a_loaded_model_can_be_fitted_again(self, views, saved):
        again = load(saved).fit(views)
        assert np.array_equal(again.labels_, load(saved).labels_)

    def test_a_loaded_model_can_be_saved_again(self, views, saved, tmp_path):
        load(saved).save(tmp_path / "again.mv")
        expected = load(saved).predict(views)
        assert np.array_equal(load(tmp_path / "again.mv").predict(views), expected)

    def test_names_of_any_script(self, views, tmp_path):
        path = tmp_path / "модель ünïcode 模型.mv"
        names = ["цвет", "形"]
        model = fit(dict(zip(names, views, strict=True)))
        model.save(path)
        again = load(path)
        assert again.view_names_ == names
        assert np.array_equal(again.predict(views), model.labels_)

    @pytest.mark.parametrize("name", ["array", "array_0", "model"])
    def test_a_view_may_be_called_as_something_in_the_file(self, views, tmp_path, name):
        columns, anchors = {name: [0, 2, 3]}, {name: views[0][:10, [0, 2, 3]]}
        model = fit(views[0], views=columns, anchor_method=anchors)
        model.save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert again.views == columns
        assert np.array_equal(again.anchor_method[name], anchors[name])
        assert np.array_equal(again.predict(views[0]), model.labels_)

    def test_ids_that_are_objects_of_other_libraries_come_back_as_text(self, tmp_path):
        days = pd.date_range("2020", periods=24, tz="UTC")
        table = pd.DataFrame(np.random.default_rng(0).normal(size=(24, 3)), index=days)
        LMVSC(2, n_repeats=1, scaling="standard", random_state=0).fit(table).save(tmp_path / "m.mv")
        assert load(tmp_path / "m.mv").ids_[0] == str(days[0])

    def test_ids_come_back_as_they_were(self, views, tmp_path):
        tables = [pd.DataFrame(view, index=[*range(89), "last"]) for view in views]
        fit(tables).save(tmp_path / "m.mv")
        assert load(tmp_path / "m.mv").ids_.tolist() == [*range(89), "last"]

    def test_feature_names_come_back(self, views, tmp_path):
        table = pd.DataFrame(views[0], columns=["ä", "b", "c", "d"])
        fit(table).save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert list(again.feature_names_in_) == list(table.columns)
        with pytest.raises(ValueError, match="feature names"):
            again.predict(table.rename(columns={"b": "z"}))

    def test_given_anchors_come_back(self, views, tmp_path):
        model = fit(views, anchor_method=[v[::9] for v in views])
        model.save(tmp_path / "m.mv")
        again = load(tmp_path / "m.mv")
        assert all(map(np.array_equal, again.anchors_, model.anchors_))
        assert np.array_equal(again.fit(views).labels_, model.labels_)

    @pytest.mark.parametrize("convert", [str, os.fspath, lambda path: path])
    def test_paths_of_any_kind(self, fitted, tmp_path, convert):
        fitted.save(convert(tmp_path / "m.mv"))
        assert np.array_equal(load(convert(tmp_path / "m.mv")).labels_, fitted.labels_)

    def test_a_name_without_a_folder(self, fitted, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        fitted.save("m.mv")
        assert load("m.mv").n_views_ == 2

    def test_saving_over_a_model_replaces_it(self, views, saved):
        other = fit(views[0])
        other.save(saved)
        assert load(saved).n_views_ == 1


class TestInside:
    def test_there_are_arrays_and_json_only(self, saved):
        with zipfile.ZipFile(saved) as archive:
            names = archive.namelist()
            arrays = [
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in names
                if name.endswith(".npy")
            ]
            document = json.loads(archive.read("model.json"))
        assert {os.path.splitext(name)[1] for name in names} == {".npy", ".json"}
        assert all(array.dtype.kind in "fiub" for array in arrays)
        assert document["format_version"] == 4
        assert document["manyview_version"] == manyview.__version__

    def test_a_pickled_array_is_not_loaded(self, saved):
        buffer = io.BytesIO()
        np.save(buffer, np.array([{"run": "me"}], dtype=object), allow_pickle=True)
        rewrite(
            saved, lambda name, content: buffer.getvalue() if name == "array_0.npy" else content
        )
        with pytest.raises(ModelFileError, match="not a whole manyview model file"):
            load(saved)

    def test_training_rows_are_not_inside(self, blobs, tmp_path):
        X = blobs(n=3000)
        fit(X, n_anchors=10, n_repeats=1, scaling="standard").save(tmp_path / "m.mv")
        # 3000 labels, confidences and scores (20 bytes) and small arrays; the rows would be 240 kB.
        assert (tmp_path / "m.mv").stat().st_size < 120_000


class TestDamaged:
    @pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
    def test_a_truncated_file(self, saved, share):
        content = saved.read_bytes()
        saved.write_bytes(content[: int(share * len(content))])
        with pytest.raises(ModelFileError, match="not a whole manyview model file"):
            load(saved)

    def test_any_flipped_bit_is_found_or_harmless(self, views, saved):
        """Bits of contents are guarded by checksums; some bits of ZIP headers mean nothing."""
        expected = load(saved).predict(views)
        content = saved.read_bytes()
        rng = np.random.default_rng(0)
        refused = 0
        # Anywhere, and all over the table of contents at the end, where parsers stumble.
        places = [*rng.integers(0, len(content), 50), *range(len(content) - 300, len(content), 2)]
        for place in places:
            damaged = bytearray(content)
            damaged[place] ^= 1 << int(rng.integers(8))
            saved.write_bytes(bytes(damaged))
            try:
                assert np.array_equal(load(saved).predict(views), expected)
            except ModelFileError:
                refused += 1
        assert refused > 40

    @pytest.mark.parametrize(
        "content", [b"", b"not a model", bytes(range(256)) * 100, b"PK\x03\x04" + b"\0" * 50]
    )
    def test_a_file_of_something_else(self, tmp_path, content):
        path = tmp_path / "m.mv"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=r"m\.mv' is not a whole manyview model file"):
            load(path)

    def test_a_foreign_archive(self, tmp_path):
        path = tmp_path / "m.mv"
        np.savez(path.with_suffix(".npz"), a=np.ones(3))
        with pytest.raises(ModelFileError, match="not a whole manyview model file"):
            load(path.with_suffix(".npz"))

    @pytest.mark.parametrize("document", ["{}", "[]", '{"format": "other"}', "3", "null"])
    def test_an_archive_with_a_foreign_document(self, tmp_path, document):
        path = tmp_path / "m.mv"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.json", document)
        with pytest.raises(ModelFileError, match="was not written by manyview"):
            load(path)

    def test_a_document_that_is_no_json(self, saved):
        rewrite(saved, lambda name, content: b"{" if name == "model.json" else content)
        with pytest.raises(ModelFileError, match="not a whole manyview model file"):
            load(saved)

    @pytest.mark.parametrize(
        ("version", "todo"), [(5, "Upgrade manyview"), (3, "Fit the model again")]
    )
    def test_another_format_says_what_to_do(self, saved, version, todo):
        other = {"format_version": version, "manyview_version": "9.1"}
        change_json(saved, lambda document: document.update(other))
        with pytest.raises(ModelFileError, match=rf"written by manyview 9\.1.*{todo}"):
            load(saved)

    @pytest.mark.parametrize("version", [None, "1", [], {}])
    def test_a_format_that_is_no_number(self, saved, version):
        change_json(saved, lambda document: document.update(format_version=version))
        with pytest.raises(ModelFileError):
            load(saved)

    @pytest.mark.parametrize("name", ["array_0.npy", "array_3.npy", "model.json"])
    def test_a_missing_member(self, saved, name):
        rewrite(saved, lambda member, content: None if member == name else content)
        with pytest.raises(ModelFileError, match="not a whole manyview model file"):
            load(saved)

    @pytest.mark.parametrize("part", ["model", "params", "fitted", "format_version"])
    def test_a_missing_part(self, saved, part):
        change_json(saved, lambda document: document.pop(part))
        with pytest.raises(ModelFileError):
            load(saved)

    @pytest.mark.parametrize("part", ["scalers", "graphs", "embedding", "centers"])
    def test_a_missing_part_of_the_model(self, saved, part):
        change_json(saved, lambda document: document["model"].pop(part))
        with pytest.raises(ModelFileError, match="not a whole manyview model file"):
            load(saved)

    @pytest.mark.parametrize("part", ["scalers", "graphs", "embedding"])
    def test_an_empty_part_of_the_model(self, saved, part):
        change_json(saved, lambda document: document["model"].update({part: []}))
        with pytest.raises(ModelFileError):
            load(saved)

    def test_arrays_that_do_not_fit_together(self, saved):
        def swap(document):
            graphs = document["model"]["graphs"]
            graphs[0]["anchors"], graphs[1]["anchors"] = graphs[1]["anchors"], graphs[0]["anchors"]

        change_json(saved, swap)
        with pytest.raises(ModelFileError, match="anchors do not fit the views"):
            load(saved)

    def test_a_parameter_that_this_version_does_not_know(self, saved):
        change_json(saved, lambda document: document["params"].update(colour="red"))
        with pytest.raises(ModelFileError):
            load(saved)


class TestDigest:
    def test_any_other_number_is_found(self, saved):
        with zipfile.ZipFile(saved) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        for name in members:
            with zipfile.ZipFile(saved, "w") as archive:
                for member, content in members.items():
                    is_other = member == name
                    archive.writestr(member, content[:-1] + b"~" if is_other else content)
            with pytest.raises(ModelFileError, match="not a whole manyview model file"):
                load(saved)

    def test_a_model_of_this_format_without_a_digest_is_refused(self, saved):
        with zipfile.ZipFile(saved) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        del members["digest.json"]
        with zipfile.ZipFile(saved, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        with pytest.raises(ModelFileError, match="its digest is another"):
            load(saved)

    def test_packed_members_are_not_unpacked(self, saved):
        with zipfile.ZipFile(saved) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        with pytest.raises(ModelFileError, match="packed"):
            load(saved)

    def test_no_more_is_read_than_there_is(self, saved):
        header = io.BytesIO()
        huge = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
        np.lib.format.write_array_header_1_0(header, huge)
        rewrite(saved, lambda name, c: header.getvalue() if name == "array_0.npy" else c)
        with pytest.raises(ModelFileError, match=r"'array_0\.npy' is no whole array"):
            load(saved)


class TestFiles:
    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"There is no model file .*nowhere\.mv"):
            load(tmp_path / "nowhere.mv")

    def test_a_folder(self, tmp_path):
        with pytest.raises(IsADirectoryError, match=f"{tmp_path.name}' is a folder, .*model.mv"):
            load(tmp_path)

    def test_saving_into_a_folder_that_is_not_there(self, fitted, tmp_path):
        with pytest.raises(FileNotFoundError):
            fitted.save(tmp_path / "nowhere" / "m.mv")

    def test_saving_over_a_folder_leaves_nothing_behind(self, fitted, tmp_path):
        (tmp_path / "m.mv").mkdir()
        with pytest.raises(OSError):
            fitted.save(tmp_path / "m.mv")
        assert [path.name for path in tmp_path.iterdir()] == ["m.mv"]

    def test_a_save_that_fails_leaves_the_old_file_and_no_half_one(
        self, fitted, saved, monkeypatch
    ):
        before = saved.read_bytes()

        def full_disk(self, *args, **kwargs):
            raise OSError("No space left on device")

        monkeypatch.setattr(zipfile.ZipFile, "writestr", full_disk)
        with pytest.raises(OSError, match="No space left"):
            fitted.save(saved)
        assert saved.read_bytes() == before
        assert [path.name for path in saved.parent.iterdir()] == [saved.name]

    @pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
    def test_others_may_read_a_saved_model_as_any_new_file(self, saved, tmp_path):
        ordinary = tmp_path / "ordinary"
        ordinary.touch()
        assert saved.stat().st_mode == ordinary.stat().st_mode
