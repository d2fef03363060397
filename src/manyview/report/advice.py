"""What a careful colleague would say: what to look at first, and what to be wary of.

Each piece of advice is a dict: ``level`` ("warning" or "note"), ``title``, ``text``, and ``section``,
the part of the report that shows more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Advice = dict[str, str]
Summary = dict[str, Any]

UNSTABLE = 0.8
SHAKY = 0.6
_SILENT = 0.005  # a weight that is shown as 0.00
_MAX_LISTED = 8


def give_advice(summary: Summary) -> list[Advice]:
    """Give all advice there is, warnings first."""
    rules = (
        _collapsed, _tiny, _unstable, _unsure, _disagreeing, _repeated, _gap, _unsolved,
        _seedless, _only_one_view, _confused, _ids,
    )  # fmt: skip
    advice = [item for rule in rules for item in rule(summary)]
    return sorted(advice, key=lambda item: item["level"] != "warning")


def number(value: float) -> str:
    r"""Write a whole number with narrow spaces between thousands.

    Examples
    --------
    >>> number(1234567).split("\u202f")
    ['1', '234', '567']
    """
    return f"{value:,.0f}".replace(",", "\u202f")


def percent(share: float) -> str:
    """Write a share in per cent; small ones are not called nothing.

    Examples
    --------
    >>> percent(0.251), percent(0.001), percent(0.0), percent(0.9999), percent(1)
    ('25 %', '< 1 %', '0 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


def _advice(level: str, title: str, text: str, section: str) -> Advice:
    return {"level": level, "title": title, "text": text, "section": section}


def _name(clusters: list[int]) -> str:
    """Name clusters in words."""
    shown = [str(c) for c in clusters[:_MAX_LISTED]]
    if len(clusters) > _MAX_LISTED:
        shown.append(f"{len(clusters) - _MAX_LISTED} more")
    if len(shown) == 1:
        return f"cluster {shown[0]}"
    return f"clusters {', '.join(shown[:-1])} and {shown[-1]}"


def _collapsed(summary: Summary) -> Iterator[Advice]:
    clusters = summary["clusters"]
    empty = [c["cluster"] for c in clusters if c["size"] == 0]
    if empty:
        yield _advice(
            "warning",
            f"{len(empty)} of {len(clusters)} clusters are empty",
            f"No row is in {_name(empty)}. There are too few distinct rows, or too many clusters were "
            "asked for.",
            "clusters",
        )
    largest = max(clusters, key=lambda c: c["size"])
    if len(clusters) > 1 and largest["share"] > max(0.8, 2 / len(clusters)):
        yield _advice(
            "warning",
            f"Cluster {largest['cluster']} holds {percent(largest['share'])} of the rows",
            "The others may be a few odd rows split off rather than groups. Look at their members, "
            "try another scaling, or leave odd rows out.",
            "clusters",
        )


def _tiny(summary: Summary) -> Iterator[Advice]:
    clusters = summary["clusters"]
    limit = max(5.0, 0.05 * summary["n_rows"] / len(clusters))
    tiny = [c["cluster"] for c in clusters if 0 < c["size"] < limit]
    if tiny and summary["n_rows"] >= 10 * len(clusters):
        yield _advice(
            "warning",
            f"{_name(tiny)} {'is' if len(tiny) == 1 else 'are'} tiny".capitalize(),
            f"Fewer than {number(limit)} rows each. Odd rows, duplicates or a real rare group: look at "
            "the members before you use them.",
            "clusters",
        )


def _unstable(summary: Summary) -> Iterator[Advice]:
    stability = summary["stability"]
    if stability is None:
        return
    mean = sum(stability["ari"]) / len(stability["ari"])
    shaky = [
        c["cluster"]
        for c in summary["clusters"]
        if c.get("stability") is not None and c["stability"] < SHAKY
    ]
    if mean < UNSTABLE:
        used = 1 + max(graph["repeat"] for graph in summary["run"]["solver"]["graphs"])
        yield _advice(
            "warning",
            f"Other seeds give other clusters (ARI {mean:.2f})",
            f"Fits of {number(summary['sampling']['n_studied'])} rows with other seeds agree only in "
            f"part with this one. More anchor seeds (n_repeats={2 * used}; here {used}) leave less to "
            "chance; another number of clusters may fit better.",
            "clusters",
        )
    if shaky and len(shaky) < len(summary["clusters"]):
        yield _advice(
            "note",
            f"Other seeds do not find {_name(shaky)} again",
            f"Their best match in a second fit overlaps by less than {percent(SHAKY)}. Be careful "
            "with what you conclude from them.",
            "clusters",
        )


def _unsure(summary: Summary) -> Iterator[Advice]:
    sureness = summary["sureness"]
    if sureness is not None and sureness["unsure_share"] > 0.25:
        yield _advice(
            "warning",
            f"{percent(sureness['unsure_share'])} of the rows lie between clusters",
            "The groups run into each other. That may be how the data are (a continuum), or the number "
            "of clusters is not right.",
            "map",
        )


def _disagreeing(summary: Summary) -> Iterator[Advice]:
    for view in summary["views"]:
        if view.get("problem"):
            yield _advice(
                "note",
                f"View “{view['name']}” could not be clustered alone",
                view["problem"],
                "views",
            )
    views = [view for view in summary["views"] if view.get("nmi") is not None]
    if len(views) == 2:
        yield from _strangers(views, summary["agreement"]["nmi"][0][1])
    elif len(views) > 2:
        yield from _outsiders(views, summary["agreement"]["nmi"])


def _strangers(views: list[dict[str, Any]], agreement: float) -> Iterator[Advice]:
    if agreement < 0.1:
        first, second = (view["name"] for view in views)
        yield _advice(
            "warning",
            f"“{first}” and “{second}” have little in common",
            f"The clusters of one say nearly nothing of the other's (NMI {agreement:.2f}). One of them "
            "may be noise; then the other alone would do better.",
            "views",
        )


def _outsiders(views: list[dict[str, Any]], agreement: list[list[float]]) -> Iterator[Advice]:
    """Give the views whose agreement with the others is not half of the others' among themselves."""
    numbers = range(len(views))
    for i, view in enumerate(views):
        mean = sum(agreement[i][j] for j in numbers if j != i) / (len(views) - 1)
        rest = [agreement[a][b] for a in numbers for b in range(a) if i not in (a, b)]
        usual = sum(rest) / len(rest)
        if mean < 0.5 * usual and view["nmi"] < 0.5 and usual > 0.2:
            is_silent = view["weight"] < _SILENT
            yield _advice(
                "note" if is_silent else "warning",
                f"View “{view['name']}” disagrees with all others",
                f"Its own clusters share little with theirs (mean NMI {mean:.2f}, theirs {usual:.2f}). "
                "It may be noise, or see something the others cannot. "
                + (
                    f"It has no say here (weight {view['weight']:.2f}); set view_weights to give it one."
                    if is_silent
                    else "Compare a fit without it."
                ),
                "views",
            )


def _repeated(summary: Summary) -> Iterator[Advice]:
    duplicates = summary["duplicates"]
    if duplicates is None:
        return
    share = duplicates["n_repeated"] / duplicates["n_rows"]
    if share > 0.01:
        whole = "" if duplicates["n_rows"] == summary["n_rows"] else " of the rows looked at"
        yield _advice(
            "warning" if share > 0.1 else "note",
            f"{percent(share)}{whole} repeat an earlier row",
            f"{number(duplicates['n_repeated'])} of {number(duplicates['n_rows'])} rows equal another "
            "one in every view. Repeated rows pull anchors and centres towards themselves.",
            "clusters",
        )


def _gap(summary: Summary) -> Iterator[Advice]:
    spectrum = summary["spectrum"]
    if spectrum["is_at_odds"]:
        k, suggested = summary["n_clusters"], spectrum["suggested"]
        yield _advice(
            "note",
            f"The spectrum suggests {suggested} clusters, not {k}",
            f"Its largest gap comes after value {suggested}. The gap is a hint, not a proof; compare "
            f"with a fit of {suggested}.",
            "spectrum",
        )


def _unsolved(summary: Summary) -> Iterator[Advice]:
    failed = summary["run"]["solver"].get("n_failed", 0)
    if failed:
        yield _advice(
            "warning",
            f"{number(failed)} graph rows were not solved to tolerance",
            "A larger alpha makes the problems better conditioned.",
            "run",
        )


def _seedless(summary: Summary) -> Iterator[Advice]:
    if not summary["run"]["is_repeatable"]:
        yield _advice(
            "note",
            "This fit cannot be repeated exactly",
            "No seed was given. Pass random_state=0 (or any whole number) to get the same labels again.",
            "run",
        )


def _only_one_view(summary: Summary) -> Iterator[Advice]:
    by_view: dict[str, list[int]] = {}
    for cluster in summary["clusters"]:
        if cluster.get("only_view") is not None:
            by_view.setdefault(cluster["only_view"], []).append(cluster["cluster"])
    together = by_view.pop("", [])
    for name, clusters in by_view.items():
        yield _advice(
            "note",
            f"Only view “{name}” sees {_name(clusters)}",
            "No other view separates these rows by itself. If that view is in doubt, so are they.",
            "views",
        )
    if together:
        yield _advice(
            "note",
            f"No single view sees {_name(together)}",
            "They come out only when the views are put together.",
            "views",
        )


def _confused(summary: Summary) -> Iterator[Advice]:
    worst = max(
        (c for c in summary["clusters"] if c.get("unsure_share") is not None),
        key=lambda c: c["unsure_share"],
        default=None,
    )
    if worst is not None and worst["unsure_share"] > 0.1 and worst["neighbour"] is not None:
        yield _advice(
            "note",
            f"Cluster {worst['cluster']} is the least clear",
            f"{percent(worst['unsure_share'])} of it lies between clusters; its nearest neighbour is "
            f"cluster {worst['neighbour']}.",
            "clusters",
        )


def _ids(summary: Summary) -> Iterator[Advice]:
    ids = (summary.get("map") or {}).get("id")
    if ids and len(set(ids)) < len(ids):
        yield _advice(
            "note",
            f"{number(len(ids) - len(set(ids)))} ids occur more than once",
            "Rows with the same id cannot be told apart in lists and downloads; row numbers can.",
            "clusters",
        )
