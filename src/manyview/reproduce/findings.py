"""Each claim of the paper beside what was measured: sentences worked out from the facts of a run.

A finding is a dict: ``title``, ``claim`` (what the paper says), ``measured`` (a list of sentences),
``verdict``, ``scope`` (what the verdict rests on), and ``lines``, the results it was worked out from.
Nothing here is written by hand for one run: other measurements give other sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from manyview.reproduce import methods, paper
from manyview.reproduce.evidence import (
    CLOSE,
    CUT,
    UNKNOWN,
    Measured,
    Results,
    accuracy,
    beside,
    compare,
    figure,
    is_whole,
)
from manyview.reproduce.figures import TIMED_CURVE
from manyview.reproduce.plan import MANY, OURS, RELEASED, STANDARDISED, TUNED, UNLABELLED, VARIANTS
from manyview.reproduce.tables import Facts
from manyview.wording import bytes_in_words, count

MULTI_VIEW = ("caltech7", "caltech20", "handwritten", "reuters", "nus")
"""The tables that the paper's average gain is over."""

_NEAR = 0.03  # so far below the paper's figure still counts as reaching it
_NEAR_ZERO = 0.02  # NMI below this is what the paper prints as "-"
_LINEAR = 1.15  # fitted powers of n up to this count as linear
_LARGE_ALPHA = 0.1  # the middle of the paper's grid, and what is above it

Measurements = Iterator[Measured]


def find_all(facts: Facts) -> list[Facts]:
    """Every finding, those that could not be measured too."""
    results, found = Results(facts), []
    for measure in RULES:
        given = list(measure(results))
        verdict, scope = results.judge([one.outcome for one in given if one.outcome is not None])
        found.append(
            {
                **CLAIMS[measure.__name__],
                "measured": [one.text + results.in_words(one.outcome) for one in given],
                "lines": [line for one in given for line in one.lines],
                "verdict": verdict if given else UNKNOWN,
                "scope": scope,
            }
        )
    return found


CLAIMS = {line.pop("name"): line for line in paper.read_table("claims.csv")}
"""Title and claim of each finding, by the name of the function that measures it."""


def _printed(table: Facts) -> dict[str, float]:
    """Accuracy and NMI that the paper prints for LMVSC."""
    row = next(row for row in paper.ROWS[table["name"]] if row.method == "LMVSC")
    return {"accuracy": row.accuracy or 0.0, "nmi": row.nmi or 0.0}


def reached(results: Results) -> Measurements:
    """Where the printed figures of LMVSC are reached: in the mean, by lucky seeds, or not."""
    for table in results.tables:
        if (row := results.published(table)) is None:
            continue
        printed, many = _printed(table), results.row(table, MANY)
        share, words = _reach(row, many, printed)
        if many is not None:
            n_near = _n_near(many, printed)
            words += f"; {n_near} of {many['n_seeds']} seeds are within {_NEAR:g} of both, or above"
        outcome = share if row["n_seeds"] > 1 else CLOSE
        yield beside(
            table, [row, many], printed=printed,
            before=f"{words}. The better of both variants: ",
            outcome=outcome if is_whole(table, row) else CUT,
        )  # fmt: skip


def _reach(row: Facts, many: Facts | None, printed: dict[str, float]) -> tuple[float, str]:
    gaps = [row["scores"][name]["mean"] - value for name, value in printed.items()]
    where = "in the mean" if row["n_seeds"] > 1 else "in its one seed"
    if min(gaps) > _NEAR:
        return 1.0, f"exceeded by more than {_NEAR:g} {where}"
    if min(gaps) >= -_NEAR:
        return 1.0, f"reached within {_NEAR:g} {where}"
    if any(one and one["n_seeds"] > 1 and _n_near(one, printed) for one in (row, many)):
        return 0.5, "reached by lucky seeds only, not in the mean"
    return 0.0, "not reached" if row["n_seeds"] > 1 else "not reached in its one seed"


def _n_near(row: Facts, printed: dict[str, float]) -> int:
    """How many seeds of a row reach all printed figures, or nearly."""
    gaps = [[each[name] - value for name, value in printed.items()] for each in row["each"]]
    return sum(min(one) >= -_NEAR for one in gaps)


