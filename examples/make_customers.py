"""Write customers.xlsx, a made table as people keep them: names, towns, dates, answers, gaps."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import openpyxl

HEADER = (
    "customer", "town", "plan", "newsletter", "since", "visits", "spent", "satisfied", "remark",
    "country", "group",
)  # fmt: skip
TOWNS = np.array(["Bern", "Genf", "Basel", "Chur", "Thun", "Zug", "Uster", "Visp"])
PLANS = np.array(["basic", "family", "business"])
ANSWERS = np.array(["low", "fair", "high"])


def make_rows(n_rows=240, seed=0):
    """Rows of three kinds of customers; the last column tells which."""
    rng = np.random.default_rng(seed)
    for i in range(n_rows):
        group = i % 3
        plan = PLANS[group if rng.random() < 0.85 else rng.integers(3)]
        town = TOWNS[min(rng.geometric(0.35), len(TOWNS)) - 1]
        since = datetime(2015, 1, 1) + timedelta(days=int(900 * group + rng.integers(900)))
        visits = int(rng.poisson([3, 12, 6][group]))
        spent = round(float(rng.lognormal([3, 4, 6][group], 0.5)), 2)
        answer = ANSWERS[group if rng.random() < 0.7 else rng.integers(3)]
        remark = f"called on day {rng.integers(300)} about bill number {rng.integers(10_000)}"
        yield [
            f"C{i:04d}", None if rng.random() < 0.03 else town, plan,
            bool(rng.random() < [0.2, 0.8, 0.5][group]), since,
            None if rng.random() < 0.03 else visits, spent, answer, remark, "Switzerland",
            ["occasional", "family", "firm"][group],
        ]  # fmt: skip


def main():
    """Write the file beside this one."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "customers"
    for row in (list(HEADER), *make_rows()):
        sheet.append(row)
    book.save(Path(__file__).with_name("customers.xlsx"))


if __name__ == "__main__":
    main()
