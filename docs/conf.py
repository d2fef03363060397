"""How Sphinx builds the documentation; nothing is fetched from the network."""

import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

import manyview

sys.path.insert(0, str(Path(__file__).parent))

import messages

messages.write_page(Path(__file__).parent / "reference" / "messages.rst")

project = "manyview"
author = "The manyview developers"
copyright = f"2026, {author}"
release = version = manyview.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say it in words
autodoc_preserve_defaults = True  # a name or a lambda as it is written, not what it evaluates to
smartquotes = False  # quotes and dashes can be pasted into Python and the shell
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # the page says whose they are, and the column is narrow
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "manyview"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_static_path = ["_static"]
html_css_files = ["manyview.css"]
html_show_sourcelink = False
html_sidebars = {
    "index": [],
    "install": [],
    "tutorial": [],
    "explanation/design": [],
    "explanation/scaling": [],
}
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def escape_shapes(app, what, name, obj, options, lines):
    """Keep ``(n_iter_,)`` a shape: in reStructuredText, a name with an underscore is a reference."""
    for i, line in enumerate(lines):
        if "shape (" in line:
            lines[i] = re.sub(r"(?<=[(, ])(\w+)_(?=[,) ])", r"\1\\_", line)


def leave_out_requests(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds for metadata routing: its text links into its own pages."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def simplify_signature(app, what, name, obj, options, signature, returns):
    """Leave out arguments of what nobody calls, and defaults that only Python can read."""
    if signature is None:
        return None
    if what == "exception" or getattr(obj, "_is_protocol", False):
        return "", returns
    return re.sub(r"<factory>|<function .*?>+", "...", signature), returns


_MATHML = {
    # Bars are not known as pairs: one would grow as tall as the line, or stand apart like a sign.
    r"<mo[^>]*>([|‖])</mo>": r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>',
    # An index belongs to a letter with a hat, not below both.
    r"<munderover>\s*(<mi>.*?</mi>)\s*(<m([in])>.*?</m\3>)\s*(<mo[^>]*>ˆ</mo>)\s*</munderover>": (
        r"<msub><mover>\1\4</mover>\2</msub>"
    ),
}
"""What latex2mathml writes, and what browsers show well."""


def write_mathml(translator, node):
    """Write formulas as MathML, which browsers show without a script from the network."""
    is_block = isinstance(node, nodes.math_block)
    formula = re.sub(r"\\[bB]igg?[lrm]?(?![a-zA-Z])", "", node.astext())  # sizes are automatic
    try:
        written = latex2mathml.tex2mathml(formula, as_block=is_block)
        for wanted, form in _MATHML.items():
            written = re.sub(wanted, form, written)
        translator.body.append(written)
    except MathError as error:
        logging.getLogger(__name__).warning("formula: %s", error, location=node)
    raise nodes.SkipNode


def setup(app):
    # After numpydoc, which makes field lists of docstrings.
    app.connect("autodoc-process-docstring", escape_shapes, priority=900)
    app.connect("autodoc-skip-member", leave_out_requests)
    app.connect("autodoc-process-signature", simplify_signature)
    app.add_html_math_renderer("mathml", (write_mathml, None), (write_mathml, None))
