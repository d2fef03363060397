"""Readers of bytes that we parse ourselves, fuzzed with an eye on the branches that they reach.

They are CSV, idx, svmlight, Matrix Market, model files as bytes, and the document of a model under a
digest made for it, which is what a forger has. It needs atheris, which is no dependency of the tests:
put it into an environment of its own, then ``python -m tests.faults.fuzz_bytes --hours 1 --keep``. Each
kind runs in a process of its own, all at once, with the same share of the hours, which are of CPU;
SIGTERM ends them early, and what was done is counted.
"""

import argparse
import io
import mmap
import os
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from tests.faults.cases import WrongError, arguments, conclude

KINDS = {
    "csv": "a.csv",
    "idx": "a-idx2-ubyte",
    "svmlight": "a.svm",
    "Matrix Market": "a.mtx",
    "model": "m.mv",
    "forged document": "m.mv",
}


def seeds(kind):
    """Whole files to start from."""
    if kind == "csv":
        return [b'id,a,b\nx,1,2.5\n"y",-3,4e5\n', b"1;2,5\n3;4,5\n", b"a\tb\nnan\t1\n\t2\n"]
    if kind == "idx":
        return [bytes([0, 0, code, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(48) for code in (8, 13)]
    if kind == "svmlight":
        return [b"1 1:0.5 3:-2e5\n-1 2:1 # a remark\n", b"a 0:1\nb 7:nan\n"]
    if kind == "Matrix Market":
        head = b"%%MatrixMarket matrix "
        return [
            head + b"coordinate real general\n% a remark\n2 3 2\n1 1 0.5\n2 3 -2e5\n",
            head + b"array integer symmetric\n2 2\n1\n2\n3\n",
            head + b"coordinate pattern skew-symmetric\n3 3 1\n2 1\n",
        ]
    whole = _whole_model()
    return [whole] if kind == "model" else [_members(whole)["model.json"]]


def _whole_model():
    from tests.faults.fuzz_models import make_models, make_views

    return make_models(make_views())[0][0]


def _members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _make_forger():
    """A function: the document of a model -> a file that has it, with a digest made for it."""
    from manyview.pipeline.persistence import seal

    members = _members(_whole_model())
    del members["digest.json"]

    def forge(document):
        forged = {**members, "model.json": document}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, part in {**forged, "digest.json": seal(forged)}.items():
                archive.writestr(name, part)
        return buffer.getvalue()

    return forge


WATCHED = [
    "manyview.readers",
    "manyview.pipeline.persistence",
    "manyview.pipeline.model_fields",
    "manyview.sources.packing",
    "manyview.sources.room",
]


def make_target(kind, folder):
    """A function of bytes that raises if they are not read, or refused by one of our errors."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        import manyview.pipeline.persistence
        import manyview.readers.csv
        import manyview.readers.idx
        import manyview.readers.matrix_market
        import manyview.readers.svmlight  # noqa: F401
        from manyview import load
        from manyview.errors import ModelFileError, ReadError
        from manyview.readers import read_view

    path = folder / KINDS[kind]
    is_model = path.suffix == ".mv"
    read, refusal = (load, ModelFileError) if is_model else (read_view, ReadError)
    prepare = _make_forger() if kind == "forged document" else bytes

    def target(content):
        path.write_bytes(prepare(content))
        try:
            read(str(path))
        except refusal as error:
            if path.name not in str(error):
                raise WrongError(f"does not name the file: {error}") from error

    return target


class Tally:
    """Numbers of runs that processes share, and whether they should end."""

    def __init__(self):
        self._memory = mmap.mmap(-1, 8 * (1 + len(KINDS)))

    def runs(self, kind):
        return struct.unpack_from("q", self._memory, 8 * (1 + [*KINDS].index(kind)))[0]

    def add(self, kind):
        struct.pack_into("q", self._memory, 8 * (1 + [*KINDS].index(kind)), self.runs(kind) + 1)

    def end(self):
        self._memory[0] = 1

    @property
    def is_over(self):
        return self._memory[0] == 1


def fuzz(kind, options, tally):
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
    seconds = 3600 * options.hours / len(KINDS)

    def counted(content):
        if tally.is_over or tally.runs(kind) == options.n or time.process_time() > seconds:
            os._exit(0)
        target(content)
        tally.add(kind)

    limits = [f"-seed={options.seed + 1}", "-timeout=120", "-rss_limit_mb=4096", "-max_len=65536"]
    arguments = [sys.argv[0], *limits, f"-artifact_prefix={folder}/", "-print_final_stats=1"]
    atheris.Setup([*arguments, str(corpus)], counted)
    atheris.Fuzz()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=1.0, help="of CPU, for all kinds together")
    options = arguments(-1, parser)  # no limit but the time
    tally = Tally()
    signal.signal(signal.SIGTERM, lambda *_: tally.end())
    children = {}
    for kind in KINDS:
        children[kind] = os.fork()
        if children[kind] == 0:
            fuzz(kind, options, tally)  # ends the process
            os._exit(1)
    wrong = [
        kind
        for kind, child in children.items()
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ]
    outcomes = Counter({kind: tally.runs(kind) for kind in KINDS})
    options.n = outcomes.total()
    conclude("bytes", options, outcomes, wrong)


if __name__ == "__main__":
    main()
