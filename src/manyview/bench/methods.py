"""What is compared: clusterers by name, by ``module:Class``, or as objects from a notebook."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sklearn.base import clone

from manyview import baselines
from manyview.baselines.steps.scaling import scale_and_join
from manyview.views.container import Views
from manyview.wording import repeated

Settings = dict[str, Any]

_SET = {"n_clusters": 2, "n_components": 2, "random_state": None}
"""What the bench sets, with values until it does."""

OPTIONAL = ("UMAPKMeans",)
"""Methods that need a package of their own."""


@dataclass(frozen=True)
class Method:
    """A clusterer on the bench.

    Attributes
    ----------
    name : str
        What tables call it.
    estimator : estimator
        As scikit-learn knows them: parameters, and ``fit_predict``, or ``fit`` and ``labels_``. The
        bench sets ``n_clusters`` (or ``n_components`` of a mixture) to the number of classes, and
        ``random_state``; in a plain class, the attributes of these names. It is given
        :class:`~manyview.Views` if it is manyview's or has an attribute ``takes_views`` that is true;
        any other gets all views standardised, side by side.
    grid : callable, optional
        Further settings that labels choose from in the label-tuned protocol, from the number of
        clusters.

    See Also
    --------
    compare : runs methods on data sets.
    Results : what they gave.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from manyview.bench import Method
    >>> Method("k-means", KMeans(n_init=5)).settings
    {'n_init': 5}
    """

    name: str
    estimator: Any
    grid: Callable[[int], list[Settings]] = field(default=lambda n_clusters: [])

    @property
    def settings(self) -> Settings:
        """Parameters that are not what they are by default, as JSON can hold them."""
        signature = inspect.signature(type(self.estimator).__init__).parameters
        defaults = {name: repr(one.default) for name, one in signature.items()}
        known = _parameters(self.estimator)
        # All attributes of a plain class are known, also those that are no parameters.
        own = known if hasattr(self.estimator, "get_params") else known.keys() & defaults.keys()
        return {
            name: value if isinstance(value, int | float | str | None) else repr(value)
            for name, value in known.items()
            if name in own
            and name not in _set_by_bench(known)
            and repr(value) != defaults.get(name)
        }

    @property
    def is_ours(self) -> bool:
        """Whether it is manyview's."""
        return type(self.estimator).__module__.split(".")[0] == "manyview"

    @property
    def takes_views(self) -> bool:
        """Whether it is given views, or one matrix."""
        return bool(getattr(self.estimator, "takes_views", self.is_ours))

    def make(self, n_clusters: int, seed: int, settings: Settings) -> Any:
        """A new estimator, ready to be fitted."""
        model = clone(self.estimator, safe=False)
        given: Settings = {
            name: seed if name == "random_state" else n_clusters
            for name in _set_by_bench(_parameters(model))
        }
        return _with(model, {**given, **settings})

    def labels(self, views: Views, n_clusters: int, seed: int, settings: Settings) -> Any:
        """Labels of the rows of views."""
        model = self.make(n_clusters, seed, settings)
        given: Any = views if self.takes_views else scale_and_join(views.arrays, "standard")
        return (
            model.fit_predict(given) if hasattr(model, "fit_predict") else model.fit(given).labels_
        )


def _parameters(estimator: Any) -> Settings:
    """Parameters of an estimator; attributes of what is none of scikit-learn's kind."""
    if hasattr(estimator, "get_params"):
        return dict(estimator.get_params(deep=False))
    return dict(getattr(estimator, "__dict__", {}))


def _set_by_bench(known: Settings) -> list[str]:
    """Those of the parameters that are no settings of a method."""
    size = "n_clusters" if "n_clusters" in known else "n_components"
    return [name for name in (size, "random_state") if name in known]


def _with(estimator: Any, settings: Settings) -> Any:
    """The estimator, with these parameters or attributes."""
    if hasattr(estimator, "set_params"):
        return estimator.set_params(**settings)
    for name, value in settings.items():
        setattr(estimator, name, value)
    return estimator


def grid(**options: Sequence[Any]) -> list[Settings]:
    """All combinations of some values of settings."""
    return [dict(zip(options, values, strict=True)) for values in product(*options.values())]


_SCALINGS = (None, "standard", "unit")
GRIDS: dict[str, Callable[[int], list[Settings]]] = {
    "LSC": lambda k: grid(scaling=_SCALINGS),
    "SpectralKNN": lambda k: grid(scaling=_SCALINGS),
    "UMAPKMeans": lambda k: grid(scaling=_SCALINGS),
    "AMGL": lambda k: grid(graph=["anchors"], scaling=_SCALINGS),
    "SMVSC": lambda k: grid(n_anchors=[k, 2 * k, 3 * k]),
    "OMSC": lambda k: grid(lam=[1e-4, 1e-2, 0.1, 1.0], n_anchors=[k, 2 * k]),
    "EOMSC": lambda k: grid(n_anchors=[k, 2 * k, 3 * k], n_dimensions=[k, 2 * k, 3 * k]),
    "AIMC": lambda k: grid(n_dimensions=[k, 2 * k, 5 * k]),
    "IMVCCBG": lambda k: grid(lam=[0.0, 0.01, 1.0]),
    "LMVSC-released": lambda k: grid(n_anchors=[k, 50, 100], alpha=[0.01, 1.0, 100.0]),
    "LMVSC-paper": lambda k: grid(n_anchors=[k, 50, 100], alpha=[0.001, 0.01, 0.1, 1.0, 10.0]),
}
"""What authors choose from with labels, or about that: small enough to run."""


