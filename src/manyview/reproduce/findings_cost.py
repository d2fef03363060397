"""What is measured of the paper's claims about time and memory."""

from __future__ import annotations

from manyview.reproduce.evidence import (
    NO,
    PARTLY,
    YES,
    Measured,
    Measurements,
    Results,
    effort,
    finding,
    scores,
)
from manyview.reproduce.figure_plan import TIMED_CURVE
from manyview.reproduce.tables import NEAR_ZERO, Facts
from manyview.wording import bytes_in_words

_LINEAR = 1.15
"""Fitted powers of n up to this count as linear."""


@finding(
    "Time against SSCOMP on MNIST",
    "“Our method is 20 times faster than SSCOMP”: 16.1 to 20.9 times by the printed seconds.",
)
def speed(results: Results) -> Measurements:
    """How much slower SSCOMP is on MNIST."""
    is_measured = False
    for table in results.tables:
        ratios = [ratio for ratio in table["ratios"] if ratio["method"] == "SSCOMP"]
        if not table["name"].startswith("mnist") or not ratios:
            continue
        is_measured = True
        whole, without, theirs = (
            "{:.1f} to {:.1f}".format(*(f(r[name] for r in ratios if r[name]) for f in (min, max)))
            for name in ("ratio", "ratio_without_anchors", "paper_ratio")
        )
        yield Measured(
            f"{table['title']}: SSCOMP takes {whole} times as long as LMVSC (released, "
            f"{ratios[0]['settings']}) on the same {ratios[0]['n_rows']} rows; {without} times if the "
            "anchors' k-means is left out, as the authors' timer does. The paper's seconds give "
            f"{theirs} on 70 000 rows.",
            [line for ratio in ratios for line in ratio["lines"]],
        )
    wide = {curve["title"]: curve for curve in _curves(results) if _is_wide(curve)}
    own, other = wide.get(TIMED_CURVE), wide.get("SSCOMP(1)")
    if is_measured and own is not None and other is not None:
        yield Measured(
            f"Time grows as n^{own['slope']:.2f} for LMVSC and n^{other['slope']:.2f} for SSCOMP in "
            "the same run, so the ratio depends on the number of rows.",
            own["lines"] + other["lines"],
        )


def _curves(results: Results) -> list[Facts]:
    growth = results.facts["figures"].get("time-rows")
    return [] if growth is None else growth["curves"]


@finding(
    "Time against k-means and the other baselines",
    "The tables print seconds of every method on the same machine.",
)
def ratios(results: Results) -> Measurements:
    """Seconds of every baseline as multiples of LMVSC's, beside the paper's."""
    for table in results.facts["tables"]:
        texts: dict[str, list[str]] = {}
        lines = []
        for ratio in table["ratios"]:
            if ratio["label"].endswith(tuple(f"({i})" for i in range(2, 10))):
                continue  # the first view stands for the others
            theirs = ratio["paper_ratio"]
            printed = "" if theirs is None else f" (paper {_times(theirs)})"
            where = f"on {ratio['n_rows']} rows, {ratio['settings']}"
            text = f"{ratio['label']} {_times(ratio['ratio'])}{printed}"
            texts.setdefault(where, []).append(text)
            lines += ratio["lines"]
        if texts:
            title = table["title"] if table["is_present"] else f"Made data like {table['title']}"
            listed = "; ".join(f"{where}: {', '.join(each)}" for where, each in texts.items())
            yield Measured(
                f"{title} ({table['n_rows']} rows, which the paper's ratios are of): seconds as "
                f"multiples of LMVSC's (released) {listed}.",
                lines,
            )


def _times(ratio: float) -> str:
    """Write a ratio with two or three figures.

    Examples
    --------
    >>> [_times(ratio) for ratio in (248.2, 24.82, 2.482, 0.2482)]
    ['248', '24.8', '2.5', '0.25']
    """
    return f"{ratio:.{0 if ratio >= 100 else 1 if ratio >= 1 else 2}f}"


