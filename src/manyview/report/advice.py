"""What a careful colleague would say: what to look at first, and what to be wary of.

Each piece of advice is a dict: ``level`` ("warning" or "note"), ``title``, ``text``, and ``section``,
the part of the report that shows more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manyview.explain.cautions import about_sizes, name_clusters, number, percent

Advice = dict[str, str]
Summary = dict[str, Any]

UNSTABLE = 0.8
SHAKY = 0.6
_MIXED = 0.7  # least mixing of groups that is not warned about
_SILENT = 0.005  # a weight that is shown as 0.00


def give_advice(summary: Summary) -> list[Advice]:
    """All advice there is, warnings first."""
    rules = (_sizes, _stability, _confidence, _groups, _agreement, _only_one_view, _rows, _run)
    advice = [item for rule in rules for item in rule(summary)]
    return sorted(advice, key=lambda item: item["level"] != "warning")


def _warning(section: str, title: str, text: str) -> Advice:
    return {"level": "warning", "title": title, "text": text, "section": section}


def _note(section: str, title: str, text: str) -> Advice:
    return {**_warning(section, title, text), "level": "note"}


def _sizes(summary: Summary) -> Iterator[Advice]:
    sizes = {cluster["cluster"]: cluster["size"] for cluster in summary["clusters"]}
    for title, text in about_sizes(sizes):
        yield _warning("clusters", title, text)


def _stability(summary: Summary) -> Iterator[Advice]:
    stability, clusters = summary["stability"], summary["clusters"]
    if stability is None:
        return
    mean = sum(stability["ari"]) / len(stability["ari"])
    if mean < UNSTABLE:
        built = 1 + max(graph["repeat"] for graph in summary["run"]["solver"]["graphs"])
        chosen = [c["value"] for c in summary["run"]["choices"] if c["parameter"] == "n_repeats"]
        used = max([built, *chosen])
        yield _warning(
            "clusters",
            f"Other seeds give other clusters (ARI {mean:.2f})",
            f"Clusters of {number(summary['sampling']['n_studied'])} rows by other anchor seeds agree "
            f"only in part with these. More of them (n_repeats={2 * used}; here {used}) leave less to "
            "chance; another number of clusters may fit better.",
        )
    known = [c for c in clusters if c.get("stability") is not None]
    shaky = [c["cluster"] for c in known if c["stability"] < SHAKY]
    if shaky and len(shaky) < len(clusters):
        yield _note(
            "clusters",
            f"Other seeds do not find {name_clusters(shaky)} again",
            f"Their best match there overlaps by less than {percent(SHAKY)}. Be careful "
            "with what you conclude from them.",
        )


def _confidence(summary: Summary) -> Iterator[Advice]:
    if summary["confidence"] is None:
        return
    share = summary["confidence"]["unsure_share"]
    if share > 0.25:
        yield _warning(
            "map",
            f"{percent(share)} of the rows lie between clusters",
            "The groups run into each other. That may be how the data are (a continuum), or the number "
            "of clusters is not right.",
        )
    known = [c for c in summary["clusters"] if c["unsure_share"] is not None]
    worst = max(known, key=lambda c: c["unsure_share"])
    if worst["unsure_share"] > 0.1 and worst["neighbour"] is not None:
        yield _note(
            "clusters",
            f"Cluster {worst['cluster']} is the least clear",
            f"{percent(worst['unsure_share'])} of it lies between clusters; its nearest neighbour is "
            f"cluster {worst['neighbour']}.",
        )


def _groups(summary: Summary) -> Iterator[Advice]:
    groups = summary["groups"]
    if groups is not None and groups["mixing"] < _MIXED:
        yield _warning(
            "clusters",
            f"Clusters still follow the groups (mixing {groups['mixing']:.2f})",
            "Either groups hold rows of different kinds, or they differ by more than their means.",
        )


def _agreement(summary: Summary) -> Iterator[Advice]:
    for view in summary["views"]:
        if view.get("problem"):
            title = f"View “{view['name']}” could not be clustered alone"
            yield _note("views", title, view["problem"])
    views = [view for view in summary["views"] if view.get("nmi") is not None]
    agreement = summary["agreement"]["nmi"] if views else []
    if len(views) == 2 and agreement[0][1] < 0.1:
        yield _warning(
            "views",
            f"“{views[0]['name']}” and “{views[1]['name']}” have little in common",
            f"The clusters of one say nearly nothing of the other's (NMI {agreement[0][1]:.2f}). One of "
            "them may be noise; then the other alone would do better.",
        )
    numbers = range(len(views))
    for i, view in enumerate(views if len(views) > 2 else []):
        mean = sum(agreement[i][j] for j in numbers if j != i) / (len(views) - 1)
        rest = [agreement[a][b] for a in numbers for b in range(a) if i not in (a, b)]
        usual = sum(rest) / len(rest)
        if mean < 0.5 * usual and view["nmi"] < 0.5 and usual > 0.2:
            is_silent = view["weight"] < _SILENT
            weight = f"weight {view['weight']:.2f}"
            yield (_note if is_silent else _warning)(
                "views",
                f"View “{view['name']}” disagrees with all others",
                f"Its own clusters share little with theirs (mean NMI {mean:.2f}, theirs {usual:.2f}). "
                "It may be noise, or see something the others cannot. "
                + (
                    f"It has no say here ({weight}); set view_weights to give it one."
                    if is_silent
                    else "Compare a fit without it."
                ),
            )


def _only_one_view(summary: Summary) -> Iterator[Advice]:
    by_view: dict[str, list[int]] = {}
    for cluster in summary["clusters"]:
        if cluster.get("only_view") is not None:
            by_view.setdefault(cluster["only_view"], []).append(cluster["cluster"])
    together = by_view.pop("", [])
    for name, clusters in by_view.items():
        yield _note(
            "views",
            f"Only view “{name}” sees {name_clusters(clusters)}",
            "No other view separates these rows by itself. If that view is in doubt, so are they.",
        )
    if together:
        title = f"No single view sees {name_clusters(together)}"
        yield _note("views", title, "They come out only when the views are put together.")


def _rows(summary: Summary) -> Iterator[Advice]:
    duplicates = summary["duplicates"] or {"n_repeated": 0, "n_rows": 1}
    n_repeated, n_rows = duplicates["n_repeated"], duplicates["n_rows"]
    share = n_repeated / n_rows
    if share > 0.01:
        whole = "" if n_rows == summary["n_rows"] else " of the rows looked at"
        yield (_warning if share > 0.1 else _note)(
            "clusters",
            f"{percent(share)}{whole} repeat an earlier row",
            f"{number(n_repeated)} of {number(n_rows)} rows equal another one in every view. Repeated "
            "rows pull anchors and centres towards themselves.",
        )
    ids = (summary.get("map") or {}).get("id") or []
    if len(set(ids)) < len(ids):
        yield _note(
            "clusters",
            f"{number(len(ids) - len(set(ids)))} ids occur more than once",
            "Rows with the same id cannot be told apart in lists and downloads; row numbers can.",
        )


def _run(summary: Summary) -> Iterator[Advice]:
    run, spectrum = summary["run"], summary["spectrum"]
    if spectrum["is_at_odds"]:
        suggested = spectrum["suggested"]
        yield _note(
            "spectrum",
            f"The spectrum suggests {suggested} clusters, not {summary['n_clusters']}",
            f"Its largest gap comes after value {suggested}. The gap is a hint, not a proof; compare "
            f"with a fit of {suggested}.",
        )
    if failed := run["solver"].get("n_failed", 0):
        title = f"{number(failed)} graph rows were not solved to tolerance"
        yield _warning("run", title, "A larger alpha makes the problems better conditioned.")
    if not run["is_repeatable"]:
        yield _note(
            "run",
            "This fit cannot be repeated exactly",
            "No seed was given. Pass random_state=0 (or any whole number) to get the same labels again.",
        )
