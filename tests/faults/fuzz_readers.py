"""Damaged files of every format: each is read, or refused with a ReadError that names it."""

import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from manyview.errors import ReadError
from manyview.readers import formats, read_labels, read_view
from manyview.sources import is_source
from tests.faults.cases import WrongError, arguments, conclude, run_cases
from tests.faults.mutations import mutate
from tests.readers.conftest import WRITERS, D, N
from tests.templates import reader


def write_whole(folder):
    rng = np.random.default_rng(0)
    table = np.where(rng.random((N, D)) < 0.4, 0.0, rng.integers(1, 99, (N, D)) / 4)
    ids, labels = [f"s{i:02d}" for i in range(N)], np.arange(N) % 3
    for name, write in WRITERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, table, ids, labels)


def damage(path, rng):
    """Change a file, or one of those of a store."""
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    chosen = files[rng.integers(len(files))]
    chosen.write_bytes(mutate(chosen.read_bytes(), rng))


def read_all(path):
    """Everything in a file, as a fit and as a score would read it."""
    for part in read_view(str(path), id_column="id").parts:
        rows = part.rows
        if is_source(rows):
            rows = rows.read(0, min(rows.shape[0], 5000))
        values = rows.data if sparse.issparse(rows) else rows
        if values.dtype.kind in "biuf":
            float(np.abs(values, dtype=np.float64).sum())
            (rows @ np.ones(rows.shape[1])).sum()


def main():
    options = arguments(3000)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    formats.FORMATS = (*formats.FORMATS, reader.FORMAT)  # the guide's example is damaged, too
    whole = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    write_whole(whole)
    names = sorted(WRITERS)
    for name in names:
        read_all(whole / name)  # and everything is imported

    def judge(case, rng):
        name = names[case % len(names)]
        folder = whole / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / name
        (shutil.copytree if (whole / name).is_dir() else shutil.copyfile)(whole / name, path)
        damage(path, rng)
        outcome = "read"
        for read in (read_all, lambda path: read_labels(str(path))):
            try:
                read(path)
            except ReadError as error:
                if name not in str(error) and str(folder) not in str(error):
                    raise WrongError(f"{name}: does not name the file: {error}") from error
                outcome = "refused"
            except MemoryError as error:
                raise WrongError(f"{name}: MemoryError: {error}") from error
            except Exception as error:
                raise WrongError(f"{name}: {type(error).__name__}: {error}"[:300]) from error
        left = {entry.name for entry in folder.iterdir()}
        if left != {name}:
            raise WrongError(f"{name}: left {left - {name}} beside it")
        return outcome

    outcomes, wrong = run_cases(judge, options)
    shutil.rmtree(whole, ignore_errors=True)
    conclude("readers", options, outcomes, wrong)


if __name__ == "__main__":
    main()
