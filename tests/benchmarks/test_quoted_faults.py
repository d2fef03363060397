"""What SECURITY.md says of the faults that were tried is what the kept result lines say."""

import json
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = ROOT / "benchmarks" / "results" / "faults.jsonl"
PROGRAMS = {
    "fuzz_estimator": "estimator", "fuzz_readers": "readers", "fuzz_models": "models",
    "kill_fits": "kills", "kill_dask": "Dask kills", "inject": "injection", "fuzz_bytes": "bytes",
}  # fmt: skip


@pytest.fixture(scope="module")
def lines():
    return [json.loads(text) for text in LINES.read_text(encoding="utf-8").splitlines()]


def test_the_table_says_what_the_lines_say(lines):
    told, kept = {}, {}
    for row in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines():
        if "`python -m tests.faults." in row:
            _, _, command, cases, wrong, _ = (cell.strip() for cell in row.split("|"))
            program = command.split("tests.faults.")[1].split()[0].strip("`")
            told[PROGRAMS[program]] = (int(cases.split()[0]), int(wrong.split()[0]))
    for line in lines:
        n, n_wrong = kept.get(line["faults"], (0, 0))
        is_all = line["faults"] == "injection"  # however many there are
        cases = sum(line["outcomes"].values()) if is_all else line["n"]
        kept[line["faults"]] = n + cases, n_wrong + line["n_wrong"]
    assert told == kept


def test_the_time_spent_on_bytes_is_that_of_its_line(lines):
    (line,) = (line for line in lines if line["faults"] == "bytes")
    told = f"| {line['n']} in {line['cpu_seconds']:.0f} s of CPU |"
    assert told in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_half_of_the_kills_were_inside_an_operation(lines):
    outcomes = Counter()
    for line in lines:
        if line["faults"] == "kills":
            outcomes.update(line["outcomes"])
    assert outcomes["killed inside an operation"] == outcomes["killed at a random moment"]
