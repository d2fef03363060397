"""Draw which room of the package imports which, from the imports themselves.

``python docs/rooms.py`` renews ``docs/_static/rooms.svg``; a test compares what it shows with the code.
"""

import ast
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "manyview"
PICTURE = ROOT / "docs" / "_static" / "rooms.svg"

ROOMS = {
    "cli": (0.62, "commands"),
    "reproduce": (0.82, "the paper's experiments"),
    "bench": (0.74, "methods and data compared"),
    "report": (0.38, "one page, displays"),
    "sc": (0.62, "single cells"),
    "select": (0.14, "settings compared"),
    "estimator": (0.38, "LMVSC"),
    "explain": (0.26, "why a row is there"),
    "compose": (0.5, "pipelines"),
    "pipeline": (0.26, "the algorithm in order"),
    "baselines": (0.66, "methods compared with"),
    "datasets": (0.9, "named data"),
    "engines": (0.13, "memory, disk, Dask"),
    "stages": (0.4, "mathematics of one tile"),
    "metrics": (0.74, "scores"),
    "simplex": (0.26, "the quadratic program"),
    "views": (0.56, "named, row-aligned views"),
    "readers": (0.74, "one file format each"),
    "sources": (0.5, "where rows lie"),
}
"""Where each room stands across the picture, and what it is for."""


def find_layers():
    """Rooms from the top down, those of one layer side by side, as the import rules have them."""
    layers = [re.split("[|:]", layer) for layer in _rule()["layers"]]
    return [[name.strip().removeprefix("manyview.") for name in layer] for layer in layers]


def _rule():
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = rules["tool"]["importlinter"]["contracts"]
    return next(rule for rule in contracts if rule["name"].startswith("The data's way"))


def find_arrows(rooms):
    """Pairs (room, room it imports), of every import in the source but for declared exceptions."""
    excepted = {
        tuple(name.strip().split(".")[1] for name in line.split("->"))
        for line in _rule()["ignore_imports"]
    }
    arrows = set()
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in _imported(node):
                parts = module.split(".")
                if own in rooms and parts[0] == "manyview" and parts[1:2] and parts[1] in rooms:
                    arrows.add((own, parts[1]))
    return sorted((a, b) for a, b in arrows - excepted if a != b)


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "manyview":
        public = {"LMVSC": "estimator", "load": "estimator", "Views": "views"}
        return [f"manyview.{public.get(alias.name, alias.name)}" for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module]
    return []


def find_steps(arrows):
    """Arrows that say more than a way through other rooms does."""
    reached = {}

    def below(room):
        if room not in reached:
            reached[room] = set()
            for a, b in arrows:
                if a == room:
                    reached[room] |= {b} | below(b)
        return reached[room]

    return [
        (a, b)
        for a, b in arrows
        if not any(b in below(other) for first, other in arrows if first == a and other != b)
    ]


def find_facts():
    """Layers and arrows of the rooms in the picture, as JSON keeps them."""
    layers = [[room for room in layer if room in ROOMS] for layer in find_layers()]
    layers = [layer for layer in layers if layer]
    rooms = [room for layer in layers for room in layer]
    return {"layers": layers, "arrows": [list(arrow) for arrow in find_arrows(rooms)]}


def draw(path=PICTURE):
    """Write the picture, with the arrows it was drawn from in its description."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "rooms", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    facts = find_facts()
    layers, arrows = facts["layers"], [tuple(arrow) for arrow in facts["arrows"]]
    figure, ax = plt.subplots(figsize=(9, 1.02 * len(layers)))
    places = {
        room: (ROOMS[room][0], -depth) for depth, layer in enumerate(layers) for room in layer
    }
    for a, b in find_steps(arrows):
        (x0, y0), (x1, y1) = places[a], places[b]
        ax.annotate(
            "",
            (x1, y1 + 0.3),
            (x0, y0 - 0.3),
            arrowprops={
                "arrowstyle": "-|>",
                "color": "#7a8ca3",
                "lw": 1.1,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
    for room, (x, y) in places.items():
        ax.text(
            x, y, f"{room}\n{ROOMS[room][1]}", ha="center", va="center", fontsize=10, linespacing=1.4,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": "#eef3f9", "edgecolor": "#3b5b86"},
        )  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(-len(layers) + 0.4, 0.6))
    ax.axis("off")
    metadata = {"Date": None, "Creator": None, "Description": json.dumps(facts)}
    figure.savefig(path, bbox_inches="tight", metadata=metadata)
    plt.close(figure)


if __name__ == "__main__":
    draw()
