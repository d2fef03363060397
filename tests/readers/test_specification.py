"""NAME=PATH::KEY, and file names that look like it."""

import pytest

from manyview.errors import ReadError
from manyview.readers import parse


@pytest.fixture
def here(tmp_path):
    for name in ("plain.npy", "a=b.npy", "odd::name.csv", "x::y=z.h5"):
        (tmp_path / name).touch()
    (tmp_path / "data=2024").mkdir()
    (tmp_path / "data=2024" / "plain.npy").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "name", "path", "key"),
    [
        ("plain.npy", None, "plain.npy", None),
        ("colour=plain.npy", "colour", "plain.npy", None),
        ("plain.npy::X", None, "plain.npy", "X"),
        ("colour=plain.npy::group/X", "colour", "plain.npy", "group/X"),
        ("plain.npy::a::b", None, "plain.npy", "a::b"),
        ("a=b.npy", None, "a=b.npy", None),
        ("colour=a=b.npy", "colour", "a=b.npy", None),
        ("odd::name.csv", None, "odd::name.csv", None),
        ("odd::name.csv::red", None, "odd::name.csv", "red"),
        ("n=x::y=z.h5::k=v", "n", "x::y=z.h5", "k=v"),
        ("data=2024/plain.npy", None, "data=2024/plain.npy", None),
        ("<script>alert(1)<script>=plain.npy", "<script>alert(1)<script>", "plain.npy", None),
    ],
)
def test_names_paths_and_keys(here, text, name, path, key):
    found = parse(text, folder=here)
    assert (found.name, found.path, found.key) == (name, here / path, key)


def test_a_windows_drive_is_no_key(here):
    with pytest.raises(ReadError, match=r"no file C:\\data\\x.npy"):
        parse(r"C:\data\x.npy", folder=here)


@pytest.mark.parametrize("text", ["plane.npy", "colour=plane.npy", "plane.npy::X"])
def test_a_file_that_is_not_there_names_one_that_is(here, text):
    with pytest.raises(ReadError, match=r"There is no file plane\.npy\. Beside it there is plain"):
        parse(text, folder=here)


def test_a_folder_that_is_not_there(here):
    with pytest.raises(ReadError, match="there is no folder"):
        parse("nowhere/plain.npy", folder=here)


@pytest.mark.parametrize("text", ["", " ", "=", "colour=", "colour= "])
def test_nothing_is_no_path(here, text):
    with pytest.raises(ReadError, match=f"'{text}' holds no path. Write PATH, NAME=PATH"):
        parse(text, folder=here)


@pytest.mark.parametrize("text", ["plain.npy::", "colour=plain.npy::"])
def test_a_key_without_a_name_is_refused(here, text):
    with pytest.raises(ReadError, match=r"plain.npy:: ends in '::'.*leave '::' out"):
        parse(text, folder=here)
