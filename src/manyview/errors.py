"""Exceptions and warnings that callers may want to tell apart."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class ParameterError(ValueError):
    """A value that a parameter cannot have.

    Programs that have other names for parameters, as the command line has, say theirs and ``problem``.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    problem : str
        What follows the name in a sentence: what it must be, and what was found.

    Examples
    --------
    >>> error = ParameterError("n_init", "must be at least 1; got 0.")
    >>> str(error), error.parameter
    ('n_init must be at least 1; got 0.', 'n_init')
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(parameter, problem)
        self.parameter, self.problem = parameter, problem

    def __str__(self) -> str:
        return f"{self.parameter} {self.problem}"


class ParameterTypeError(ParameterError, TypeError):
    """A value of a type that a parameter cannot have."""


class RemediableError(Exception):
    """An error with a remedy that is one thing in Python, and another for other programs.

    The message is the problem and its remedy in Python; see :meth:`tell` for other programs.

    Parameters
    ----------
    problem : str
        What was wrong, and what was found.
    remedy : str
        What to do about it in Python.
    parameter : str
        The parameter that the remedy speaks of, or another word for what is wrong.
    named : sequence of str
        Parameters that are part of the problem.

    Examples
    --------
    >>> error = WriteError("The disk is full.", remedy="Set folder=...", parameter="folder")
    >>> str(error), error.parameter
    ('The disk is full. Set folder=...', 'folder')
    """

    def __init__(
        self, problem: str, *, remedy: str = "", parameter: str = "", named: Sequence[str] = ()
    ) -> None:
        self.problem, self.parameter, self.named = problem, parameter, tuple(named)
        super().__init__(self.tell(remedy, named))

    def tell(self, remedy: str, names: Sequence[str]) -> str:
        """The problem with a remedy, and with these names of the parameters that are part of it."""
        listed = f"{self.problem.removesuffix('.')} ({', '.join(names)})."
        return f"{listed if names else self.problem} {remedy}".rstrip()


class InputError(RemediableError, ValueError):
    """Data that cannot be used as it is."""


class ModelFileError(ValueError):
    """A model file is damaged, foreign, or from a newer version of manyview."""


class DatasetNotFoundError(RemediableError, LookupError):
    """A data set is not on this machine and could not be downloaded."""


class RankWarning(UserWarning):
    """The fused graph has fewer useful singular vectors than were asked for."""


class SlowSourceWarning(UserWarning):
    """A store is laid out so that reading it takes far longer than it need."""


class CautionWarning(UserWarning):
    """Something to be wary of in a clustering; all of it is in ``cautions_``."""


class ReadError(OSError):
    """Rows could not be read: a file is missing, cut short, damaged, or changed while it was used."""


class WriteError(RemediableError, OSError):
    """Results could not be written, as a rule because the disk is full."""


class InUseError(OSError):
    """Another process has locked a file: its number, and for how many seconds, if it tells."""

    def __init__(self, path: object, process: int | None, seconds: float | None) -> None:
        super().__init__(f"{path} is locked by process {process}")
        self.process, self.seconds = process, seconds


class MemoryLimitError(RemediableError, ValueError):
    """Blocks of rows do not fit into the memory that they may take."""


class CheckpointError(RemediableError, ValueError):
    """A checkpoint is damaged, in use, or was made with other data, settings or versions."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the first one on the way here outside manyview and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_LIBRARIES = ("manyview", "sklearn", "joblib")

_silence, _silence_lock, _n_silent = warnings.catch_warnings(), threading.Lock(), 0


@contextmanager
def silenced(category: type[Warning]) -> Iterator[None]:
    """While this is entered, warnings of a category are not shown.

    Filters are those of the whole process. So the first thread to enter keeps them and the last to leave
    puts them back: if each did so by itself, one could bring another's filter back for good.
    """
    global _silence, _n_silent
    with _silence_lock:
        if _n_silent == 0:
            _silence = warnings.catch_warnings()
            _silence.__enter__()
        _n_silent += 1
        warnings.simplefilter("ignore", category)
    try:
        yield
    finally:
        with _silence_lock:
            _n_silent -= 1
            if _n_silent == 0:
                _silence.__exit__(None, None, None)
