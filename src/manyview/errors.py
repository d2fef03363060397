"""Exceptions and warnings that callers may want to tell apart."""

from __future__ import annotations


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
