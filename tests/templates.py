"""What the documentation gives to start from; contract suites run over it as over the library's own."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "docs" / "templates" / "src"))

from manyview_template import command, reader
from manyview_template.baseline import FarthestFirst
from manyview_template.engine import OneByOne

__all__ = ["FOLDER", "FarthestFirst", "OneByOne", "command", "reader"]

FOLDER = Path(__file__).parents[1] / "docs" / "templates"
