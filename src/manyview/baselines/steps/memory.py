"""How much memory is free, and a refusal before more than that is allocated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from manyview.machine import free_memory
from manyview.wording import bytes_in_words

_assumed: ContextVar[int | None] = ContextVar("assumed free bytes", default=None)


class TooLargeError(MemoryError):
    """A refusal before anything was allocated; ``bytes_needed`` is what the peak would have been."""

    def __init__(self, message: str, bytes_needed: int) -> None:
        super().__init__(message)
        self.bytes_needed = bytes_needed


@contextmanager
def assume_free(n_bytes: int) -> Iterator[None]:
    """While this is entered, so many bytes count as free: with 0, methods say what they need.

    Examples
    --------
    >>> with assume_free(0):
    ...     try:
    ...         refuse_if_too_large(800, what="", instead="", force=False)
    ...     except TooLargeError as refusal:
    ...         print(refusal.bytes_needed)
    800
    """
    before = _assumed.set(n_bytes)
    try:
        yield
    finally:
        _assumed.reset(before)


def free_bytes() -> int | None:
    """Bytes that are free, or count as free now; None where it cannot be told."""
    assumed = _assumed.get()
    return free_memory() if assumed is None else assumed


def refuse_if_too_large(bytes_needed: int, *, what: str, instead: str, force: bool) -> None:
    """Raise TooLargeError if a computation's peak, beyond its input, does not fit.

    ``what`` needs the memory and ``instead`` says what the user can do, both as parts of the
    message; with ``force``, an estimator's parameter, nothing is refused.

    Examples
    --------
    >>> refuse_if_too_large(10**15, what="This method on 10**9 rows",
    ...                     instead="Set n_exemplars=1000.", force=False)
    Traceback (most recent call last):
        ...
    manyview.baselines.steps.memory.TooLargeError: This method on 10**9 rows needs 1000 TB of memory
    and ... are free. Set n_exemplars=1000. With force=True it is tried all the same.
    """
    free = free_bytes()
    if force or free is None or bytes_needed <= free:
        return
    raise TooLargeError(
        f"{what} needs {bytes_in_words(bytes_needed)} of memory and {bytes_in_words(free)} are free. "
        f"{instead} With force=True it is tried all the same.",
        bytes_needed,
    )
