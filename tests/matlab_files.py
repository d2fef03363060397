"""Files as MATLAB writes them, of version 5 and of version 7.3 (HDF5)."""

import h5py
import numpy as np
from scipy import sparse
from scipy.io import savemat

HEADER = b"MATLAB 5.0 MAT-file, Platform: PCWIN64"  # as in the authors' own file, of version 7.3


def cell(items, *, column=False):
    """A cell of arrays or texts."""
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = item
    return array[:, None] if column else array[None, :]


def save_v5(path, **variables):
    savemat(path, variables)
    return path


def save_v73(path, *, header=HEADER, **variables):
    """Write variables column by column, cells as references, after a text that may say 5.0."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            _put(file, file, name, value)
    with path.open("r+b") as file:
        file.write(header.ljust(116) + bytes(8) + b"\x00\x01IM")
    return path


def _put(file, group, name, value):
    if isinstance(value, str):
        group[name] = np.array([[ord(c)] for c in value], "u2")
        group[name].attrs["MATLAB_class"] = np.bytes_("char")
    elif sparse.issparse(value):
        csc = sparse.csc_array(value)
        part = group.create_group(name)
        part.attrs["MATLAB_class"] = np.bytes_("double")
        part.attrs["MATLAB_sparse"] = np.uint64(csc.shape[0])
        part["jc"] = csc.indptr.astype(np.uint64)
        if csc.nnz:
            part["data"], part["ir"] = csc.data, csc.indices.astype(np.uint64)
    elif value.dtype == object:
        refs = file.require_group("#refs#")
        stored = group.create_dataset(name, shape=value.T.shape, dtype=h5py.ref_dtype)
        stored.attrs["MATLAB_class"] = np.bytes_("cell")
        for place in np.ndindex(value.shape):
            label = f"{name}{'_'.join(map(str, place))}"
            _put(file, refs, label, value[place])
            stored[place[::-1]] = refs[label].ref
    else:
        group[name] = value.T
        group[name].attrs["MATLAB_class"] = np.bytes_("double")
