import pytest

from manyview.baselines import memory


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A made machine with 2 GB free; its control group's files can be written."""
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 8000000 kB\nMemAvailable: 2000000 kB\n")
    return tmp_path


def test_free_memory_is_what_the_system_says(machine):
    assert memory.free_bytes() == 2_000_000 * 1024


def test_free_memory_is_what_is_left_of_a_lower_limit(machine):
    (machine / "memory.max").write_text("1000000\n")
    (machine / "memory.current").write_text("700000\n")
    (machine / "memory.stat").write_text("anon 1\ninactive_file 200000\n")
    assert memory.free_bytes() == 500_000


def test_no_limit_is_no_limit(machine):
    (machine / "memory.max").write_text("max\n")
    assert memory.free_bytes() == 2_000_000 * 1024


def test_physical_memory_stands_in_where_the_system_says_nothing(machine):
    (machine / "meminfo").unlink()
    free = memory.free_bytes()
    assert free is None or free > 0


def test_refusal_gives_bytes_needed_bytes_free_and_the_way_out(machine):
    with pytest.raises(
        MemoryError,
        match=r"^This needs 3 000 000 000 bytes \(3 GB\) of memory and 2 048 000 000 bytes "
        r"\(2\.05 GB\) are free\. Buy more\. With force=True",
    ):
        memory.refuse_if_too_large(3 * 10**9, what="This", instead="Buy more.", force=False)


def test_what_fits_and_what_is_forced_goes_ahead(machine):
    assert memory.refuse_if_too_large(10**9, what="", instead="", force=False) is None
    assert memory.refuse_if_too_large(10**19, what="", instead="", force=True) is None


def test_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert memory.refuse_if_too_large(10**19, what="", instead="", force=False) is None


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 bytes"), (999_600, "999 600 bytes (1 MB)"), (10**21, None)],
)
def test_bytes_are_given_exactly_and_rounded(count, text):
    assert memory.format_bytes(count) == (
        text or "1 " + " ".join(["000"] * 7) + " bytes (1e+03 EB)"
    )
