"""A refusal before more memory is allocated than is free."""

from __future__ import annotations

from manyview.machine import free_memory
from manyview.wording import bytes_in_words


def refuse_if_too_large(bytes_needed: int, *, what: str, instead: str, force: bool) -> None:
    """Raise MemoryError if a computation's peak, beyond its input, does not fit.

    ``what`` needs the memory and ``instead`` says what the user can do, both as parts of the
    message; with ``force``, an estimator's parameter, nothing is refused.

    Examples
    --------
    >>> refuse_if_too_large(10**15, what="This method on 10**9 rows",
    ...                     instead="Set n_exemplars=1000.", force=False)
    Traceback (most recent call last):
        ...
    MemoryError: This method on 10**9 rows needs 1000 TB of memory and ... are free. Set
    n_exemplars=1000. With force=True it is tried all the same.
    """
    free = free_memory()
    if not force and free is not None and bytes_needed > free:
        raise MemoryError(
            f"{what} needs {bytes_in_words(bytes_needed)} of memory and {bytes_in_words(free)} are "
            f"free. {instead} With force=True it is tried all the same."
        )
