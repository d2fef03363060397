"""Plots: which of scanpy's is drawn, coloured by what; scanpy itself need not be there."""

import sys
from types import SimpleNamespace

import pytest

from manyview.sc import pl


@pytest.fixture
def drawn(monkeypatch):
    """What scanpy was asked for."""
    calls = []

    def umap(data):
        data.obsm["X_umap"] = "made"
        calls.append("umap")

    fake = SimpleNamespace(
        tl=SimpleNamespace(umap=umap),
        pl=SimpleNamespace(embedding=lambda data, **options: calls.append(options)),
    )
    monkeypatch.setitem(sys.modules, "scanpy", fake)
    return calls


def cells(**obsm):
    obs = ["manyview", "manyview_say_rna", "manyview_say_prot", "k_confidence", "k_outlier_score"]
    return SimpleNamespace(obsm=obsm, obs=obs, uns={"neighbors": {}})


def test_the_map_is_made_where_it_is_not_there(drawn):
    pl.umap(cells(), show=False)
    assert drawn == ["umap", {"basis": "umap", "color": ["manyview"], "show": False}]


def test_a_map_that_is_there_is_kept(drawn):
    pl.say(cells(X_umap="old"))
    pl.confidence(cells(X_umap="old"), key="k")
    colors = [call["color"] for call in drawn]
    assert colors == [
        ["manyview_say_rna", "manyview_say_prot"],
        ["k_confidence", "k_outlier_score"],
    ]


def test_without_scanpy_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scanpy", None)
    with pytest.raises(ModuleNotFoundError, match="pip install scanpy"):
        pl.umap(cells())


def test_cells_that_were_not_clustered_are_refused(drawn):
    fresh = SimpleNamespace(obsm={}, obs=["manyview"], uns={})
    with pytest.raises(KeyError, match="no modality's say in obs: call"):
        pl.say(fresh)
    with pytest.raises(KeyError, match="no 'manyview_confidence' in obs"):
        pl.confidence(fresh)
    with pytest.raises(ValueError, match="no neighbours to map: call"):
        pl.umap(fresh)
    assert drawn == []