def gain(results: Results) -> Measurements:
    """How far LMVSC is ahead of the second best."""
    found, gains = [], []
    for table in results.tables:
        own, baselines = results.published(table), results.baselines(table)
        if own is None or not baselines or table["name"] not in MULTI_VIEW:
            continue
        same = [row for row in baselines if row["n_rows"] == own["n_rows"]]
        second = max(same or baselines, key=accuracy)
        found.append((table, own, second))
        gains += [accuracy(own) - accuracy(second)] if same else []
    is_average = len(gains) == len(MULTI_VIEW) and fmean(gains) >= 0.07
    for table, own, second in found:
        outcome = _compare_accuracy(own, second, table)
        printed = _printed_gain(table["name"])
        yield beside(
            table, [own, second],
            before=f"{accuracy(own) - accuracy(second):+.3f} (paper {printed:+.3f}), the better of "
            "both variants against the best baseline. ",
            outcome=0.5 if outcome == 1 and not is_average else outcome,
        )  # fmt: skip
    if gains:
        printed = fmean(map(_printed_gain, MULTI_VIEW))
        yield Measured(
            f"Mean gain on the same rows, of {len(gains)} of {len(MULTI_VIEW)} data sets: "
            f"{fmean(gains):+.3f}; of the paper's own five tables, as printed: {printed:+.3f}."
        )


def _compare_accuracy(own: Facts, other: Facts, table: Facts) -> float | str:
    one, two = (row["scores"]["accuracy"] for row in (own, other))
    return compare(one, two, is_whole=is_whole(table, own, other))


def _printed_gain(name: str) -> float:
    values = {row.label: row.accuracy or 0.0 for row in paper.ROWS[name]}
    own = values.pop("LMVSC")
    return own - max(values.values())


def speed(results: Results) -> Measurements:
    """How much slower SSCOMP is on MNIST, on each view."""
    digits = [table for table in results.tables if table["name"].startswith("mnist")]
    return _ratios(digits, lambda ratio: ratio["method"] == "SSCOMP")


def ratios(results: Results) -> Measurements:
    """Seconds of every baseline as multiples of LMVSC's; the first view stands for the others."""
    others = tuple(f"({i})" for i in range(2, 10))
    return _ratios(results.facts["tables"], lambda ratio: not ratio["label"].endswith(others))


def _ratios(tables: Sequence[Facts], is_shown: Callable[[Facts], bool]) -> Measurements:
    for table in tables:
        shown = [ratio for ratio in table["ratios"] if is_shown(ratio)]
        texts: dict[str, list[str]] = {}
        for ratio in shown:
            times = [_times(ratio[name]) for name in ("ratio", "ratio_without_anchors")]
            theirs = ratio["paper_ratio"]
            printed = "" if theirs is None else f" (paper {_times(theirs)})"
            where = f"on {ratio['n_rows']} rows, {ratio['settings']}"
            texts.setdefault(where, []).append(f"{ratio['label']} {' / '.join(times)}{printed}")
        if texts:
            title = table["title"] if table["is_present"] else f"Made data like {table['title']}"
            listed = "; ".join(f"{where}: {', '.join(each)}" for where, each in texts.items())
            yield Measured(
                f"{title} ({table['n_rows']} rows, which the paper's ratios are of): seconds as "
                "multiples of LMVSC's (released) with / without the anchors' k-means, which the "
                f"authors do not time, {listed}.",
                [line for ratio in shown for line in ratio["lines"]],
            )


def _times(ratio: float) -> str:
    """A ratio with two or three figures: 248, 24.8, 2.5, 0.25."""
    return f"{ratio:.{0 if ratio >= 100 else 1 if ratio >= 1 else 2}f}"


