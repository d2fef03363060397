"""Files of every common format -> plain parts: named rows, their columns, ids and labels.

One format is one file here and one line in :data:`FORMATS`; Python, the command line and the data sets
share them. What can stay on disk does, by :mod:`manyview.sources`. A reader says what it took as rows,
and guesses nothing silently. :mod:`manyview.views.files` joins several files.
"""

from __future__ import annotations

from manyview.readers.contents import Contents, Request, Vocabulary
from manyview.readers.formats import FORMATS, find_format, read_file
from manyview.readers.labels import LabelFile, read_labels
from manyview.readers.specification import parse

__all__ = [
    "FORMATS",
    "Contents",
    "LabelFile",
    "Request",
    "Vocabulary",
    "find_format",
    "parse",
    "read_file",
    "read_labels",
    "read_view",
]


def read_view(text: str, **request: object) -> Contents:
    r"""Everything in one file.

    Parameters
    ----------
    text : str
        ``PATH``, ``NAME=PATH`` or ``PATH::KEY``.
    **request
        Further fields of :class:`Request`: ``id_column``, ``label_column``, ``columns``, ``drop``.

    Returns
    -------
    Contents
        Its views, with ids and labels if it has them, and what was taken as rows, in words.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from manyview.readers import read_view
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "colour.csv"
    >>> _ = path.write_text("id,red,green\na,1,2\nb,3,4\n")
    >>> contents = read_view(str(path), id_column="id")
    >>> contents.ids.tolist(), contents.parts[0].columns
    (['a', 'b'], ('red', 'green'))
    """
    from dataclasses import replace

    return read_file(replace(parse(text), **request))  # type: ignore[arg-type]
