"""Reports opened from disk in a real browser."""

from __future__ import annotations

import base64
import os
import shutil
from functools import cache

import numpy as np
import pytest

from manyview import LMVSC, Views, datasets

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    """Give the system's Chromium; skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("MANYVIEW_CHROMIUM") or next(
        filter(None, map(shutil.which, _NAMES)), None
    )
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as engine:
        # No graphics card is needed: WebGL is computed.
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
        opened = engine.chromium.launch(executable_path=path, args=flags)
        yield opened
        opened.close()


class Reader:
    """One reader of one page: opens it, and remembers what went wrong or was asked for."""

    def __init__(self, context, path):
        self.complaints, self.requests = [], []
        self.page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def _hear(self, message):
        # Reading pixels back stalls a computed WebGL; that is the test's doing, not the page's.
        if message.type in ("error", "warning") and "ReadPixels" not in message.text:
            self.complaints.append(message.text)

    def wait_for_map(self):
        self.page.wait_for_selector("#stage[data-ready]", timeout=60_000)
        return self.page

    def pixels(self):
        """Give the colours on the canvas, as an array (height, width, 4)."""
        values, width, height = self.page.evaluate(
            """() => {
                const canvas = document.getElementById("canvas");
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
                copy.drawImage(canvas, 0, 0);
                const image = copy.getImageData(0, 0, canvas.width, canvas.height);
                let text = "";
                for (const value of image.data) text += String.fromCharCode(value);
                return [btoa(text), canvas.width, canvas.height];
            }"""
        )
        return np.frombuffer(base64.b64decode(values), np.uint8).reshape(height, width, 4)


@pytest.fixture
def read(browser):
    """Give a function that opens a page for a reader with a taste and a screen."""
    contexts = []

    def open_page(path, *, width=1280, height=900, **taste):
        context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **taste
        )
        contexts.append(context)
        return Reader(context, path)

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory, data):
    """Give a function: a name -> the file of its report, the model and the views; each made once."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def make(name):
        ids = None
        if name == "digits":
            views, k = datasets.digits_views(), 10
            ids = [f'=cmd|"{i}"' if i % 7 == 0 else f"image {i}" for i in range(1797)]
        elif name == "made":
            views, k = datasets.make_views(100_000, 8, (10, 20, 30), random_state=0), 8
        elif name == "evil":
            some = datasets.make_views(150, 3, (4, 5), random_state=0)
            name_of_view = "<script>alert(1)</script>"
            views, k = Views({name_of_view: some.arrays[0], "</script>": some.arrays[1]}), 3
            ids = [f"<img src=x onerror=alert({i})>" for i in range(150)]
        else:
            views = data(name)
            k = len(np.unique(views.target))
        anchors = 50 if name == "made" else "auto"
        model = LMVSC(k, n_anchors=anchors, random_state=0).fit(views)
        path = model.report(folder / f"{name}.html", views, ids=ids)
        if name == "evil":
            model.report(folder / "evil-static.html", views, ids=ids, static=True)
        return path, model, views

    return make
