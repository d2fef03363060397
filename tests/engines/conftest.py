"""What tests of engines share: a disk that is full."""

from contextlib import contextmanager

import pytest


@pytest.fixture
def small_files():
    """A function: while its context is entered, files may not grow beyond some bytes.

    Writes fail then as on a full disk. Python ignores the signal that would come with it.
    """
    resource = pytest.importorskip("resource", reason="needs a limit on file sizes")

    @contextmanager
    def limit(n_bytes):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit
