"""What was measured for each section of the page: table lines, values to judge, and what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manyview.bench.cells import Line
from manyview.reproduce import figures, methods, paper
from manyview.reproduce.claims import Case, Measured
from manyview.reproduce.drawings import Curve, Dots, Plot
from manyview.reproduce.plan import Entry
from manyview.reproduce.problems import PROBLEMS, Problem
from manyview.reproduce.results import (
    NEAREST,
    TUNED,
    UNLABELLED,
    Results,
    Row,
    fit_slope,
    without_anchors,
)

PART, ONE_SEED = "on a part of the rows", "one seed"

_SCORES = {"accuracy": "Accuracy", "nmi": "NMI", "inverse_purity": "Inverse purity"}
_MULTI_VIEW = ("caltech7", "caltech20", "handwritten", "reuters", "nus")
_BESIDE_PAPER = "One dot a seed; the upright line is what the paper prints."
_SECONDS = ("Logarithmic axes. The same is in the table.", "rows", "seconds", True)


def _why_not(*rows: Row) -> str:
    """Why rows are not to be judged, if so."""
    if not all(row.is_whole for row in rows):
        return PART
    return "" if min(len(row.lines) for row in rows) > 1 else ONE_SEED


def _lines(*rows: Row | None) -> list[Line]:
    return [line for row in rows if row is not None for line in row.lines]


def _dots(row: Row) -> Dots:
    label = f"{row.entry.problem.title}: {row.label}"
    return Dots(label, row.values("accuracy"), row.printed and row.printed.accuracy)


def measure_figures(results: Results) -> Measured:
    """LMVSC's printed figures beside ours; the better of both variants stands for the paper's."""
    cases = []
    for problem in results.problems:
        row = results.published(problem)
        if row is None or row.printed is None:
            continue
        printed = {"accuracy": row.printed.accuracy or 0.0, "nmi": row.printed.nmi or 0.0}
        n_near = sum(value >= printed["accuracy"] - 0.03 for value in row.values("accuracy"))
        beside = [text for s in printed for text in (f"{printed[s]:.4f}", row.figure(s))]
        gap = min(row.mean(score) - printed[score] for score in printed)
        cells = [problem.title, f"{row.label}, {row.settings}", *beside,
                 f"{n_near} of {len(row.lines)}", f"{row.n_rows}"]  # fmt: skip
        why_not = "" if row.is_whole else PART
        cases.append(Case(cells, {"reached": gap}, 0.0, why_not, row.lines, [_dots(row)]))
    head = ["Data", "Best setting", "Accuracy, paper", "Here", "NMI, paper", "Here",
            "Seeds within .03", "Rows"]  # fmt: skip
    return Measured(head, cases, Plot("Accuracy of LMVSC", _BESIDE_PAPER))


def measure_gain(results: Results) -> Measured:
    """LMVSC beside the best baseline, on the five multi-view tables."""
    cases = []
    for problem in results.problems:
        own, best = results.published(problem), results.best_baseline(problem)
        if own is None or best is None or problem.name not in _MULTI_VIEW:
            continue
        gain, spread = own.mean() - best.mean(), max(own.spread(), best.spread())
        accuracies = {row.label: row.accuracy or 0.0 for row in paper.ROWS[problem.name]}
        printed = accuracies.pop("LMVSC") - max(accuracies.values())
        cells = [problem.title, own.figure(), f"{best.label}: {best.figure()}", f"{gain:+.3f}",
                 f"{printed:+.3f}"]  # fmt: skip
        rows = [own, *results.find(problem, TUNED, *methods.BASELINES)]
        why_not, lines = _why_not(own, best), _lines(own, best)
        cases.append(Case(cells, {"gain": gain}, spread, why_not, lines, list(map(_dots, rows))))
    head = ["Data", "LMVSC, accuracy", "Best baseline, accuracy", "Gain", "Paper"]
    return Measured(head, cases, Plot("Accuracy of all methods", _BESIDE_PAPER))


def measure_single_views(results: Results) -> Measured:
    """LMVSC beside the best single view of SSCOMP and E3SC, on the same rows."""
    cases = []
    for problem in results.problems:
        best = results.best_baseline(problem, *methods.SINGLE_VIEW)
        whole = results.published(problem)
        own = best and whole and _on_rows(whole, best.n_rows, results)
        if best is None or whole is None or own is None:
            continue
        gaps = {score: own.mean(score) - best.mean(score) for score in _SCORES}
        worst = min(gaps, key=lambda score: gaps[score])
        spread = max(whole.spread(worst), best.spread(worst))  # that of fewer rows may be unknown
        beside = [f"{own.figure(score)} / {best.figure(score)}" for score in _SCORES]
        cells = [problem.title, best.label, *beside, f"{best.n_rows}"]
        why_not, drawn = "" if len(whole.lines) > 1 else ONE_SEED, [_dots(own), _dots(best)]
        cases.append(Case(cells, {"best": gaps[worst]}, spread, why_not, _lines(own, best), drawn))
    head = ["Data", "Best single view", *(f"{s}, LMVSC / it" for s in _SCORES.values()), "Rows"]
    return Measured(head, cases, Plot("All views and the best single view", _BESIDE_PAPER))


def _on_rows(row: Row, n_rows: int, results: Results) -> Row | None:
    """A published variant's best setting on so many rows."""
    if row.n_rows == n_rows:
        return row
    tried = [results.store.seeds(row.entry.cell(s, n_rows)) for s in row.entry.candidates]
    found = [Row(row.entry, row.label, TUNED, lines, row.printed) for lines in tried if lines]
    return max(found, key=Row.mean, default=None)


