"""Files tried in another process: what is said of one that this process would not survive."""

import numpy as np
import pytest
from scipy.io import savemat

from manyview.errors import ReadError
from manyview.readers import read_view, trials
from manyview.readers.trials import try_elsewhere


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.file"
    path.write_text("a")
    return path


def test_a_parser_that_dies_is_an_error_here(path):
    with pytest.raises(ReadError, match=r"a\.file is damaged: .* did not survive it \(signal 6\)"):
        try_elsewhere(path, "import os; os.abort()")


def test_an_end_that_is_no_signal_is_an_error_too(path):
    with pytest.raises(ReadError, match="ended with code 5"):  # as crashes are told on Windows
        try_elsewhere(path, "import os; os._exit(5)")


def test_an_error_is_told(path):
    assert try_elsewhere(path, "1 / 0") == "ZeroDivisionError: division by zero"
    assert try_elsewhere(path, "1 / 1") == ""


def test_a_matlab_file_that_was_refused_elsewhere_is_not_read_here(tmp_path, monkeypatch):
    # Its parser may read beyond its memory: an error there, a crash here.
    savemat(tmp_path / "a.mat", {"X": np.eye(3)})
    monkeypatch.setattr("scipy.io.loadmat", None)
    monkeypatch.setattr("manyview.readers.matlab._LOAD", "raise ValueError('Type 2064')")
    with pytest.raises(ReadError, match=r"no MATLAB file \(ValueError: Type 2064\)"):
        read_view(str(tmp_path / "a.mat"))


def test_packages_are_found_where_this_process_finds_them(path, tmp_path, monkeypatch):
    (tmp_path / "installed_elsewhere.py").write_text("import os; os.abort()")
    monkeypatch.syspath_prepend(tmp_path)  # as folders are that pip install --user fills
    with pytest.raises(ReadError, match="did not survive"):
        try_elsewhere(path, "import installed_elsewhere")


@pytest.mark.parametrize(
    ("has_limits", "code"), [(True, "while True: pass"), (False, "import time; time.sleep(99)")]
)
def test_what_does_not_end_is_ended_on_every_system(path, monkeypatch, has_limits, code):
    monkeypatch.setattr(trials, "_SECONDS", 1)
    monkeypatch.setattr(trials, "_TIMES_SLOWER", 1)
    monkeypatch.setattr(trials, "_HAS_LIMITS", has_limits)
    with pytest.raises(ReadError, match="did not come to an end within 1 s"):
        try_elsewhere(path, code)


def test_a_large_file_may_take_longer(path, monkeypatch):
    monkeypatch.setattr(trials, "_SECONDS", 1)
    monkeypatch.setattr(trials, "_BYTES_PER_SECOND", 1)
    path.write_text("a" * 98)
    seconds = "sys.exit(resource.getrlimit(resource.RLIMIT_CPU)[0])"
    with pytest.raises(ReadError, match="ended with code 99"):
        try_elsewhere(path, f"import sys, resource; {seconds}")
