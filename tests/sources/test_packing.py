"""Values as arrays and JSON: what comes back is what went in, and nothing foreign goes in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse

from manyview.sources.packing import digest, from_bytes, pack, to_bytes, unpack
from manyview.stages.fusion import Moments
from manyview.stages.graph import GraphTile
from manyview.stages.kmeans import Assignment


def there_and_back(value):
    content = b"".join(bytes(piece) for piece in to_bytes(value))
    return from_bytes(np.frombuffer(content, np.uint8).copy())


@given(npst.arrays(npst.floating_dtypes() | npst.integer_dtypes(), npst.array_shapes(min_side=0)))
def test_arrays(array):
    again = there_and_back([array, 3])[0]
    assert again.dtype == array.dtype
    assert again.flags.aligned
    assert again.flags.writeable
    assert np.array_equal(again, array, equal_nan=True)


names = st.text() | st.sampled_from(["array", "!tuple", "!class", "!number", "!csr", "!objects"])
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


def _collections(item):
    return st.lists(item) | st.tuples(item, item) | st.dictionaries(names, item, max_size=2)


@given(st.recursive(plain, _collections))
def test_numbers_text_lists_tuples_and_dictionaries(value):
    assert there_and_back(value) == value


def test_sums_and_tiles():
    rng = np.random.default_rng(0)
    Z = sparse.random_array((50, 9), density=0.3, rng=rng, format="csr")
    tile = there_and_back(GraphTile((Z,), 2))
    assert isinstance(tile, GraphTile)
    assert np.array_equal(tile.parts[0].toarray(), Z.toarray())
    moments = there_and_back(
        Moments((np.eye(3),), (np.ones(3),), (np.arange(3),), 0, np.array([5]))
    )
    assert np.array_equal((moments + moments).grams[0], 2 * np.eye(3))
    inertia = np.float64(0.1)
    found = there_and_back(Assignment(np.ones((2, 3)), np.arange(2), inertia, 1.5, np.ones(3)))
    assert type(found.inertia) is np.float64
    assert found.inertia == inertia


def test_text_and_numbers_that_are_objects():
    mixed = np.array(["a", 2, None], object)
    again = there_and_back({"ids": mixed})["ids"]
    assert again.dtype == object
    assert again.tolist() == mixed.tolist()
    assert there_and_back(np.array(["ä", "bc"])).tolist() == ["ä", "bc"]


def test_sparse_arrays_of_other_kinds_and_tables_come_back_as_arrays():
    again = there_and_back([sparse.coo_matrix(np.eye(3)), pd.DataFrame({"a": [1.0, 2.0]})])
    assert isinstance(again[0], sparse.csr_array)
    assert np.array_equal(again[0].toarray(), np.eye(3))
    assert np.array_equal(again[1], [[1.0], [2.0]])


@dataclass
class Foreign:
    x: int


@pytest.mark.parametrize("value", [object(), {1, 2}, Foreign(1), np.array([object()])])
def test_what_cannot_be_stored_is_refused(value):
    with pytest.raises(TypeError, match="Cannot store"):
        to_bytes(value)


def test_classes_of_others_are_not_loaded():
    content = b"".join(bytes(piece) for piece in to_bytes(GraphTile((), 0)))
    for other in (b"subprocess_modulename_x:Popen12", b"manyview.pipeline.fit:GraphTile"):
        harmed = content.replace(b"manyview.stages.graph:GraphTile", other)
        assert harmed != content
        with pytest.raises(ValueError, match="not a dataclass of this package"):
            from_bytes(np.frombuffer(harmed, np.uint8))


def test_no_class_is_built_where_none_belongs():
    arrays = {}
    content = pack([GraphTile((), 0)], arrays)
    with pytest.raises(ValueError, match="names a class, where none belongs"):
        unpack(content, arrays)


def test_a_record_cut_short_is_refused():
    content = b"".join(bytes(piece) for piece in to_bytes(np.ones(100)))
    with pytest.raises(ValueError, match="cut short"):
        from_bytes(np.frombuffer(content[:-300], np.uint8))


def test_digests_tell_values_apart():
    values = [
        1,
        1.0,
        "1",
        None,
        (1,),
        np.ones(2),
        np.ones((2, 1)),
        np.ones(2, np.float32),
        np.ones(3),
    ]
    digests = [digest(value) for value in values]
    assert len(set(digests)) == len(digests)
    assert digest((0.5, "late")) == '{"!tuple": [0.5, "late"]}'
    assert digest(np.ones(5)) == digest(np.ones(5))