def linear_time(results: Results) -> Measurements:
    """How time grows with the rows."""
    growth = results.facts["figures"].get("time-rows") or {"curves": []}
    for curve in growth["curves"]:
        if curve["slope"] is None:
            continue
        sizes, rest = [point["x"] for point in curve["points"]], curve["slope_without_anchors"]
        without = "" if rest is None else f", without the anchors' k-means as n^{rest:.2f},"
        outcome: float | str | None = None
        if curve["title"] == TIMED_CURVE:
            outcome = fmean([curve["slope"] <= _LINEAR, rest <= _LINEAR])
            if len(sizes) < 4 or min(sizes) < 1000 or max(sizes) < 8 * min(sizes):
                outcome = "shown on too few sizes, or too small ones"
            if growth["is_made"]:
                outcome = "shown on made data"
        yield Measured(
            f"{curve['title']} on {growth['data']}: seconds grow as n^{curve['slope']:.2f}{without} "
            f"from {min(sizes)} to {max(sizes)} rows ({len(sizes)} sizes, one seed).",
            [line for point in curve["points"] for line in point["lines"]],
            outcome,
        )


def single_views(results: Results) -> Measurements:
    """Whether all views are better than each alone."""
    theirs = "the best single view of SSCOMP and E3SC, as the paper compares"
    its_own = "its own best single view, which is another test than the paper's"
    for table in results.tables:
        of_views = [row for row in results.rows(table, TUNED) if row["view"] is not None]
        baselines = [row for row in of_views if row["method"] in methods.SINGLE_VIEW]
        alone = [row for row in of_views if row["method"] == methods.PUBLISHED]
        for whole, rows, words in (
            (results.published(table), baselines, theirs),
            (results.row(table, RELEASED), alone, its_own),
        ):
            if whole is not None and rows:
                best = max(rows, key=accuracy)
                own = _on_rows_of(whole, best)
                yield beside(
                    table, [own, best], before=f"all views, and {words}: ",
                    outcome=_compare_accuracy(own, best, table) if rows is baselines else None,
                )  # fmt: skip


def _on_rows_of(own: Facts, other: Facts) -> Facts:
    """A published row's figures on the rows that another saw, where they were measured."""
    same = [own, *own["elsewhere"]]
    return next((row for row in same if row["n_rows"] == other["n_rows"]), own)


def anchors(results: Results) -> Measurements:
    """Which number of anchors is best."""
    return _by_setting(results, "n_anchors", over="alpha")


def alphas(results: Results) -> Measurements:
    """Which alpha is best."""
    return _by_setting(results, "alpha", over="n_anchors")


def _by_setting(results: Results, compared: str, *, over: str) -> Measurements:
    """Accuracy by one setting: of the best alpha for each m, or in the mean over m for each alpha.

    The paper's claims, of which that about m is of Handwritten, are that the fewest anchors and small
    alphas are best.
    """
    is_m = compared == "n_anchors"
    name, how = ("m", "best accuracy over alpha") if is_m else ("alpha", "mean accuracy over m")
    for grid in results.facts["figures"].get("sensitivity") or []:
        points = _comparable(grid, compared, over)
        groups = {v: [p for p in points if p[compared] == v] for v in _values(points, compared)}
        if len(groups) < 2:
            continue
        found = {
            value: _summary([max(same, key=_accuracy)] if is_m else same)
            for value, same in groups.items()
        }
        large_from = sorted(found)[1] if is_m else _LARGE_ALPHA
        small = [found[value] for value in found if value < large_from]
        large = [found[value] for value in found if value >= large_from]
        outcome = None
        is_claimed = not is_m or grid["name"] == "handwritten"
        if small and large and is_claimed and _stands_for_paper(grid, results):
            one, other = (max(part, key=_mean) for part in (small, large))
            outcome = compare(one, other, is_whole=grid["n_rows"] == grid["n_all_rows"])
        listed = ", ".join(f"{value:g}: {figure(summary)}" for value, summary in found.items())
        tried = ", ".join(f"{value:g}" for value in _values(points, over))
        yield Measured(
            f"{grid['data']}, {grid['title']} ({grid['n_rows']} of {grid['n_all_rows']} rows, "
            f"{count(grid['n_seeds'], 'seed')}): {how} ({tried}) by {name} {listed}; the best {name} "
            f"is {max(found, key=lambda value: _mean(found[value])):g}.",
            [line for point in points for line in point["lines"]],
            outcome,
        )


