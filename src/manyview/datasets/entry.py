"""What is recorded about a data set, and about a place to download it from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """One place to download a data set from.

    Attributes
    ----------
    address : str
        A file, an archive, or (ending in a slash) a folder; or the name of a scikit-learn fetcher.
    sha256 : str or None
        Checksum of the file at that address, or None where the address was never tried.
    members : tuple of str
        Files wanted out of the archive or folder.
    note : str
        How this copy differs from the original, if it does.
    """

    address: str
    sha256: str | None = None
    members: tuple[str, ...] = ()
    note: str = ""

    @property
    def status(self) -> str:
        """``"verified"`` with a checksum, else ``"unverified"``."""
        return "verified" if self.sha256 else "unverified"


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about one data set.

    Attributes
    ----------
    name, title : str
        Its name here, and what it is.
    n_samples, n_clusters : int
        Numbers of samples and of classes.
    view_names : tuple of str
        A name for each view.
    n_features : tuple of int
        Number of columns of each view.
    class_counts : tuple of int or None
        Sizes of the classes in any order, where known.
    is_published : bool
        Whether it is one of the data sets of the LMVSC paper, in the paper's form.
    files : tuple of str
        Original files, or folders of them, that are recognised beside ``NAME.npz``.
    formats : tuple of str
        What these files are.
    homepage, licence, citation : str
        Where to get it, and on which terms.
    sources : tuple of Source
        Where it is downloaded from, first to last.
    other_widths : tuple of tuple of int
        Widths of the same data in other people's files.
    is_multilabel : bool
        Whether samples have several classes in the source; some may then be no sample's target.
    note : str
        How else to get it, or why it cannot be had.
    warning : str
        What a user must know, given as a warning by ``load``.
    """

    name: str
    title: str
    n_samples: int
    n_clusters: int
    view_names: tuple[str, ...]
    n_features: tuple[int, ...]
    class_counts: tuple[int, ...] | None = None
    is_published: bool = False
    files: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("npz",)
    homepage: str = ""
    licence: str = "not stated by the source"
    citation: str = ""
    sources: tuple[Source, ...] = ()
    other_widths: tuple[tuple[int, ...], ...] = ()
    is_multilabel: bool = False
    note: str = ""
    warning: str = ""
