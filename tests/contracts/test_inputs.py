"""Every kind of input: the same data gives the same labels."""

import anndata
import mudata
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from manyview import LMVSC, Views
from manyview.baselines import KMeans

NAMES = ("view_0", "view_1")
IDS = [f"row {i}" for i in range(90)]


def columns(X, name):
    return [f"{name} {j}" for j in range(X.shape[1])]


def named(views):
    return dict(zip(NAMES, views, strict=True))


class Tensor:
    """An array that can be had by DLPack only."""

    def __init__(self, X):
        self._X = X

    def __dlpack__(self, **options):
        return self._X.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._X.__dlpack_device__()


class ArrayLike:
    """An array that can be had by ``__array__`` only."""

    def __init__(self, X):
        self._X = X

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._X, dtype=dtype)


def as_pandas(views, folder):
    return {n: pd.DataFrame(X, columns=columns(X, n), index=IDS) for n, X in named(views).items()}


def as_polars(views, folder):
    return {n: pl.DataFrame(X, schema=columns(X, n)) for n, X in named(views).items()}


def as_arrow(views, folder):
    return {
        n: pa.table(dict(zip(columns(X, n), X.T, strict=True))) for n, X in named(views).items()
    }


def as_levels(views, folder):
    return pd.concat({n: pd.DataFrame(X) for n, X in named(views).items()}, axis=1)


def as_mudata(views, folder):
    cells = {n: anndata.AnnData(X, obs=pd.DataFrame(index=IDS)) for n, X in named(views).items()}
    for name, part in cells.items():
        part.var_names = columns(part.X, name)
    return mudata.MuData(cells)


def as_backed_mudata(views, folder):
    as_mudata(views, folder).write_h5mu(folder / "cells.h5mu")
    return mudata.read_h5mu(folder / "cells.h5mu", backed="r")


def as_torch(views, folder):
    torch = pytest.importorskip("torch")
    return [torch.from_numpy(X) for X in views]


def as_jax(views, folder):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return [jax.numpy.asarray(X) for X in views]


def as_npy_files(views, folder):
    for name, X in named(views).items():
        np.save(folder / f"{name}.npy", X)
    return [str(folder / f"{name}.npy") for name in NAMES]


def as_memory_maps(views, folder):
    as_npy_files(views, folder)
    return [np.load(folder / f"{name}.npy", mmap_mode="r") for name in NAMES]


def as_csv_files(views, folder):
    for name, X in named(views).items():
        table = pd.DataFrame(X, columns=columns(X, name), index=pd.Index(IDS, name="id"))
        table.to_csv(folder / f"{name}.csv")
    return Views({name: folder / f"{name}.csv" for name in NAMES}, ids="id")


def as_matlab_file(views, folder):
    """A file given alone that holds all views, under names of its own."""
    from scipy.io import savemat

    savemat(folder / "views.mat", {f"view_{i}": X for i, X in enumerate(views)})
    return folder / "views.mat"


def as_keys_of_a_file(views, folder):
    np.savez(folder / "views.npz", **named(views))
    return {name: f"{folder / 'views.npz'}::{name}" for name in NAMES}


# A new kind of input adds a line here.
KINDS = {
    "list": lambda views, folder: views,
    "tuple": lambda views, folder: tuple(views),
    "dict": lambda views, folder: named(views),
    "Views": lambda views, folder: Views(views),
    "nested lists": lambda views, folder: [X.tolist() for X in views],
    "columns first": lambda views, folder: [np.asfortranarray(X) for X in views],
    "CSR": lambda views, folder: [sparse.csr_array(X) for X in views],
    "pandas": as_pandas,
    "polars": as_polars,
    "pyarrow": as_arrow,
    "MultiIndex": as_levels,
    "MuData": as_mudata,
    "dict of AnnData": lambda views, folder: dict(as_mudata(views, folder).mod),
    "torch": as_torch,
    "jax": as_jax,
    "DLPack": lambda views, folder: [Tensor(X) for X in views],
    "__array__": lambda views, folder: [ArrayLike(X) for X in views],
    "memory maps": as_memory_maps,
    "CSV files": as_csv_files,
    "a MATLAB file": as_matlab_file,
    "parts of an npz file": as_keys_of_a_file,
}
ELSEWHERE = {"backed MuData": as_backed_mudata, "npy files": as_npy_files}


@pytest.fixture(scope="module")
def views(blobs):
    return blobs(widths=(4, 6))


@pytest.fixture(scope="module")
def expected(views):
    return LMVSC(3, n_repeats=1, random_state=0, n_jobs=1).fit(views)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:Cannot join columns")
@pytest.mark.parametrize("kind", [*KINDS, *ELSEWHERE])
def test_every_input_gives_the_same_labels(kind, views, expected, tmp_path):
    X = {**KINDS, **ELSEWHERE}[kind](views, tmp_path)
    model = LMVSC(3, n_repeats=1, random_state=0, n_jobs=1).fit(X)
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.predict(X), expected.labels_)
    assert model.n_features_per_view_ == [4, 6]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:Cannot join columns")
@pytest.mark.parametrize("kind", KINDS)
def test_baselines_take_every_input(kind, views, tmp_path):
    X = KINDS[kind](views, tmp_path)
    labels = KMeans(3, random_state=0).fit(X).labels_
    assert np.array_equal(labels, KMeans(3, random_state=0).fit(views).labels_)


def test_dask_arrays_give_the_same_labels(views, expected, cluster):
    da = pytest.importorskip("dask.array")
    with cluster.client.as_current():
        X = [da.from_array(view, chunks=(40, -1)) for view in views]
        model = LMVSC(3, n_repeats=1, random_state=0).fit(X)
        assert np.array_equal(model.labels_.compute(), expected.labels_)


WIDE = {
    "array": lambda X: X,
    "CSR": sparse.csr_array,
    "nested lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X).rename(columns=str),
    "polars": lambda X: pl.DataFrame(X, schema=[str(j) for j in range(10)]),
    "pyarrow": lambda X: pa.table({str(j): X[:, j] for j in range(10)}),
    "DLPack": Tensor,
}


@pytest.mark.parametrize("kind", WIDE)
def test_one_wide_table_gives_the_same_labels(kind, views, expected):
    X = WIDE[kind](np.hstack(views))
    columns = {"view_0": slice(0, 4), "view_1": list(range(4, 10))}
    model = LMVSC(3, n_repeats=1, views=columns, random_state=0, n_jobs=1).fit(X)
    assert np.array_equal(model.labels_, expected.labels_)
    assert np.array_equal(model.predict(X), expected.labels_)
    assert model.n_features_in_ == 10
