"""The experiments of the LMVSC paper, run again: every table and figure, from code anyone can run.

``run`` computes what is missing and keeps one line for each fit; ``write_pages`` turns the lines into
one HTML page, the same as Markdown, and findings that are worked out from them. A line says what was
fitted with which settings and seed, by which code on which machine, so every figure on the page can
be traced.
"""