def _comparable(grid: Facts, compared: str, over: str) -> list[Facts]:
    """Points finished with all seeds, at the values of ``over`` that all of ``compared`` have."""
    whole = [point for point in grid["points"] if point["n"] == grid["n_seeds"]]
    places, n_values = [point[over] for point in whole], len(_values(whole, compared))
    return [point for point in whole if places.count(point[over]) == n_values]


def _values(points: Sequence[Facts], name: str) -> list[float]:
    return sorted({point[name] for point in points})


def _summary(points: Sequence[Facts]) -> Facts:
    spreads = [point["accuracy_sd"] for point in points if point["accuracy_sd"] is not None]
    return {"mean": fmean(map(_accuracy, points)), "sd": fmean(spreads) if spreads else None}


def _accuracy(point: Facts) -> float:
    return float(point["accuracy"])


def _mean(summary: Facts) -> float:
    return float(summary["mean"])


def _stands_for_paper(grid: Facts, results: Results) -> bool:
    """Whether a grid is that of the better of the two published variants."""

    def top(one: Facts) -> float:
        return max(_accuracy(point) for point in one["points"] if point["n"] == one["n_seeds"])

    same = [g for g in results.facts["figures"]["sensitivity"] if g["name"] == grid["name"]]
    return grid is max((g for g in same if not g["is_ours"]), key=top, default=None)


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
        flat = [row for row in rows if row["scores"]["nmi"]["best"] < _NEAR_ZERO]
        if flat:
            yield beside(table, flat, "nmi", before="NMI near zero in the best seed: ")
        collapsed = [row for row in rows if row["largest_cluster"] > 0.9]
        if collapsed:
            yield beside(table, collapsed, before="one cluster holds nine tenths of the rows: ")


def inverse_purity(results: Results) -> Measurements:
    """That the printed purity is inverse purity: LMVSC's, and where purity cannot be so low."""
    for table in results.tables:
        least = table["largest_class"] or 0.0
        plain = [row for row in results.rows(table, UNLABELLED) if row["method"] == methods.KMEANS]
        own = results.published(table)
        for row in [*([own] if own else []), *results.baselines(table), *plain]:
            printed = row["paper"] and row["paper"]["inverse_purity"]
            if not printed or (row is not own and printed >= least - 1e-4):
                continue
            before = f"the paper prints purity {printed:.4f} for {row['label']}"
            if printed < least - 1e-4:
                before += f", and the largest class, which purity cannot be below, is {least:.4f}"
            yield beside(table, [row], "inverse_purity", "purity", before=f"{before}. Here: ")


def normalisation(results: Results) -> Measurements:
    """What the missing normalisation changes."""
    for table in results.tables:
        rows = [row for label in VARIANTS if (row := results.row(table, label))]
        if len(rows) == 2:
            yield beside(table, rows, "accuracy", "nmi", before="with it, and without: ")


def scaling(results: Results) -> Measurements:
    """What standardised columns change."""
    for table in results.tables:
        raw, scaled = results.row(table, RELEASED), results.row(table, STANDARDISED)
        if raw is not None and scaled is not None:
            ours = results.row(table, OURS, UNLABELLED)
            before = "raw features, standardised columns, and our defaults without labels: "
            yield beside(table, [_on_rows_of(raw, scaled), scaled, ours], before=before)


def plain_kmeans(results: Results) -> Measurements:
    """Where plain k-means beats the paper's method."""
    title = methods.title(methods.KMEANS_STANDARDISED)
    for table in results.tables:
        if row := results.row(table, title, UNLABELLED):
            others = [results.published(table), results.row(table, OURS, UNLABELLED)]
            before = "k-means without labels, LMVSC tuned with them, and our defaults: "
            yield beside(table, [row, *others], printed=_printed(table), before=before)


RULES: tuple[Callable[[Results], Measurements], ...] = (
    reached, gain, speed, ratios, linear_time, single_views, anchors, alphas, memory,
    inverse_purity, normalisation, scaling, plain_kmeans,
)  # fmt: skip
"""What measures each claim, in the order of the page."""
