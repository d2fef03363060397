"""Made data of a small registry entry, and a machine without data sets."""

import socket

import numpy as np
import pytest

from manyview.datasets.registry import DatasetInfo


@pytest.fixture
def small():
    """What the registry would say of six samples in two views of three classes."""
    return DatasetInfo(
        name="small",
        title="made for tests",
        n_samples=6,
        n_clusters=3,
        view_names=("first", "second"),
        n_features=(4, 5),
        class_counts=(2, 2, 2),
        files=("small.mat",),
        formats=("npz", "mat"),
    )


@pytest.fixture
def views_of_small():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(6, 4)), rng.normal(size=(6, 5))]


@pytest.fixture
def bare_machine(monkeypatch, tmp_path):
    """No data folder, an empty cache, and no network."""
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    monkeypatch.setenv("MANYVIEW_CACHE", str(tmp_path / "cache"))

    def refuse(*args, **kwargs):
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tmp_path
