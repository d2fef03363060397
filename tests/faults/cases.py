"""Many cases, each judged in a child process that may crash, hang or fill memory alone."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from manyview.machine import peak_bytes

CPU_SECONDS = 20
MEMORY = 2 << 30
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "faults.jsonl"


class WrongError(Exception):
    """What must not happen: a silent other answer, a changed input, a message that says nothing."""


Judge = Callable[[int, np.random.Generator], str]
"""Number of a case and its randomness in, the outcome in a few words out; WrongError if it is wrong."""


def run_cases(judge: Judge, options: argparse.Namespace) -> tuple[Counter[str], list[str]]:
    """Outcomes and how often each was seen, and what went wrong, case by case."""
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []

    def note(case: int, words: str) -> None:
        wrong.append(f"case {case}: {words}")
        print(f"  {wrong[-1]}", file=sys.stderr, flush=True)

    next_case, end = options.first, options.first + options.n
    while next_case < end:
        child, lines = _start(judge, next_case, end, options.seed)
        running = next_case
        for line in lines:
            report = json.loads(line)
            running = report["case"]
            if "outcome" in report:
                outcomes[report["outcome"]] += 1
                running += 1
            if "wrong" in report:
                note(report["case"], report["wrong"])
        lines.close()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            is_slow = code == -signal.SIGPROF
            words = f"more than {CPU_SECONDS} s of CPU" if is_slow else f"died by {name}"
            note(running, words)
            outcomes[words] += 1
            running += 1
        next_case = running
    return outcomes, wrong


def _start(judge: Judge, first: int, n: int, seed: int):
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, os.fdopen(reading)
    os.close(reading)
    status = 1
    try:
        with os.fdopen(writing, "w") as file:
            for case in range(first, n):
                _judge_one(judge, case, seed, file)
        status = 0
    finally:
        os._exit(status)


def _judge_one(judge: Judge, case: int, seed: int, file) -> None:
    print(json.dumps({"case": case}), file=file, flush=True)
    before = peak_bytes() or 0
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # its default is to end the process
    try:
        report = {"outcome": judge(case, np.random.default_rng([seed, case]))}
    except WrongError as error:
        report = {"outcome": "wrong", "wrong": str(error)}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        words = f"unexpected {type(error).__name__}: {error} ({Path(place.filename).name})"
        report = {"outcome": "unexpected", "wrong": words[:400]}
    signal.setitimer(signal.ITIMER_PROF, 0)
    more = (peak_bytes() or 0) - before
    if more > MEMORY:
        report = {"outcome": "too much memory", "wrong": f"{more >> 20} MB more"}
    print(json.dumps({"case": case, **report}), file=file, flush=True)


def arguments(n: int, parser: argparse.ArgumentParser | None = None) -> argparse.Namespace:
    """What every program may be told, besides what its own parser knows."""
    parser = parser or argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=n, help="number of cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep a result line")
    return parser.parse_args()


def conclude(
    name: str,
    options: argparse.Namespace,
    outcomes: Counter[str],
    wrong: list[str],
) -> None:
    """Print what was found, keep it if asked to, and end with 1 if anything was wrong."""
    line = {
        "faults": name, "n": options.n, "first": options.first, "seed": options.seed,
        "outcomes": dict(outcomes), "n_wrong": len(wrong), "cpu_seconds": round(_cpu_seconds(), 1),
    }  # fmt: skip
    print(json.dumps(line))
    if options.keep:
        from benchmarks.record import code_and_machine

        kept = [] if not RESULTS.exists() else RESULTS.read_text(encoding="utf-8").splitlines()
        kept = [text for text in kept if _range(json.loads(text)) != _range(line)]
        kept.append(json.dumps(line | code_and_machine()))
        RESULTS.write_text("".join(f"{text}\n" for text in kept), encoding="utf-8")
    sys.exit(1 if wrong else 0)


def _range(line: dict[str, Any]) -> tuple[Any, ...]:
    """Which cases a line tells of: those run again replace what was known of them."""
    return tuple(line[name] for name in ("faults", "seed", "first", "n"))


def _cpu_seconds() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
