import pytest

from manyview.baselines.steps import memory


@pytest.fixture
def machine(monkeypatch):
    """A made machine with 2 GB free."""
    monkeypatch.setattr(memory, "free_memory", lambda: 2_000_000 * 1024)


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
