"""Three files of the same samples, in different formats and different order."""

import numpy as np
import pytest
from click.testing import CliRunner

from manyview.cli.group import manyview as command_line

N, K = 90, 3


@pytest.fixture
def run():
    """Give a function that runs the command line in this process, and looks at its exit code."""

    def invoke(*arguments, code=0, **options):
        result = CliRunner().invoke(command_line, [str(a) for a in arguments], **options)
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A working folder with colour.csv, shape.parquet, words.npz and labels.csv."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(folder):
    """Write three views of the same rows, one of them once more without ids, and their labels."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    groups = np.arange(N) % K
    tables = [
        3 * rng.normal(size=(K, d))[groups] + 0.3 * rng.normal(size=(N, d)) for d in (3, 5, 4)
    ]
    ids = np.array([f"s{i:02d}" for i in range(N)])
    orders = [np.arange(N), rng.permutation(N), rng.permutation(N)]
    write_csv(folder / "colour.csv", ids, tables[0], ["red", "green", "blue"])
    shape = {f"w{j}": tables[1][orders[1], j] for j in range(5)}
    parquet.write_table(pa.table({"id": ids[orders[1]], **shape}), folder / "shape.parquet")
    np.savez(folder / "words.npz", words=tables[2][orders[2]], id=ids[orders[2]])
    np.save(folder / "plain.npy", tables[2])
    lines = [f"{ids[i]},{'abc'[groups[i]]}" for i in rng.permutation(N)]
    (folder / "labels.csv").write_text("id,label\n" + "\n".join(lines) + "\n")


def write_csv(path, ids, table, names):
    lines = [f"{i},{','.join(map(repr, row.tolist()))}" for i, row in zip(ids, table, strict=True)]
    path.write_text(f"id,{','.join(names)}\n" + "\n".join(lines) + "\n")


VIEWS = ("colour.csv", "shape.parquet", "words.npz")
FIT = ("fit", *VIEWS, "-k", K, "--id-column", "id")


@pytest.fixture
def fitted(files, run):
    """A finished fit in the folder ``out``, without its report."""
    run(*FIT, "--labels", "labels.csv", "-o", "out", "--no-report")
    return files / "out"


def is_one_line(text):
    return text.startswith("manyview: ") and text.count("\n") == 1