def measure_speed(results: Results) -> Measured:
    """Seconds of SSCOMP as multiples of LMVSC's on the same rows, with and without the anchors."""
    cases: list[Case] = []
    noisy = [problem for problem in results.problems if problem.name in figures.NOISY]
    for entry in [Entry(problem, "SSCOMP", view) for problem in noisy for view in range(3)]:
        if not (pairs := _timed_pairs(results, entry)):
            continue
        theirs, ours = pairs[-1]
        seconds = [theirs["seconds"], ours["seconds"], without_anchors(ours)]
        ratios = {"whole": seconds[0] / seconds[1], "timed": seconds[0] / seconds[2]}
        printed = {row.label: row.seconds for row in paper.ROWS[entry.problem.name]}
        cells = [entry.problem.title, entry.label, f"{theirs['n_rows']}",
                 *(f"{one:.2f}" for one in (*seconds, *ratios.values())),
                 f"{printed[entry.label] / printed['LMVSC']:.1f}"]  # fmt: skip
        curves = [
            _curve(entry.label, [a for a, _ in pairs]),
            _curve("LMVSC", [b for _, b in pairs]),
            _curve("LMVSC, anchors not timed", [b for _, b in pairs], without_anchors),
        ]
        cases.append(Case(cells, ratios, 0.0, "", pairs[-1], [] if cases else curves))
    head = ["Data", "Method", "Rows", "Its seconds", "LMVSC's, m = 50", "LMVSC's, anchors not timed",
            "Ratio", "Ratio, anchors not timed", "Paper's ratio"]  # fmt: skip
    return Measured(head, cases, Plot("Seconds of SSCOMP and LMVSC", *_SECONDS))


def _seconds(line: Line) -> float:
    return float(line["seconds"])


def _curve(label: str, lines: Sequence[Line], seconds: Callable[[Line], float] = _seconds) -> Curve:
    return Curve(label, [line["n_rows"] for line in lines], [seconds(line) for line in lines])


def _timed_pairs(results: Results, entry: Entry) -> list[tuple[Line, Line]]:
    """The fits of a method on its defaults, and those of LMVSC on the same rows and machine."""
    own, found = Entry(entry.problem, methods.RELEASED), []
    for rows in entry.problem.sizes:
        done = results.store.done([entry.cell(entry.default, rows), own.cell(own.default, rows)])
        if len(done) == 2 and len({(line["cpu"], line["cores"]) for line in done}) == 1:
            found.append((done[0], done[1]))
    return found