def names() -> list[str]:
    """Names of the methods that can be asked for."""
    return ["LMVSC", "LMVSC-paper", "LMVSC-released", *baselines.names(), "FPMVS", *OPTIONAL]


def as_methods(methods: Any) -> list[Method]:
    """The methods that names, estimators, classes or a mapping of titles to them stand for.

    Examples
    --------
    >>> [method.name for method in as_methods(["LMVSC", "FPMVS", "sklearn.cluster:Birch"])]
    ['LMVSC', 'FPMVS', 'Birch']
    >>> as_methods("mine=SMVSC(lam=0.5)")[0].settings
    {'lam': 0.5}
    """
    if isinstance(methods, Mapping):
        found = [_as_method(one, name) for name, one in methods.items()]
    else:
        several = methods if isinstance(methods, list | tuple) else [methods]
        found = [_as_method(one) for one in several]
    if not found:
        raise ValueError("No methods to compare.")
    if twice := repeated(one.name for one in found):
        raise ValueError(
            f"Two methods are called {sorted(twice)[0]!r}: write NAME=... for one of them."
        )
    return found


def _as_method(method: Any, name: str | None = None) -> Method:
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        title, is_named, text = method.partition("=")
        if not is_named or "(" in title:
            title, text = "", method
        return _parse(text, name or title)
    estimator = _call(method) if inspect.isclass(method) else method
    return _of_estimator(estimator, name or type(estimator).__name__)


def _of_estimator(estimator: Any, name: str) -> Method:
    if not (hasattr(estimator, "fit_predict") or hasattr(estimator, "fit")):
        raise TypeError(f"A method has fit_predict, or fit and labels_; got {estimator!r}.")
    return Method(name, estimator)


def _call(make: Callable[..., Any]) -> Any:
    """What a class or function makes, given no more than what the bench sets."""
    parameters = inspect.signature(make).parameters.values()
    needed = [one.name for one in parameters if one.default is one.empty and one.name in _SET]
    estimator = make(**{name: _SET[name] for name in needed})
    for name in needed:
        if name not in _parameters(estimator):
            raise TypeError(
                f"{make.__name__} must keep {name} as an attribute of that name, for the bench to set."
            )
    return estimator


def _parse(text: str, title: str) -> Method:
    head, is_call, arguments = text.partition("(")
    settings = _parse_arguments(is_call + arguments, text) if is_call else {}
    method = _named(head)
    known = _parameters(method.estimator)
    for option in settings:
        if option not in known:
            raise ValueError(f"{method.name} has no parameter {option!r}.")
        if option in _set_by_bench(known):
            raise ValueError(
                f"{option} of {method.name} is set by the bench: to the number of classes, or the seed."
            )
    if settings:
        model = _with(clone(method.estimator, safe=False), settings)
        method = Method(text, model, method.grid)
    return Method(title, method.estimator, method.grid) if title else method


def _parse_arguments(call: str, text: str) -> Settings:
    try:
        tree = ast.parse(f"f{call}", mode="eval").body
        if isinstance(tree, ast.Call) and not tree.args:
            return {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords}
    except (SyntaxError, ValueError):
        pass
    raise ValueError(f"Cannot read {text!r}: settings are written NAME(lam=0.5, ...).")


def _named(name: str) -> Method:
    from manyview import LMVSC
    from manyview.estimator import PublishedLMVSC

    grid = GRIDS.get(name, lambda k: [])
    if name == "LMVSC":
        return Method(name, LMVSC())
    if name in ("LMVSC-paper", "LMVSC-released"):
        return Method(name, PublishedLMVSC(variant=name.partition("-")[2]), grid)
    if name == "FPMVS":
        return Method(name, baselines.SMVSC(lam=0.0))
    if name in (*baselines.names(), *OPTIONAL):
        view = {"view": 0} if name in ("SSCOMP", "E3SC") else {}
        return Method(name, getattr(baselines, name)(**view), grid)
    module, is_path, kind = name.partition(":")
    if not is_path:
        raise ValueError(f"No method {name!r}. There are {', '.join(names())}, and MODULE:CLASS.")
    try:
        found = getattr(importlib.import_module(module), kind)
        return _of_estimator(_call(found) if callable(found) else found, kind)
    except Exception as error:  # whatever a module of somebody's does
        raise ValueError(f"Cannot use {name!r}: {str(error).rstrip('.')}.") from error
