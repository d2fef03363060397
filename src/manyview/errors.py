"""Exceptions and warnings that callers may want to tell apart."""

from __future__ import annotations

import sys
import warnings


class ModelFileError(ValueError):
    """A model file is damaged, foreign, or from a newer version of manyview."""


class DatasetNotFoundError(LookupError):
    """A data set is not on this machine and could not be downloaded."""


class RankWarning(UserWarning):
    """The fused graph has fewer useful singular vectors than were asked for."""


class ReadError(OSError):
    """Rows could not be read: a file is missing, cut short, damaged, or changed while it was used."""


class WriteError(OSError):
    """Results could not be written, as a rule because the disk is full."""


class CheckpointError(ValueError):
    """A checkpoint is damaged, in use, or was made with other data, settings or versions."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the first one on the way here outside manyview and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_LIBRARIES = ("manyview", "sklearn")