def measure_linear_time(results: Results) -> Measured:
    """The fitted power of n of every method's seconds."""
    cases = []
    for entry in figures.growing():
        cells = [entry.cell(entry.default, rows) for rows in entry.problem.sizes]
        curve = _curve(entry.label, lines := results.store.done(cells))
        if len(lines) < 2:
            continue
        values = {"whole": fit_slope(curve.x, curve.y)}
        if is_own := entry.method in methods.PUBLISHED:
            values["timed"] = fit_slope(curve.x, _curve("", lines, without_anchors).y)
        listed = ", ".join(f"{x}: {y:.2f}" for x, y in zip(curve.x, curve.y, strict=True))
        timed = f"{values['timed']:.2f}" if is_own else ""
        drawn = curve._replace(label=f"{entry.label}, n^{values['whole']:.2f}")
        why_not = "" if len(lines) > 3 else "too few sizes"
        texts = [entry.label, f"{values['whole']:.2f}", timed, listed]
        cases.append(Case(texts, values if is_own else {}, 0.0, why_not, lines, [drawn]))
    head = ["Method", "Power of n", "Anchors not timed", "Rows: seconds"]
    title = f"Seconds against rows, {PROBLEMS[figures.GROWING].title}"
    return Measured(head, cases, Plot(title, *_SECONDS))


def measure_anchors(results: Results) -> Measured:
    """Accuracy by the number of anchors, the best alpha for each."""
    return _measure_setting(results, "n_anchors", "m", "fewest")


def measure_alpha(results: Results) -> Measured:
    """Accuracy by alpha, the best number of anchors for each."""
    return _measure_setting(results, "alpha", "alpha", "smallest")


def _measure_setting(results: Results, name: str, word: str, key: str) -> Measured:
    """Best accuracy by one setting; judged is the smallest value against the largest."""
    cases = []
    for problem in [PROBLEMS[name] for name in figures.SENSITIVE]:
        for label, grid in _grids(results, problem).items():
            found: dict[float, list[Row]] = {}
            for lines in grid:
                row = Row(Entry(problem, label), label, TUNED, lines, None)
                found.setdefault(lines[0]["settings"][name], []).append(row)
            if len(found) < 2:
                continue
            best = {x: max(found[x], key=Row.mean) for x in sorted(found)}
            first, last = best[min(best)], best[max(best)]
            value = {} if label == methods.DEFAULT else {key: first.mean() - last.mean()}
            listed = ", ".join(f"{x:g}: {row.figure()}" for x, row in best.items())
            cells = [problem.title, label, listed, f"{first.n_rows}", f"{len(first.lines)}"]
            y = [row.mean() for row in best.values()]
            spread, why_not = max(first.spread(), last.spread()), _why_not(first, last)
            drawn = Curve(f"{problem.title}: {label}", list(best), y)
            every = [line for lines in grid for line in lines]
            cases.append(Case(cells, value, spread, why_not, every, [drawn]))
    text = "The higher the better. The same is in the table."
    head = ["Data", "Method", f"{word}: best accuracy", "Rows", "Seeds"]
    return Measured(head, cases, Plot(f"Accuracy against {word}", text, word, "accuracy"))


def _grids(results: Results, problem: Problem) -> dict[str, list[list[Line]]]:
    """Fits of every setting on the same rows, by method: both published variants, and ours."""
    store, grids = results.store, {}
    for entry in [Entry(problem, name) for name in methods.PUBLISHED]:
        rows = entry.tuned_on(store) or 0
        grids[entry.label] = [store.seeds(entry.cell(s, rows)) for s in entry.candidates]
    ours = [c for c in figures.our_grid(problem, results.options) if c.seed == 0]
    grids[methods.DEFAULT] = [store.seeds(cell) for cell in ours]
    return {label: list(filter(None, lines)) for label, lines in grids.items()}


