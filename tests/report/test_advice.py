"""What a careful colleague would say, and would not."""

import copy

import numpy as np
import pytest

from manyview import LMVSC, Views
from manyview.report import build_summary
from manyview.report.advice import give_advice


@pytest.fixture
def facts(summary):
    return copy.deepcopy(summary)


def titles(facts, level=None):
    return [item["title"] for item in give_advice(facts) if level in (None, item["level"])]


def test_clear_groups_raise_no_warning(facts):
    assert titles(facts, "warning") == []


def test_an_empty_cluster(facts):
    facts["clusters"][2]["size"] = 0
    assert titles(facts, "warning")[0] == "1 of 4 clusters are empty"


def test_one_cluster_with_nearly_all_rows(facts):
    for cluster, share in zip(facts["clusters"], (0.97, 0.01, 0.01, 0.01), strict=True):
        cluster["size"], cluster["share"] = int(240 * share), share
    assert "Cluster 0 holds 97 % of the rows" in titles(facts, "warning")
    assert "Clusters 1, 2 and 3 are tiny" in titles(facts, "warning")


def test_clusters_that_depend_on_the_seed(facts):
    facts["stability"]["ari"] = [0.4, 0.5]
    (warning,) = (item for item in give_advice(facts) if item["level"] == "warning")
    assert warning["title"] == "Other seeds give other clusters (ARI 0.45)"
    assert "n_repeats=2; here 1" in warning["text"]


def test_one_cluster_that_is_not_found_again(facts):
    facts["clusters"][1]["stability"] = 0.3
    assert "Other seeds do not find cluster 1 again" in titles(facts, "note")


@pytest.mark.parametrize(
    ("weights", "level", "text"),
    [("auto", "note", "It has no say here"), ("equal", "warning", "Compare a fit without it")],
)
def test_a_view_of_noise_disagrees_with_all_others(quick_map, weights, level, text):
    rng = np.random.default_rng(0)
    groups = np.arange(300) % 3
    clear = [np.eye(3)[groups] + 0.1 * rng.normal(size=(300, 3)) for _ in range(2)]
    views = Views({"a": clear[0], "b": clear[1], "noise": rng.normal(size=(300, 3))})
    settings = {"view_weights": weights, "scaling": "standard", "n_repeats": 1, "random_state": 0}
    facts = build_summary(LMVSC(3, **settings).fit(views), views)
    title = "View “noise” disagrees with all others"
    (found,) = (item for item in give_advice(facts) if item["title"] == title)
    assert found["level"] == level and text in found["text"]
    assert not any("“a”" in title for title in titles(facts, "warning"))


def test_two_views_with_nothing_in_common(facts):
    matrix = facts["agreement"]["nmi"]
    matrix[0][1] = matrix[1][0] = 0.02
    assert titles(facts, "warning") == ["“colour” and “shape” have little in common"]


def test_a_view_that_could_not_be_clustered_alone(facts):
    facts["views"][0] |= {"problem": "it is empty", "nmi": None}
    assert "View “colour” could not be clustered alone" in titles(facts, "note")


def test_repeated_rows(blobs, quick_map):
    X = np.repeat(blobs(30, 3, (4,))[0], 3, axis=0)
    facts = build_summary(LMVSC(3, n_repeats=1, random_state=0).fit(X), X)
    assert "67 % repeat an earlier row" in titles(facts, "warning")


def test_a_number_of_clusters_at_odds_with_the_gap(blobs, quick_map):
    facts = build_summary(LMVSC(6, n_repeats=1, random_state=0).fit(blobs(300, 4, (8, 8))))
    assert "The spectrum suggests 4 clusters, not 6" in titles(facts)


def test_no_seed(blobs, quick_map):
    X = blobs(90, 3, (4,))[0]
    assert "This fit cannot be repeated exactly" in titles(build_summary(LMVSC(3).fit(X), X))


def test_rows_between_clusters(facts):
    facts["confidence"]["unsure_share"] = 0.4
    assert "40 % of the rows lie between clusters" in titles(facts, "warning")


def test_a_cluster_only_one_view_sees(facts):
    facts["clusters"][3]["only_view"] = "shape"
    facts["clusters"][2]["only_view"] = ""
    assert "Only view “shape” sees cluster 3" in titles(facts)
    assert "No single view sees cluster 2" in titles(facts)


def test_ids_that_occur_twice(facts):
    facts["map"]["id"][0] = facts["map"]["id"][1]
    assert "1 ids occur more than once" in titles(facts)


def test_rows_that_were_not_solved(facts):
    facts["run"]["solver"]["n_failed"] = 12
    assert "12 graph rows were not solved to tolerance" in titles(facts, "warning")


def test_warnings_come_first(facts):
    facts["stability"]["ari"] = [0.4]
    facts["clusters"][1]["stability"] = 0.3
    levels = [item["level"] for item in give_advice(facts)]
    assert levels == sorted(levels, reverse=True)
