import numpy as np
import pytest

from manyview.bench.results import Results


def line(method, data, nmi, *, seed=0, settings=None, protocol="label-free", **changes):
    return {
        "method": method, "data": {"name": data, "shuffled": seed}, "seed": seed,
        "settings": settings or {}, "protocol": protocol, "status": "done", "seconds": 2.0,
        "scores": {"nmi": nmi, "accuracy": nmi / 2}, **changes,
    }  # fmt: skip


@pytest.fixture
def results():
    return Results(
        [
            line("A", "one", 0.5),
            line("A", "one", 0.7, seed=1),
            line("B", "one", 0.4),
            line("B", "one", 0.9, settings={"m": 2}, protocol="label-tuned"),
            line("B", "one", 0.2, settings={"m": 3}, protocol="label-tuned"),
            line("A", "two", 0.3),
            line("B", "two", 0, status="stopped", reason="stopped after 5 s"),
        ]
    )


def test_means_are_over_seeds_and_missing_ones_are_nan(results):
    np.testing.assert_allclose(results.means(), [[0.6, 0.4], [0.3, np.nan]])
    np.testing.assert_allclose(results.means("accuracy")[0], [0.3, 0.2])


def test_labels_choose_settings_only_in_their_own_protocol(results):
    assert results.figure("B", "one").mean == 0.4
    tuned = results.figure("B", "one", protocol="label-tuned")
    assert (tuned.mean, tuned.settings) == (0.9, "{'m': 2}")
    assert results.figure("A", "one", protocol="label-tuned").mean == pytest.approx(0.6)


def test_why_there_is_no_result_is_told(results):
    assert results.figure("B", "two").why == "stopped after 5 s"
    assert results.figure("C", "two").why == "not run"


def test_a_selection_has_its_order(results):
    some = results.select(["B", "A"], ["two", "one"], seeds=[0])
    assert (some.methods, some.data) == (["B", "A"], ["two", "one"])
    assert some.figure("A", "one").mean == 0.5


def test_ranking_is_by_the_means(results):
    assert results.ranking().methods == ("A", "B")


def test_unknown_score_or_protocol_is_refused(results):
    with pytest.raises(ValueError, match="score"):
        results.means("nothing")
    with pytest.raises(ValueError, match="protocol"):
        results.means(protocol="nothing")


def test_results_that_are_not_of_one_thing_are_refused():
    settings = Results([line("A", "d", 0.5, settings={"m": m}) for m in (1, 2)])
    with pytest.raises(ValueError, match=r"'A' on 'd' for .*'m': 1.* and for .*'m': 2"):
        settings.figure("A", "d")
    assert settings.figure("A", "d", protocol="label-tuned").settings == "{'m': 1}"
    few = line("A", "d", 0.7, seed=1)
    few["data"]["rows"] = 20
    for protocol in ("label-free", "label-tuned"):
        with pytest.raises(ValueError, match="'rows': 20"):
            Results([line("A", "d", 0.5), few]).figure("A", "d", protocol=protocol)
