"""Text files, packed or not; and libraries that other files need."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from manyview.errors import ParameterError, ReadError
from manyview.sources.room import LimitedStream


def need(library: str, path: Path, kind: str, *, extra: str = "io") -> Any:
    """A library that reading a file of some kind needs, imported; or what to install."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(
            f"{path.name} is {kind}; reading it needs {library}: pip install 'manyview[{extra}]'"
        ) from error


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading; one that ends in .gz or .bz2 is unpacked on the way, up to a limit."""
    if path.suffix not in (".gz", ".bz2"):
        return path.open("rb")
    stream: Any = gzip.GzipFile(path) if path.suffix == ".gz" else bz2.BZ2File(path)
    return io.BufferedReader(LimitedStream(stream, path), 1 << 20)


@contextmanager
def packing_errors(path: Path) -> Iterator[None]:
    """Turn what a damaged gzip or bzip2 file raises into one clear error."""
    try:
        yield
    except ReadError:  # an OSError too, but it says itself what is wrong
        raise
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"{path} is cut short or is not a {path.suffix} file ({error}).") from error
    except OSError as error:
        if path.suffix != ".bz2" or error.errno is not None:
            raise
        raise ReadError(f"{path} is not a .bz2 file ({error}).") from error


@contextmanager
def damage(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a damaged file makes a library raise into one error that names the file.

    What says itself what is wrong is left as it is: errors of ours, and what is not installed.
    """
    try:
        yield
    except ReadError as error:
        if path.name in str(error):
            raise
        raise ReadError(f"{path}: {error}") from error
    except (ParameterError, ImportError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{path} holds text that is not UTF-8 ({error}). Save it again as UTF-8."
        ) from error
    except OSError as error:
        if error.errno is not None and not path.exists():
            raise
        reason = error.strerror or str(error) or type(error).__name__
        raise ReadError(f"Could not read {path}: {reason}. Check that it is whole.") from error
    except Exception as error:  # every library has its own
        name, reason = type(error).__name__, str(error).rstrip(".")
        raise ReadError(
            f"{path} is damaged, cut short or no {kind} file ({name}: {reason}). Copy it again, or "
            "write it again with the program that made it."
        ) from error


def is_number(text: str) -> bool:
    """Whether some text is a number; codes such as 12_34 are none, though Python would take them."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
