"""Exceptions and warnings that callers may want to tell apart."""

from __future__ import annotations

import sys

_NOT_THE_USERS = ("manyview", "sklearn")


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


def find_stacklevel() -> int:
    """The ``stacklevel`` with which a warning points at the user's own line, not into a library.

    To be called where the warning is given. Scikit-learn's frames, such as those of a pipeline, are
    passed over like ours.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_globals.get("__name__", "").split(".")[0] in _NOT_THE_USERS:
        if frame.f_back is None:
            break
        frame, level = frame.f_back, level + 1
    return level