def measure_purity(results: Results) -> Measured:
    """The lowest purity that the paper prints, and the largest class, which purity cannot be below."""
    cases = []
    for name, rows in paper.ROWS.items():
        problem, counts = PROBLEMS[name], PROBLEMS[name].info.class_counts
        printed = {row.label: row.purity for row in rows if row.purity is not None}
        if not counts:
            continue
        lowest, share = min(printed, key=lambda label: printed[label]), max(counts) / sum(counts)
        own = results.published(problem)
        ours = [own.figure(score) if own else "–" for score in ("inverse_purity", "purity")]
        cells = [problem.title, f"{share:.4f}", f"{lowest}: {printed[lowest]:.4f}",
                 f"{printed['LMVSC']:.4f}", *ours]  # fmt: skip
        gap, dots = printed[lowest] - share, Dots(problem.title, [*printed.values()], share)
        value = {"possible": gap} if gap < 0 else {}  # above it nothing can be told
        cases.append(Case(cells, value, 0.0, "", _lines(own), [dots]))
    head = ["Data", "Largest class", "Lowest printed purity", "LMVSC, printed",
            "LMVSC, inverse purity here", "LMVSC, purity here"]  # fmt: skip
    text = "One dot a method; no purity can be left of the upright line."
    return Measured(head, cases, Plot("Printed purities", text))


def measure_baselines(results: Results) -> Measured:
    """The baselines' printed accuracy, and ours: near the paper's settings, by default, tuned."""
    cases = []
    for problem in results.problems:
        for row in results.find(problem, TUNED, *methods.BASELINES):
            if row.printed is None or row.printed.accuracy is None:
                continue
            near, default = (results.same(row, how) for how in (NEAREST, UNLABELLED))
            gap = row.mean() - row.printed.accuracy
            steps = [one.figure() if one else "–" for one in (near, default)]
            cells = [_dots(row).label, f"{row.printed.accuracy:.4f}", *steps,
                     methods.AS_PRINTED[row.entry.method][1], row.figure(), row.settings,
                     f"{gap:+.3f}", f"{row.n_rows}"]  # fmt: skip
            why_not, lines = _why_not(row), _lines(row, near, default)
            cases.append(Case(cells, {"same": gap}, row.spread(), why_not, lines, [_dots(row)]))
    head = ["Method", "Paper", "Nearest to the paper's", "Our defaults", "Which differ in", "Tuned",
            "Settings", "Difference", "Rows"]  # fmt: skip
    return Measured(head, cases, Plot("Accuracy of baselines", _BESIDE_PAPER))


def measure_row_order(results: Results) -> Measured:
    """Every method on rows in the order of the file, where classes come one after the other, and not."""
    cases = []
    for one in figures.ordered(results.options):
        lines = [results.store.done(cells) for cells in (one.in_file_order, one.shuffled)]
        if not all(lines):
            continue
        entry = Entry(PROBLEMS[figures.ORDERED], one.title)
        filed, mixed = (Row(entry, one.title, TUNED, same, None) for same in lines)
        gap, spread = filed.mean() - mixed.mean(), filed.spread() + mixed.spread()
        both = [f"{row.figure()} / {row.figure('nmi')}" for row in (filed, mixed)]
        dots = Dots(one.title, mixed.values("accuracy"), filed.mean())
        cells = [one.title, *both, f"{gap:+.3f}"]
        key = {"TBGL": "tensor", figures.CONTROL: ""}.get(one.title, "same")
        why_not = "" if min(map(len, lines)) > 1 else ONE_SEED
        cases.append(Case(cells, {key: gap}, spread, why_not, _lines(filed, mixed), [dots]))
    head = ["Method", "Order of the file, accuracy / NMI", "Shuffled", "Difference"]
    text = "One dot a shuffle; the upright line is the accuracy in the order of the file."
    return Measured(head, cases, Plot("Accuracy on shuffled rows, MSRC-v1", text))


MEASURES: dict[str, Callable[[Results], Measured]] = {
    "figures": measure_figures,
    "gain": measure_gain,
    "single_views": measure_single_views,
    "speed": measure_speed,
    "linear_time": measure_linear_time,
    "anchors": measure_anchors,
    "alpha": measure_alpha,
    "purity": measure_purity,
    "baselines": measure_baselines,
    "row_order": measure_row_order,
}
"""What measures each section; ``sections.csv`` has their titles."""
