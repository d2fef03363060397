"""What is measured of the paper's claims about time and memory."""

from __future__ import annotations

from manyview.reproduce import methods, paper
from manyview.reproduce.evidence import NO, PARTLY, YES, Results, effort, figure, make
from manyview.reproduce.figure_plan import TIMED_CURVE
from manyview.reproduce.plan import TUNED
from manyview.reproduce.tables import NEAR_ZERO, Facts
from manyview.wording import bytes_in_words

_LINEAR = 1.15
"""Fitted powers of n up to this count as linear."""


def speed(results: Results) -> Facts:
    """How much slower SSCOMP is on MNIST."""
    least, most = printed_speed()
    found = make(
        "Time against SSCOMP on MNIST",
        f"“Our method is 20 times faster than SSCOMP”: {least:.1f} to {most:.1f} times by the printed "
        "seconds.",
    )
    for table in results.tables:
        if not table["name"].startswith("mnist"):
            continue
        ratios = [ratio for ratio in table["ratios"] if ratio["method"] == "SSCOMP"]
        if ratios:
            low, high = (f(r["ratio"] for r in ratios) for f in (min, max))
            theirs = sorted(r["paper_ratio"] for r in ratios if r["paper_ratio"])
            without = sorted(r["ratio_without_anchors"] for r in ratios)
            found["measured"].append(
                f"{table['title']}: SSCOMP takes {low:.1f} to {high:.1f} times as long as LMVSC "
                f"(released, {ratios[0]['settings']}) on the same {ratios[0]['n_rows']} rows; "
                f"{without[0]:.1f} to "
                f"{without[-1]:.1f} times if the anchors' k-means is left out, as the authors' timer "
                f"does. The paper's seconds give {theirs[0]:.1f} to {theirs[-1]:.1f} on 70 000 rows."
            )
            found["lines"] += [line for ratio in ratios for line in ratio["lines"]]
    wide = {curve["title"]: curve for curve in _curves(results) if _is_wide(curve)}
    own, baseline = wide.get(TIMED_CURVE), wide.get("SSCOMP(1)")
    if found["measured"] and own is not None and baseline is not None:
        found["measured"].append(
            f"Time grows as n^{own['slope']:.2f} for LMVSC and n^{baseline['slope']:.2f} for SSCOMP in "
            "the same run, so the ratio depends on the number of rows."
        )
        found["lines"] += own["lines"] + baseline["lines"]
    return found


def printed_speed() -> tuple[float, float]:
    """Give the least and the largest ratio of SSCOMP's printed seconds to LMVSC's on MNIST.

    Examples
    --------
    >>> [round(ratio, 1) for ratio in printed_speed()]
    [16.1, 20.9]
    """
    found = []
    for name, rows in paper.ROWS.items():
        own = paper.find_row(name, "LMVSC")
        if name.startswith("mnist") and own is not None:
            found += [row.seconds / own.seconds for row in rows if row.method == "SSCOMP"]
    return min(found), max(found)


def _curves(results: Results) -> list[Facts]:
    growth = results.facts["figures"].get("time-rows")
    return [] if growth is None else growth["curves"]


def ratios(results: Results) -> Facts:
    """Seconds of every baseline as multiples of LMVSC's, beside the paper's."""
    found = make(
        "Time against k-means and the other baselines",
        "The tables print seconds of every method on the same machine.",
    )
    for table in results.facts["tables"]:
        texts: dict[str, list[str]] = {}
        for ratio in table["ratios"]:
            if ratio["label"].endswith(tuple(f"({i})" for i in range(2, 10))):
                continue  # the first view stands for the others
            theirs = ratio["paper_ratio"]
            printed = "" if theirs is None else f" (paper {_times(theirs)})"
            where = f"on {ratio['n_rows']} rows, {ratio['settings']}"
            texts.setdefault(where, []).append(
                f"{ratio['label']} {_times(ratio['ratio'])}{printed}"
            )
            found["lines"] += ratio["lines"]
        if texts:
            title = table["title"] if table["is_present"] else f"Made data like {table['title']}"
            listed = "; ".join(f"{where}: {', '.join(each)}" for where, each in texts.items())
            found["measured"].append(
                f"{title} ({table['n_rows']} rows, which the paper's ratios are of): seconds as "
                f"multiples of LMVSC's (released) {listed}."
            )
    return found


