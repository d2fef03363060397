"""Links of a built site that lead nowhere.

``python docs/links.py FOLDER`` reads every page below FOLDER, and fails if a link or a picture of the
site's own is missing, or a place within a page. Addresses elsewhere are not opened.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

_LINK = re.compile(r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="([^"]+)"')
_PLACE = re.compile(r'\b(?:id|name)="([^"]+)"')


@cache
def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def find_places(page: Path) -> frozenset[str]:
    return frozenset(_PLACE.findall(read(page)))


def find_broken(site: Path) -> list[str]:
    """Every link that leads nowhere, with the page it is on."""
    broken = []
    for page in sorted(site.rglob("*.html")):
        if "_static" in page.parts:  # templates of the theme
            continue
        for link in sorted(set(_LINK.findall(read(page)))):
            path, _, place = unquote(link).partition("#")
            if re.match(r"[a-z]+:|//", link):
                continue
            target = (page.parent / path.partition("?")[0]).resolve() if path else page
            is_page = target.suffix == ".html" and target.is_file()
            if not target.exists() or (is_page and place and place not in find_places(target)):
                broken.append(f"{page.relative_to(site)}: {link}")
    return broken


if __name__ == "__main__":
    if found := find_broken(Path(sys.argv[1])):
        sys.exit("links that lead nowhere:\n" + "\n".join(found))
