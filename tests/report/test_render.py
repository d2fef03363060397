"""The page: whole, self-contained, escaped, the same every time."""

import base64
import copy
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from manyview import LMVSC, Views
from manyview.report import build_summary, render_report, write_report
from manyview.wording import visible

EVIL = "<script>alert(1)</script>"
TRICKY = ["</script><img src=x onerror=alert(1)>", "a\u2028b", "\"'&<!--", "]]>", "{{ 7 * 7 }}"]


class Page(HTMLParser):
    """Elements and text of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.parts, self.scripts, self._inside = [], [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        else:
            self.parts.append(data)

    @property
    def text(self):
        return "".join(self.parts)


@pytest.fixture(scope="module")
def evil(blobs):
    """Give the page of a report in which every name is an attack."""
    import pandas as pd

    X = blobs(120, 3, (4, 5))
    table = pd.DataFrame(X[1], columns=[EVIL, *TRICKY[:4]])
    views = Views({EVIL: X[0], TRICKY[0]: table})
    ids = [f"{EVIL}{i}" if i % 2 else f"{TRICKY[i % 5]}{i}" for i in range(120)]
    labels = [(EVIL, *TRICKY[:2])[i % 3] for i in range(120)]
    model = LMVSC(3, n_repeats=1, random_state=0).fit(views)
    return build_summary(model, views, ids=ids, labels=labels, command=f"manyview fit {EVIL}")


@pytest.mark.parametrize("static", [False, True])
def test_names_of_the_user_are_text_never_markup(evil, static):
    page = Page(render_report(evil, static=static))
    assert page.tags.count("script") == (0 if static else 2)
    assert "img" not in page.tags
    assert EVIL in page.text and TRICKY[0] in page.text
    assert not [a for a in page.attributes if a[1].startswith("on")]


def test_data_in_the_page_is_what_was_put_in(evil):
    page = Page(render_report(evil))
    attributes, text = page.scripts[0]
    assert attributes == {"type": "application/json", "id": "map-data"}
    assert not set("<>&\u2028") & set(text)
    data = json.loads(text)
    assert data["id"] == [*map(visible, evil["map"]["id"])]  # what turns text around is a code
    x = np.frombuffer(base64.b64decode(data["x"]), "<u2")
    np.testing.assert_array_equal(x, evil["map"]["x"])
    codes = np.frombuffer(base64.b64decode(data["colours"][2]["codes"]), "<i2")
    np.testing.assert_array_equal(codes, evil["map"]["colours"][0]["codes"])


@pytest.mark.parametrize("static", [False, True])
def test_the_page_asks_for_nothing_from_elsewhere(summary, static):
    text = render_report(summary, static=static)
    page = Page(text)
    linked = [value for _, name, value in page.attributes if name in ("href", "src", "action")]
    assert all(value.startswith("#") for value in linked)
    assert not re.search(r"url\(|@import|https?://", text)
    assert not [a for a in page.attributes if a[1] == "style"]


@pytest.mark.parametrize("static", [False, True])
def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(summary, static):
    text = render_report(summary, static=static)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy
    blocks = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    blocks += re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(b.encode()).digest()).decode() for b in blocks]
    assert sorted(re.findall(r"sha256-([^']+)", policy)) == sorted(digests)


def test_the_static_page_has_no_script_but_the_map(summary):
    text = render_report(summary, static=True)
    assert "<script" not in text and "<canvas" not in text and "<button" not in text
    assert 'class="figure map"' in text


def test_every_part_of_the_page_is_there(summary):
    page = Page(render_report(summary))
    ids = {value for _, name, value in page.attributes if name == "id"}
    assert {"answer", "map", "clusters", "views", "spectrum", "labels", "run"} <= ids
    for _, name, value in page.attributes:
        if name == "href":
            assert value[1:] in ids


def test_every_figure_has_a_name_and_no_id_is_used_twice(summary):
    page = Page(render_report(summary))
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert page.tags.count("svg") == len(
        re.findall(
            r'<svg [^>]*(?:role="img"[^>]*aria-label|aria-hidden="true")', render_report(summary)
        )
    )


def test_facts_read_from_json_give_the_same_page(summary):
    assert render_report(json.loads(json.dumps(summary))) == render_report(summary)


def test_a_report_without_views_or_embedding_is_a_page(fitted, tmp_path):
    from manyview import load

    _, _, model = fitted
    model.save(tmp_path / "model.mv")
    page = Page(render_report(build_summary(load(tmp_path / "model.mv"))))
    assert "canvas" not in page.tags
    assert "4 clusters in 240 rows" in page.text


def test_a_report_without_views_shows_the_map_and_no_columns(fitted, quick_map):
    page = Page(render_report(build_summary(fitted[2])))
    assert "canvas" in page.tags
    assert "What sets it apart" not in page.text


def test_choices_are_shown_with_their_reason(fitted, summary):
    facts = copy.deepcopy(summary)
    facts["run"]["choices"] = [{"parameter": "alpha", "value": 0.01, "why": "it <works>"}]
    page = Page(render_report(facts))
    assert "it <works>" in page.text and "Chosen automatically" in page.text


def test_memory_of_stages_is_shown_where_it_was_measured(summary):
    facts = copy.deepcopy(summary)
    facts["run"]["stage_seconds"] = {"graph": 1.0, "labels": 2.0}
    facts["run"]["stage_memory"] = {"graph": 3_000_000}
    assert "Time and memory" in Page(render_report(facts)).text
    assert "3.0 MB" in Page(render_report(facts)).text
    facts["run"]["stage_memory"] = {}
    text = Page(render_report(facts)).text
    assert "Time and memory" not in text and "Seconds of each stage of the fit" in text


def test_memory_that_no_one_knows_is_left_out(summary):
    assert "Most memory held" in Page(render_report(summary)).text
    facts = {**summary, "made": {**summary["made"], "peak_memory": None}}
    assert "Most memory held" not in Page(render_report(facts)).text


def test_nothing_is_proved_from_no_rows(summary):
    assert "Proof of the graph" in render_report(summary)
    facts = copy.deepcopy(summary)
    facts["run"]["certificate"] = {"n_rows": 0, "worst": 0.0}
    assert "Proof of the graph" not in render_report(facts)


def test_an_existing_file_is_kept_unless_forced(summary, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="force=True"):
        write_report(summary, path)
    assert path.read_text() == "mine"
    assert write_report(summary, path, force=True) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(summary, tmp_path):
    with pytest.raises(FileNotFoundError):
        write_report(summary, tmp_path / "none" / "report.html")


def test_a_hundred_thousand_points_stay_under_twelve_megabytes(summary):
    facts = copy.deepcopy(summary)
    n, points = 100_000, facts["map"]
    for name in ("x", "y", "cluster", "second", "confidence", "id"):
        points[name] = (points[name] * (n // 240 + 1))[:n]
    points["row"] = list(range(n))
    points["id"] = [f"a rather long name of a cell {i:08d}" for i in range(n)]
    for colour in points["colours"]:
        colour["codes"] = (colour["codes"] * (n // 240 + 1))[:n]
    assert len(render_report(facts).encode()) < 12e6


def test_views_that_samples_lack_show_their_share(blobs, quick_map):
    X = blobs(120, 3, (4, 5))
    present = np.ones((120, 2), bool)
    present[:30, 1] = False
    views = Views({"a": X[0], "b": X[1]}, present=present)
    model = LMVSC(3, n_repeats=1, random_state=0).fit(views)
    page = Page(render_report(build_summary(model, views)))
    assert "without it" in page.text
    assert "25 %" in page.text

    whole = LMVSC(3, n_repeats=1, random_state=0).fit(X)
    assert "without it" not in Page(render_report(build_summary(whole, Views(X)))).text
