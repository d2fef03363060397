import pytest

from manyview.baselines.steps import memory


@pytest.fixture
def machine(monkeypatch):
    """A made machine with 2 GB free."""
    monkeypatch.setattr(memory, "free_memory", lambda: 2_000_000 * 1024)


def test_refusal_gives_bytes_needed_bytes_free_and_the_way_out(machine):
    with pytest.raises(
        MemoryError,
        match=r"^This needs 3\.0 GB of memory and 2\.1 GB are free\. Buy more\. With force=True",
    ):
        memory.refuse_if_too_large(3 * 10**9, what="This", instead="Buy more.", force=False)


def test_what_fits_and_what_is_forced_goes_ahead(machine):
    assert memory.refuse_if_too_large(10**9, what="", instead="", force=False) is None
    assert memory.refuse_if_too_large(10**19, what="", instead="", force=True) is None


def test_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert memory.refuse_if_too_large(10**19, what="", instead="", force=False) is None