def _times(ratio: float) -> str:
    """Write a ratio with two or three figures.

    Examples
    --------
    >>> [_times(ratio) for ratio in (248.2, 24.82, 2.482, 0.2482)]
    ['248', '24.8', '2.5', '0.25']
    """
    return f"{ratio:.{0 if ratio >= 100 else 1 if ratio >= 1 else 2}f}"


def memory(results: Results) -> Facts:
    """Who runs out of memory, and whose labels say nothing."""
    found = make(
        "Baselines that run out of memory, and the “-” entries",
        "E3SC and MLRSSC are “not appliable” to Reuters and NUS for want of memory (64 GB); on "
        "MNIST only SSCOMP and LMVSC run; “-” stands for NMI close to zero.",
    )
    needs: dict[str, list[str]] = {}
    for table in results.facts["tables"]:
        listed = [
            f"{r['label']} {bytes_in_words(r['bytes_needed'])}"
            + (" (refused here)" if r["is_refused"] else "")
            for r in table["refusals"]
        ]
        if listed:
            text = f"{table['n_rows']} rows: our implementations would hold {', '.join(listed)}."
            needs.setdefault(text, []).append(table["title"])
            found["lines"] += [line for r in table["refusals"] for line in r["lines"]]
    found["measured"] += [f"{'; '.join(titles)}, {text}" for text, titles in needs.items()]
    for table in results.tables:
        rows = [row for row in results.rows(table, TUNED) if row["method"] in methods.BASELINES]
        flat = [row for row in rows if row["scores"]["nmi"]["best"] < NEAR_ZERO]
        if flat:
            labels = ", ".join(
                f"{row['label']} {row['scores']['nmi']['best']:.3f} {effort(row, table)}"
                for row in flat
            )
            found["measured"].append(f"{table['title']}: NMI near zero in the best seed: {labels}.")
        collapsed = [row for row in rows if row["largest_cluster"] > 0.9]
        if collapsed:
            labels = ", ".join(
                f"{r['label']} {r['largest_cluster']:.0%} (accuracy "
                f"{figure(r['scores']['accuracy'])}, NMI {figure(r['scores']['nmi'])})"
                for r in collapsed
            )
            found["measured"].append(
                f"{table['title']}: one cluster holds nearly all rows: {labels}."
            )
        shown = {row["label"]: row["lines"] for row in flat + collapsed}
        found["lines"] += [line for lines in shown.values() for line in lines]
    return found


def linear_time(results: Results) -> Facts:
    """How time grows with the rows."""
    found = make(
        "Time linear in the number of rows",
        "“Our proposed LMVSC method costs time only linear in n.”",
    )
    growth = results.facts["figures"].get("time-rows")
    curves = [curve for curve in _curves(results) if curve["slope"] is not None]
    for curve in curves:
        sizes, rest = [point["x"] for point in curve["points"]], curve["slope_without_anchors"]
        without = "" if rest is None else f", without the anchors' k-means as n^{rest:.2f},"
        found["measured"].append(
            f"{curve['title']} on {growth['data']}: seconds grow as n^{curve['slope']:.2f}{without} "
            f"from {min(sizes)} to {max(sizes)} rows ({len(sizes)} sizes, one seed)."
        )
        found["lines"] += [line for point in curve["points"] for line in point["lines"]]
    own = next((curve for curve in curves if curve["title"] == TIMED_CURVE), None)
    if own is None:
        return found
    if growth["is_made"]:
        found["scope"] = "shown, not judged: made data"
    elif _is_wide(own):
        is_linear = [own[name] <= _LINEAR for name in ("slope", "slope_without_anchors")]
        found["verdict"] = YES if all(is_linear) else PARTLY if any(is_linear) else NO
        found["scope"] = (
            f"by {own['title']} on {growth['data']}, with and without the anchors' k-means: a power "
            f"of {_LINEAR:g} at most"
        )
    else:
        found["scope"] = "shown, not judged: too few sizes, or too small"
    return found


def _is_wide(curve: Facts) -> bool:
    """Whether sizes tell a power: at least four, from a thousand rows on, over a factor of eight."""
    sizes = [point["x"] for point in curve["points"]]
    return len(sizes) >= 4 and min(sizes) >= 1000 and max(sizes) >= 8 * min(sizes)
