"""One small table of samples, and every way to write it to a file."""

import bz2
import gzip
import io
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse

from manyview.readers import formats
from tests.matlab_files import cell, save_v5, save_v73
from tests.templates import reader

N, D = 12, 5


@pytest.fixture
def table():
    """Samples x features: numbers that every format keeps exactly, some of them zero."""
    rng = np.random.default_rng(0)
    values = rng.integers(-40, 40, (N, D)) / 8
    values[rng.random((N, D)) < 0.3] = 0.0
    values[0, -1] = values[-1, 0] = 1.5  # the last column and the last row are in use
    return values


@pytest.fixture
def ids():
    return [f"s{i:02d}" for i in range(N)]


@pytest.fixture
def labels():
    return np.arange(N) % 3


def csv_text(table, separator=",", ids=None, labels=None, names=True):
    lines = []
    head = ["id"] * (ids is not None) + [f"f{i}" for i in range(table.shape[1])]
    if names:
        lines.append(separator.join(head + ["label"] * (labels is not None)))
    for i, row in enumerate(table):
        cells = [ids[i]] * (ids is not None) + [repr(float(v)) for v in row]
        lines.append(separator.join(cells + [str(labels[i])] * (labels is not None)))
    return "\n".join(lines) + "\n"


def write_csv(path, table, ids, labels, separator=","):
    path.write_text(csv_text(table, separator, ids, labels))


def write_csv_gz(path, table, ids, labels):
    path.write_bytes(gzip.compress(csv_text(table, ",", ids, labels).encode()))


def write_csv_bz2(path, table, ids, labels):
    path.write_bytes(bz2.compress(csv_text(table, ",", ids, labels).encode()))


def write_excel(path, table, ids, labels):
    import pandas as pd

    frame = pd.DataFrame(table, columns=[f"c{j}" for j in range(table.shape[1])])
    frame.assign(id=ids, label=labels).to_excel(path, index=False)


def write_npy(path, table, ids, labels):
    np.save(path, table)


def write_npz(path, table, ids, labels):
    np.savez(path, values=table, id=np.array(ids), label=labels)


def write_csr(path, table, ids, labels):
    sparse.save_npz(path, sparse.csr_array(table))


def write_csr_parts(path, table, ids, labels):
    csr = sparse.csr_array(table)
    parts = {f"values_{p}": getattr(csr, p) for p in ("data", "indices", "indptr", "shape")}
    np.savez(path, **parts, id=np.array(ids), label=labels)


def arrow_table(table, ids, labels):
    import pyarrow as pa

    columns = {"id": ids, **{f"f{i}": table[:, i] for i in range(D)}, "label": labels}
    return pa.table(columns)


def write_parquet(path, table, ids, labels):
    from pyarrow import parquet

    parquet.write_table(arrow_table(table, ids, labels), path, row_group_size=5)


def write_feather(path, table, ids, labels):
    from pyarrow import feather

    feather.write_feather(arrow_table(table, ids, labels), path)


def write_arrow_stream(path, table, ids, labels):
    import pyarrow as pa

    data = arrow_table(table, ids, labels)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, data.schema) as writer:
        writer.write_table(data)


def write_hdf5(path, table, ids, labels):
    import h5py

    with h5py.File(path, "w") as file:
        file["group/values"] = table
        file["id"] = np.array(ids, dtype="S")
        file["label"] = labels


def write_zarr(path, table, ids, labels):
    import zarr

    group = zarr.open_group(path, mode="w")
    for name, values in (("values", table), ("label", labels)):
        array = group.create_array(name, shape=values.shape, dtype=values.dtype)
        array[...] = values


def write_mat5(path, table, ids, labels):
    save_v5(path, X=table, label=labels[:, None], id=np.array(ids, dtype=object))


def write_mat73(path, table, ids, labels):
    save_v73(path, X=table, label=labels[:, None].astype(float), id=cell(ids, column=True))


def write_svmlight(path, table, ids, labels):
    lines = []
    for row, label in zip(table, labels, strict=True):
        entries = [f"{i + 1}:{float(v)!r}" for i, v in enumerate(row) if v]
        lines.append(" ".join([str(label), *entries]))
    path.write_text("\n".join(lines) + "\n")


