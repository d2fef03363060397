"""Model files that are what someone wrote, but no model: refused before anything is computed."""

import dataclasses

import numpy as np
import pytest

from manyview import load
from manyview.errors import ModelFileError
from manyview.pipeline.model_fields import MODEL
from tests.model_files import change_json, set_array


def spoil(array, value):
    array.flat[0] = value


PLACES = {
    "shift": lambda document: document["model"]["scalers"][0]["shift"],
    "axes": lambda document: document["model"]["scalers"][0]["axes"]["directions"],
    "anchors": lambda document: document["model"]["graphs"][0]["anchors"],
    "transform": lambda document: document["model"]["embedding"]["transforms"]["!tuple"][0],
    "centres": lambda document: document["model"]["centers"],
    "weights": lambda document: document["fitted"]["view_weights_"],
}


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_finite(saved, place, value):
    set_array(saved, PLACES[place], lambda array: spoil(array, value))
    with pytest.raises(ModelFileError, match="finite"):
        load(saved)


def test_a_label_that_there_is_not(saved):
    find = lambda document: document["fitted"]["labels_"]  # noqa: E731
    set_array(saved, find, lambda array: spoil(array, 3))
    with pytest.raises(ModelFileError, match="labels_ are not all from -1 to 2"):
        load(saved)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("graphs", "alpha", -1.0), ("graphs", "views", [7]), ("graphs", "views", []),
        ("graphs", "method", "guess"), ("graphs", "n_neighbors", 0), ("graphs", "repeat", 5),
        ("graphs", "weight", "1"), ("scalers", "kind", "other"), ("scalers", "name", 3),
        ("scalers", "unit", 0), ("scalers", "is_applied", True), ("scalers", "odd", 1),
        ("graphs", "colour", "red"),
    ],
)  # fmt: skip
def test_a_field_that_is_not_what_it_may_be(saved, part, field, value):
    change_json(saved, lambda document: document["model"][part][0].update({field: value}))
    with pytest.raises(ModelFileError):
        load(saved)


@pytest.mark.parametrize("name", ["encodings_", "view_weights_", "cautions_", "leaves_"])
def test_an_attribute_that_every_model_has(saved, name):
    change_json(saved, lambda document: document["fitted"].pop(name))
    with pytest.raises(ModelFileError, match=f"{name} is missing"):
        load(saved)


@pytest.mark.parametrize("name", ["predict", "labels", "_stream", "colour_", "model_"])
def test_no_other_attribute_is_set(saved, name):
    change_json(saved, lambda document: document["fitted"].update({name: 1}))
    with pytest.raises(ModelFileError, match=f"'{name}' is no attribute that is saved"):
        load(saved)


def test_every_field_of_the_records_is_in_the_table():
    for kind, known in MODEL.items():
        assert [field.name for field in dataclasses.fields(kind)] == [*known]
