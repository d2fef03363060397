"""What a Python user would pick today, beside LMVSC: what runs, its scores, time and memory.

Each rival runs with its defaults in a process of its own, which is ended at a time limit. snfpy and
mvlearn get a virtual environment each, since neither works beside current libraries; installing
needs a package index. Seconds are those of the fit (scaling included) after one fit of 300 rows;
memory is the peak of the whole process, libraries and input included. The limit counts from the
start of the process; CPU seconds beside it tell how busy the machine was.

OMP_NUM_THREADS=1 python -m benchmarks.peers [--quick] [--rivals LMVSC,SNF] [--data hdigit]
    [--limit SECONDS] [--environments FOLDER] [--results FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from benchmarks.record import RESULTS, Report
from manyview import datasets, metrics

SEED = 0
LIMIT = 300.0
DATA = ("handwritten", "hdigit")


@dataclass(frozen=True)
class Rival:
    """How to make labels, as source: views, their concatenation ``wide`` and ``k`` are given."""

    source: str
    package: str = "scikit-learn"
    environment: str | None = None
    standardise: bool = True
    note: str = ""


RIVALS = {
    "LMVSC": Rival(
        "from manyview import LMVSC\n"
        "labels = lambda: LMVSC(k, random_state=seed).fit_predict(views)",
        package="manyview",
        standardise=False,
    ),
    "KMeans": Rival(
        "from sklearn.cluster import KMeans\n"
        "labels = lambda: KMeans(k, random_state=seed).fit_predict(wide())"
    ),
    "MiniBatchKMeans": Rival(
        "from sklearn.cluster import MiniBatchKMeans\n"
        "labels = lambda: MiniBatchKMeans(k, random_state=seed).fit_predict(wide())"
    ),
    "BisectingKMeans": Rival(
        "from sklearn.cluster import BisectingKMeans\n"
        "labels = lambda: BisectingKMeans(k, random_state=seed).fit_predict(wide())"
    ),
    "SpectralClustering": Rival(
        "from sklearn.cluster import SpectralClustering\n"
        "labels = lambda: SpectralClustering(\n"
        "    k, affinity='nearest_neighbors', random_state=seed).fit_predict(wide())"
    ),
    "SNF": Rival(
        "import snf\n"
        "from sklearn.cluster import spectral_clustering\n"
        "labels = lambda: spectral_clustering(\n"
        "    snf.snf(snf.make_affinity(scaled())), n_clusters=k, random_state=seed)",
        package="snfpy",
        environment="snfpy",
    ),
    "MultiviewKMeans": Rival(
        "from mvlearn.cluster import MultiviewKMeans\n"
        "labels = lambda: MultiviewKMeans(k, random_state=seed).fit_predict(scaled()[:2])",
        package="mvlearn",
        environment="mvlearn",
        note="takes two views only: the first two",
    ),
    "MultiviewSpectralClustering": Rival(
        "from mvlearn.cluster import MultiviewSpectralClustering\n"
        "labels = lambda: MultiviewSpectralClustering(\n"
        "    k, random_state=seed).fit_predict(scaled())",
        package="mvlearn",
        environment="mvlearn",
    ),
}

# What is passed to pip, in turn; the first list is what a user would type. The next one is tried
# where that does not install or does not run.
OLDER = ("scikit-learn<1.6", "numpy<2", "scipy<1.15")
RECIPES: dict[str, list[list[list[str]]]] = {
    "snfpy": [[["snfpy"]], [["snfpy", *OLDER]]],
    "mvlearn": [
        [["mvlearn"]],
        [["--no-deps", "mvlearn"], [*OLDER, "matplotlib", "seaborn", "joblib"]],
    ],
}

WORKER = """
import json, sys, time, warnings
from importlib.metadata import version
from pathlib import Path
import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

warnings.simplefilter("ignore")
source, package, data, out, seed = sys.argv[1:]
seed = int(seed)
with np.load(data) as file:
    k = int(file["k"])
    every = [file[f"view_{i}"] for i in range(len(file.files) - 1)]

def scaled():
    return [StandardScaler().fit_transform(view) for view in views]

def wide():
    return np.hstack(scaled())

exec(source)
some = np.random.default_rng(seed).permutation(len(every[0]))[:300]
views = [view[some] for view in every]
labels()
views = every
started, cpu_started = time.perf_counter(), time.process_time()
found = labels()
seconds = time.perf_counter() - started
cpu_seconds = time.process_time() - cpu_started
status = Path("/proc/self/status")
peak = None
if status.exists():
    peak = int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
