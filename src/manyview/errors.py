"""Exceptions and warnings that callers may want to tell apart."""

from __future__ import annotations

import sys
import warnings


class RemediableError(Exception):
    """An error that another value of a parameter mends.

    The message is the problem and its remedy in Python. Programs that have other names for
    parameters, as the command line has, say ``problem`` and a remedy of their own.

    Parameters
    ----------
    problem : str
        What was wrong, and what was found.
    remedy : str
        What to do about it in Python.
    parameter : str
        The parameter that the remedy speaks of.

    Examples
    --------
    >>> error = WriteError("The disk is full.", remedy="Set folder=...", parameter="folder")
    >>> str(error), error.parameter
    ('The disk is full. Set folder=...', 'folder')
    """

    def __init__(self, problem: str, *, remedy: str = "", parameter: str = "") -> None:
        super().__init__(f"{problem} {remedy}".strip())
        self.problem, self.parameter = problem, parameter


class ModelFileError(ValueError):
    """A model file is damaged, foreign, or from a newer version of manyview."""


class DatasetNotFoundError(LookupError):
    """A data set is not on this machine and could not be downloaded."""


class RankWarning(UserWarning):
    """The fused graph has fewer useful singular vectors than were asked for."""


class ReadError(OSError):
    """Rows could not be read: a file is missing, cut short, damaged, or changed while it was used."""


class WriteError(RemediableError, OSError):
    """Results could not be written, as a rule because the disk is full."""


class MemoryLimitError(RemediableError, ValueError):
    """Blocks of rows do not fit into the memory that they may take."""


class CheckpointError(ValueError):
    """A checkpoint is damaged, in use, or was made with other data, settings or versions."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the first one on the way here outside manyview and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_LIBRARIES = ("manyview", "sklearn", "joblib")