def write_matrix_market(path, table, ids, labels):
    from scipy.io import mmwrite

    mmwrite(path, sparse.coo_array(table))


def write_matrix_market_dense(path, table, ids, labels):
    from scipy.io import mmwrite

    buffer = io.BytesIO()
    mmwrite(buffer, table)
    path.write_bytes(gzip.compress(buffer.getvalue()))


def annotated(table, ids, labels, kind):
    import anndata
    import pandas as pd

    obs = pd.DataFrame({"label": pd.Categorical(labels)}, index=ids)
    var = pd.DataFrame(index=[f"f{i}" for i in range(table.shape[1])])
    return anndata.AnnData(kind(table), obs=obs, var=var)


def write_h5ad(path, table, ids, labels, kind=np.array):
    annotated(table, ids, labels, kind).write_h5ad(path)


def write_h5ad_csr(path, table, ids, labels):
    write_h5ad(path, table, ids, labels, sparse.csr_matrix)


def write_h5ad_csc(path, table, ids, labels):
    write_h5ad(path, table, ids, labels, sparse.csc_matrix)


def not_pulling(mudata):
    """Before version 0.4, a MuData copies the columns of its modalities unless told not to."""
    has_choice = hasattr(mudata, "set_options")
    return mudata.set_options(pull_on_update=False) if has_choice else nullcontext()


def write_h5mu(path, table, ids, labels):
    import mudata

    with not_pulling(mudata):
        data = mudata.MuData({"values": annotated(table, ids, labels, np.array)})
        data.obs["label"] = labels
    data.write_h5mu(path)


def write_idx(path, table, ids, labels):
    values = table.astype(">f8")
    head = b"\0\0\x0e\x02" + np.array(table.shape, dtype=">u4").tobytes()
    raw = head + values.tobytes()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def write_rows(path, table, ids, labels):
    """The format of the guide's example."""
    path.write_bytes(b"ROWS" + np.array(table.shape, "<u8").tobytes() + table.tobytes())


@pytest.fixture(autouse=True)
def guide_example(monkeypatch):
    """The line that a merge adds."""
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, reader.FORMAT))


WRITERS = {
    "a.npy": write_npy,
    "a.npz": write_npz,
    "csr.npz": write_csr,
    "parts.npz": write_csr_parts,
    "a.csv": write_csv,
    "a.csv.gz": write_csv_gz,
    "a.xlsx": write_excel,
    "a.csv.bz2": write_csv_bz2,
    "a.tsv": lambda *a: write_csv(*a, separator="\t"),
    "semicolons.csv": lambda *a: write_csv(*a, separator=";"),
    "a.parquet": write_parquet,
    "a.feather": write_feather,
    "a.arrows": write_arrow_stream,
    "a.h5": write_hdf5,
    "a.zarr": write_zarr,
    "v5.mat": write_mat5,
    "v73.mat": write_mat73,
    "a.svm": write_svmlight,
    "a.mtx": write_matrix_market,
    "dense.mtx.gz": write_matrix_market_dense,
    "a.h5ad": write_h5ad,
    "csr.h5ad": write_h5ad_csr,
    "csc.h5ad": write_h5ad_csc,
    "a.h5mu": write_h5mu,
    "a-idx2-ubyte": write_idx,
    "a.idx.gz": write_idx,
    "a.rows": write_rows,
}
WITH_IDS = {
    name
    for name in WRITERS
    if name.endswith(
        (".csv", ".tsv", ".xlsx", ".csv.gz", ".csv.bz2", ".parquet", ".feather", ".arrows")
    )
    or name in ("a.npz", "parts.npz", "a.h5", "v5.mat", "v73.mat")
    or name.endswith((".h5ad", ".h5mu"))
}
WITH_LABELS = WITH_IDS | {"a.zarr", "a.svm"}
LAZY = {"a.npy", "a.parquet", "a.h5", "a.zarr", "a.h5ad", "csr.h5ad", "csc.h5ad", "a.h5mu"}
SPARSE = {"csr.npz", "parts.npz", "a.svm", "a.mtx", "csr.h5ad", "csc.h5ad"}


@pytest.fixture(params=WRITERS)
def file(request, tmp_path, table, ids, labels):
    """Every format in turn: the table in a file."""
    path = tmp_path / request.param
    WRITERS[request.param](path, table, ids, labels)
    return path
