"""What to be wary of in a clustering, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from manyview.errors import CautionWarning, warn_user

_MAX_LISTED = 8


def number(value: float) -> str:
    r"""A whole number with narrow spaces between thousands.

    Examples
    --------
    >>> number(1234567).split("\u202f")
    ['1', '234', '567']
    """
    return f"{value:,.0f}".replace(",", "\u202f")


def percent(share: float) -> str:
    """A share in per cent; small ones are not called nothing.

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


def name_clusters(clusters: list[int]) -> str:
    """Clusters in words."""
    shown = [str(c) for c in clusters[:_MAX_LISTED]]
    if len(clusters) > _MAX_LISTED:
        shown.append(f"{len(clusters) - _MAX_LISTED} more")
    if len(shown) == 1:
        return f"cluster {shown[0]}"
    return f"clusters {', '.join(shown[:-1])} and {shown[-1]}"


def about_sizes(sizes: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    """Titles and texts about clusters that are empty, tiny, or nearly all rows, by their sizes.

    Examples
    --------
    >>> [title for title, _ in about_sizes({0: 95, 1: 3, 2: 0})]
    ['1 of 3 clusters are empty', 'Cluster 0 holds 97 % of the rows', 'Cluster 1 is tiny']
    """
    n_rows, n_clusters = sum(sizes.values()), len(sizes)
    empty = [cluster for cluster, size in sizes.items() if size == 0]
    if empty:
        yield (
            f"{len(empty)} of {n_clusters} clusters are empty",
            f"No row is in {name_clusters(empty)}. There are too few distinct rows, or too many "
            "clusters were asked for.",
        )
    largest = max(sizes, key=lambda cluster: sizes[cluster])
    share = sizes[largest] / max(n_rows, 1)
    if n_clusters > 1 and share > max(0.8, 2 / n_clusters):
        yield (
            f"Cluster {largest} holds {percent(share)} of the rows",
            "The others may be a few odd rows split off rather than groups. Look at their members, "
            "try another scaling, or leave odd rows out.",
        )
    limit = max(5.0, 0.05 * n_rows / n_clusters)
    tiny = [cluster for cluster, size in sizes.items() if 0 < size < limit]
    if tiny and n_rows >= 10 * n_clusters:
        yield (
            f"{name_clusters(tiny)} {'is' if len(tiny) == 1 else 'are'} tiny".capitalize(),
            f"Fewer than {number(limit)} rows each. Odd rows, duplicates or a real rare group: look at "
            "the members before you use them.",
        )


def cautions_of_labels(labels: Any, n_clusters: int) -> list[str]:
    """What the sizes of clusters say; nothing of labels that are not computed yet."""
    if not isinstance(labels, np.ndarray):
        return []
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).tolist()
    return [f"{title}. {text}" for title, text in about_sizes(dict(enumerate(sizes)))]


def cautions_of_advice(advice: Sequence[Mapping[str, str]]) -> list[str]:
    """What of a report's advice is a warning, or is about single clusters."""
    return [
        f"{item['title']}. {item['text']}"
        for item in advice
        if item["level"] == "warning" or item["section"] == "clusters"
    ]


def warn_of_cautions(cautions: Sequence[str]) -> None:
    """Warn once of all of them."""
    if cautions:
        more = f" ({len(cautions) - 1} more in cautions_)" if len(cautions) > 1 else ""
        warn_user(f"{cautions[0]}{more}", CautionWarning)