np.savez(out, labels=found)
print(json.dumps({
    "seconds": seconds,
    "cpu_seconds": cpu_seconds,
    "peak_bytes": peak,
    "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
    "rival_versions": {p: version(p) for p in {package, "scikit-learn", "numpy", "scipy"}},
}))
"""


def fit(python: Path, rival: Rival, data: Path, limit: float) -> dict[str, Any]:
    """Run one rival; give its labels and what it cost, or why there are none under ``failure``."""
    out = data.with_name(f"labels_{time.monotonic_ns()}.npz")
    command = [python, "-c", WORKER, rival.source, rival.package, data, out, SEED]
    peak = cpu_seconds = None
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([str(part) for part in command], stdout=output, stderr=errors)
        deadline = time.monotonic() + limit
        while child.poll() is None and time.monotonic() < deadline:
            peak = _peak_of(child.pid) or peak
            cpu_seconds = _cpu_of(child.pid) or cpu_seconds
            time.sleep(0.1)
        if child.poll() is None:
            child.kill()
            child.wait()
            spent = "" if cpu_seconds is None else f" ({cpu_seconds:.0f} s of CPU)"
            failure = f"over {limit:.0f} s{spent}"
            return {"failure": failure, "cpu_seconds": cpu_seconds, "peak_bytes": peak}
        output.seek(0)
        errors.seek(0)
        if child.returncode:
            reason = _last_line(errors.read()) or f"ended with {child.returncode}"
            return {"failure": reason, "peak_bytes": peak}
        with np.load(out) as file:
            return {**json.loads(_last_line(output.read())), "labels": file["labels"]}


def environment(name: str, folder: Path) -> tuple[Path | None, str]:
    """Give the interpreter of an environment in which a package runs, and what that took."""
    rivals = [rival for rival in RIVALS.values() if rival.environment == name]
    sample = folder / f"sample_{name}.npz"
    generator = np.random.default_rng(SEED)
    labels = np.repeat(np.arange(3), 150)
    views = [labels[:, None] * 4 + generator.normal(size=(450, 5)) for _ in range(2)]
    np.savez(sample, k=3, **{f"view_{i}": view for i, view in enumerate(views)})
    reasons = []
    for number, steps in enumerate(RECIPES[name]):
        home = folder / f"{name}_{number}"
        python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        if not python.exists():
            venv.create(home, with_pip=True)
        typed = " and ".join("pip install " + " ".join(step) for step in steps)
        reason = None
        for step in steps:
            done = subprocess.run(
                [python, "-m", "pip", "install", "-q", *step], capture_output=True, text=True
            )
            if done.returncode:
                reason = f"does not install: {_last_line(done.stderr, 'ERROR')}"
                break
        if reason is None:
            for rival in rivals:
                if failure := fit(python, rival, sample, 120.0).get("failure"):
                    reason = f"installs but does not run: {failure}"
        if reason is None:
            note = "; ".join([*reasons, f"ran after {typed}" if reasons else ""])
            return python, note
        reasons.append(f"{typed}: {reason}")
    return None, "; ".join(reasons)


def run(
    report: Report,
    rivals: Sequence[str] | None = None,
    data: Sequence[str] | None = None,
    limit: float = LIMIT,
    environments: Path | None = None,
) -> None:
    """Add a line for every data set and rival."""
    chosen = list(RIVALS) if rivals is None else rivals
    names = data or (DATA[:1] if report.quick else DATA)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        homes = environments or folder
        homes.mkdir(parents=True, exist_ok=True)
        pythons: dict[str | None, tuple[Path | None, str]] = {None: (Path(sys.executable), "")}
        for name in dict.fromkeys(RIVALS[one].environment for one in chosen):
            if name is not None:
                pythons[name] = environment(name, homes)
        for dataset in names:
            views = datasets.load(dataset, download=False)
            k = len(np.unique(views.target))
            file = folder / f"{dataset}.npz"
            arrays = [np.asarray(view, dtype=np.float64) for view in views.arrays]
            np.savez(file, k=k, **{f"view_{i}": view for i, view in enumerate(arrays)})
            for one in chosen:
                rival = RIVALS[one]
                python, setting_up = pythons[rival.environment]
                found: dict[str, Any] = {"failure": setting_up}
                if python is not None:
                    found = fit(python, rival, file, limit)
                # One that was ended cannot say; it had this process's settings.
                found.setdefault("threads", threadpool_info()[0]["num_threads"])
                labels = found.pop("labels", None)
                scores = None if labels is None else metrics.scores(views.target, labels)
                report.add(
                    f"{dataset} {one}",
                    None if scores is None else scores["accuracy"],
                    scores=scores,
                    data=dataset,
                    rival=one,
                    limit=limit,
                    setting_up=setting_up,
                    note=found.pop("failure", rival.note),
                    seed=SEED,
                    **found,
                )
    print("\n" + table(report.lines))


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Lay out what ran, and why the others did not; there are no targets here."""
    rows = [
        f"{'data':<12} {'rival':<28} {'Acc':>6} {'NMI':>6} "
        f"{'seconds':>8} {'CPU s':>8} {'peak MB':>8}  remarks"
    ]
    for line in lines:
        scores = line["scores"]
        cells = [
            f"{scores['accuracy']:.4f}" if scores else "",
            f"{scores['nmi']:.4f}" if scores else "",
        ]
        seconds = "" if line["seconds"] is None else f"{line['seconds']:.2f}"
        cpu = line.get("cpu_seconds")
        spent = "" if cpu is None else f"{cpu:.2f}"
        memory = "" if line["peak_bytes"] is None else f"{line['peak_bytes'] / 1e6:.0f}"
        row = f"{line['data']:<12} {line['rival']:<28} {cells[0]:>6} {cells[1]:>6}"
        rows.append(f"{row} {seconds:>8} {spent:>8} {memory:>8}  {line['note']}".rstrip())
    notes = dict.fromkeys(line["setting_up"] for line in lines if line["setting_up"])
    return "\n".join([*rows, *(f"- {note}" for note in notes)])


def _last_line(text: str, start: str = "") -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(start)]
    return next((line for line in reversed(lines) if line), "")


def _peak_of(process: int) -> int | None:
    try:
        text = Path(f"/proc/{process}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):  # not Linux, or it has just ended
        return None


def _cpu_of(process: int) -> float | None:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):  # not Linux, or it has just ended
        return None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="Handwritten only")
    parser.add_argument("--rivals", help="names with commas between; all by default")
    parser.add_argument("--data", help="names with commas between")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each rival")
    parser.add_argument("--environments", type=Path, help="folder that keeps the environments")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for result lines")
    chosen = parser.parse_args(arguments)
    report = Report("peers", quick=chosen.quick, folder=chosen.results)
    run(
        report,
        chosen.rivals.split(",") if chosen.rivals else None,
        chosen.data.split(",") if chosen.data else None,
        chosen.limit,
        chosen.environments,
    )


if __name__ == "__main__":
    main()
