"""Exceptions and warnings that callers may want to tell apart."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file is damaged, foreign, or from a newer version of manyview."""


class DatasetNotFoundError(LookupError):
    """A data set is not on this machine and could not be downloaded."""


class RankWarning(UserWarning):
    """The fused graph has fewer useful singular vectors than were asked for."""