@finding(
    "Baselines that run out of memory, and the “-” entries",
    "E3SC and MLRSSC are “not appliable” to Reuters and NUS for want of memory (64 GB); on "
    "MNIST only SSCOMP and LMVSC run; “-” stands for NMI close to zero.",
)
def memory(results: Results) -> Measurements:
    """Who runs out of memory, and whose labels say nothing."""
    needs: dict[str, list[Facts]] = {}
    for table in results.facts["tables"]:
        listed = [
            f"{r['label']} {bytes_in_words(r['bytes_needed'])}"
            + (" (refused here)" if r["is_refused"] else "")
            for r in table["refusals"]
        ]
        if listed:
            text = f"{table['n_rows']} rows: our implementations would hold {', '.join(listed)}."
            needs.setdefault(text, []).append(table)
    for text, tables in needs.items():
        lines = [line for table in tables for r in table["refusals"] for line in r["lines"]]
        yield Measured(f"{'; '.join(table['title'] for table in tables)}, {text}", lines)
    for table in results.tables:
        rows = results.baselines(table)
        flat = [row for row in rows if row["scores"]["nmi"]["best"] < NEAR_ZERO]
        if flat:
            labels = ", ".join(
                f"{row['label']} {row['scores']['nmi']['best']:.3f} {effort(row, table)}"
                for row in flat
            )
            lines = [line for row in flat for line in row["lines"]]
            yield Measured(f"{table['title']}: NMI near zero in the best seed: {labels}.", lines)
        collapsed = [row for row in rows if row["largest_cluster"] > 0.9]
        if collapsed:
            labels = ", ".join(
                f"{r['label']} {r['largest_cluster']:.0%} (accuracy {scores(r, 'accuracy', 'nmi')})"
                for r in collapsed
            )
            lines = [line for row in collapsed if row not in flat for line in row["lines"]]
            text = f"{table['title']}: one cluster holds nearly all rows: {labels}."
            yield Measured(text, lines)


@finding(
    "Time linear in the number of rows", "“Our proposed LMVSC method costs time only linear in n.”"
)
def linear_time(results: Results) -> Measurements:
    """How time grows with the rows."""
    growth = results.facts["figures"].get("time-rows")
    curves = [curve for curve in _curves(results) if curve["slope"] is not None]
    for curve in curves:
        sizes, rest = [point["x"] for point in curve["points"]], curve["slope_without_anchors"]
        without = "" if rest is None else f", without the anchors' k-means as n^{rest:.2f},"
        yield Measured(
            f"{curve['title']} on {growth['data']}: seconds grow as n^{curve['slope']:.2f}{without} "
            f"from {min(sizes)} to {max(sizes)} rows ({len(sizes)} sizes, one seed).",
            [line for point in curve["points"] for line in point["lines"]],
        )
    own = next((curve for curve in curves if curve["title"] == TIMED_CURVE), None)
    if own is not None and growth["is_made"]:
        yield {"scope": "shown, not judged: made data"}
    elif own is not None and not _is_wide(own):
        yield {"scope": "shown, not judged: too few sizes, or too small"}
    elif own is not None:
        is_linear = [own[name] <= _LINEAR for name in ("slope", "slope_without_anchors")]
        yield {
            "verdict": YES if all(is_linear) else PARTLY if any(is_linear) else NO,
            "scope": f"by {own['title']} on {growth['data']}, with and without the anchors' k-means: "
            f"a power of {_LINEAR:g} at most",
        }


def _is_wide(curve: Facts) -> bool:
    """Whether sizes tell a power: at least four, from a thousand rows on, over a factor of eight."""
    sizes = [point["x"] for point in curve["points"]]
    return len(sizes) >= 4 and min(sizes) >= 1000 and max(sizes) >= 8 * min(sizes)
