"""Files of every common format -> named views, ids and labels.

``read_views`` takes what a user would write on the command line, and joins rows by their ids where
files are in different order. One format is one file here with two functions, ``read`` and
``vectors``, and one line in :data:`FORMATS`. A reader says what it took as rows, and guesses nothing
silently.
"""

from __future__ import annotations

from manyview.readers.assemble import Assembled, assemble, read_views
from manyview.readers.contents import Contents, ReadView, Request
from manyview.readers.formats import FORMATS, find_format, read_file, refuse_columns
from manyview.readers.labels import LabelFile, read_labels
from manyview.readers.specification import Specification, parse

__all__ = [
    "FORMATS",
    "Assembled",
    "Contents",
    "LabelFile",
    "ReadView",
    "Request",
    "Specification",
    "assemble",
    "find_format",
    "parse",
    "read_file",
    "read_labels",
    "read_view",
    "read_views",
]


def read_view(text: str, **request: object) -> Contents:
    r"""Read one file.

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
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "colour.csv"
    >>> _ = path.write_text("id,red,green\na,1,2\nb,3,4\n")
    >>> contents = read_view(str(path), id_column="id")
    >>> contents.ids.tolist(), contents.views[0].columns
    (['a', 'b'], ('red', 'green'))
    """
    found = parse(text)
    if request.get("columns"):
        refuse_columns(found.path)
    contents = read_file(Request(found.path, found.key, **request))  # type: ignore[arg-type]
    return contents if found.name is None else contents.under(found.name)
