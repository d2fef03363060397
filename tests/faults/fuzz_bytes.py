"""Readers of bytes that we parse ourselves (CSV, idx, models), fuzzed with an eye on their branches.

It needs atheris, which is no dependency of the tests: put it into an environment of its own, then
``python -m tests.faults.fuzz_bytes --n 300000 --keep``. Each kind runs in a process of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from tests.faults.cases import WrongError, arguments, conclude

KINDS = {"csv": "a.csv", "idx": "a-idx2-ubyte", "model": "m.mv"}


def seeds(kind):
    """Whole files to start from."""
    if kind == "csv":
        return [b'id,a,b\nx,1,2.5\n"y",-3,4e5\n', b"1;2,5\n3;4,5\n", b"a\tb\nnan\t1\n\t2\n"]
    if kind == "idx":
        return [bytes([0, 0, code, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(48) for code in (8, 13)]
    from tests.faults.fuzz_models import make_models, make_views

    return [content for content, _ in make_models(make_views())[:1]]


def make_target(kind, folder):
    """A function of bytes that raises if they are not read, or refused by one of our errors."""
    import atheris

    with atheris.instrument_imports(include=["manyview.readers", "manyview.pipeline.persistence"]):
        import manyview.pipeline.persistence
        import manyview.readers.csv
        import manyview.readers.idx  # noqa: F401
        from manyview import load
        from manyview.errors import ModelFileError, ReadError
        from manyview.readers import read_view

    path = folder / KINDS[kind]
    read, refusal = (load, ModelFileError) if kind == "model" else (read_view, ReadError)

    def target(content):
        path.write_bytes(content)
        try:
            read(str(path))
        except refusal as error:
            if path.name not in str(error):
                raise WrongError(f"does not name the file: {error}") from error

    return target


def fuzz(kind, n, seed):
    """Fuzz one kind in this process, which ends with 0, or by what was found."""
    import atheris

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    target = make_target(kind, folder)  # first of all: what is imported already is not watched
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds(kind)):
        (corpus / str(number)).write_bytes(content)
    limits = [
        f"-runs={n}",
        f"-seed={seed + 1}",
        "-timeout=20",
        "-rss_limit_mb=4096",
        "-max_len=65536",
    ]
    arguments = [sys.argv[0], *limits, f"-artifact_prefix={folder}/", "-print_final_stats=1"]
    atheris.Setup([*arguments, str(corpus)], target)
    atheris.Fuzz()


def main():
    options = arguments(300_000)
    n = options.n // len(KINDS)
    outcomes, wrong = Counter(), []
    for kind in KINDS:
        child = os.fork()
        if child == 0:
            fuzz(kind, n, options.seed)  # ends the process
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            wrong.append(kind)
        outcomes[kind] = n
    conclude("bytes", options, outcomes, wrong)


if __name__ == "__main__":
    main()
