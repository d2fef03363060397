"""What a parameter may be: the same checks and words for every estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from manyview.errors import ParameterError, ParameterTypeError
from manyview.wording import count


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to us."""
    return isinstance(value, str) and value == "auto"


def as_generator(random_state: Any) -> np.random.Generator:
    """The generator that ``random_state`` stands for.

    Parameters
    ----------
    random_state : None, int, numpy.random.RandomState or numpy.random.Generator
        A generator is used as it is; from a ``RandomState`` one seed is drawn.

    Examples
    --------
    >>> bool(as_generator(0).integers(100) == as_generator(0).integers(100))
    True
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    is_seed = isinstance(random_state, Integral) and int(random_state) >= 0
    if random_state is None or is_seed or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    raise wrong_seed(random_state)


def wrong_seed(random_state: Any) -> ParameterError:
    """The error that says what ``random_state`` may be."""
    return ParameterError(
        "random_state",
        "must be an integer of at least 0, None, or a generator of random numbers of numpy.random; "
        f"got {random_state!r}.",
    )


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """A whole number, as an int; raises if it is none, below ``least`` or above ``most``.

    Examples
    --------
    >>> check_count("n_init", 0)
    Traceback (most recent call last):
        ...
    manyview.errors.ParameterError: n_init must be an integer of at least 1; got 0.
    """
    wrong_type = isinstance(value, bool) or not isinstance(value, Integral)
    if wrong_type or value < least or (most is not None and value > most):
        error = ParameterTypeError if wrong_type else ParameterError
        bounds = f"at least {least}" + ("" if most is None else f" and at most {most}")
        raise error(name, f"must be an integer of {bounds}; got {value!r}.")
    return int(value)


def check_n_clusters(value: Any, n_samples: int) -> int:
    """The number of clusters, if there are as many samples.

    Examples
    --------
    >>> check_n_clusters(3, 100)
    3
    """
    n_clusters = check_count("n_clusters", value)
    if n_clusters > n_samples:
        raise ParameterError(
            "n_clusters",
            "must not exceed the number of samples; got "
            f"{n_clusters} for {count(n_samples, 'sample')}.",
        )
    return n_clusters


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
) -> float:
    """A finite number, as a float; raises if it is outside the bounds.

    Examples
    --------
    >>> check_number("alpha", 0.5, above=1)
    Traceback (most recent call last):
        ...
    manyview.errors.ParameterError: alpha must be a number greater than 1; got 0.5.
    """
    wrong_type = isinstance(value, bool) or not isinstance(value, Real)
    # Written so that NaN, for which every comparison is false, is outside any bounds.
    is_within = not wrong_type and (
        (above is None or value > above)
        and (least is None or value >= least)
        and (below is None or value < below)
        and -np.inf < value < np.inf
    )
    if not is_within:
        bounds = [("greater than", above), ("of at least", least), ("less than", below)]
        words = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
        error = ParameterTypeError if wrong_type else ParameterError
        number = "number" if wrong_type or np.isfinite(value) else "finite number"
        raise error(name, f"must be a {number} {words}".rstrip() + f"; got {value!r}.")
    return float(value)


def check_option(name: str, value: Any, options: Sequence[Any]) -> None:
    """Raise if a parameter is not one of its named options.

    Examples
    --------
    >>> check_option("solver", "adm", ("admm", "l0"))
    Traceback (most recent call last):
        ...
    manyview.errors.ParameterError: solver must be one of 'admm', 'l0'; got 'adm'.
    """
    if not any(value is option or value == option for option in options):
        known = ", ".join(repr(option) for option in options)
        raise ParameterError(name, f"must be one of {known}; got {value!r}.")


def check_each(name: str, value: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    """One number, or several; each checked.

    Examples
    --------
    >>> check_each("n_anchors", [50, 100], check_count), check_each("n_anchors", 50, check_count)
    ((50, 100), (50,))
    """
    if isinstance(value, str):
        raise ParameterError(
            name, f"must be a number, a sequence of numbers or 'auto'; got {value!r}."
        )
    if not isinstance(value, Sequence | np.ndarray) or np.ndim(value) == 0:
        return (check(name, value),)
    if len(value) == 0:
        raise ParameterError(name, "must not be empty.")
    return tuple(check(name, item) for item in value)


def of_each_view(name: str, value: Any, names: Sequence[str], missing: Any) -> list[Any]:
    """One value a view, in the views' order, from a sequence or from a mapping of some views' names.

    Examples
    --------
    >>> of_each_view("scaling", {"text": "hellinger"}, ["text", "pixels"], missing="auto")
    ['hellinger', 'auto']
    """
    if isinstance(value, Mapping):
        if unknown := [each for each in value if each not in names]:
            raise ParameterError(name, f"names {unknown}, but the views are {list(names)}.")
        return [value.get(each, missing) for each in names]
    values = list(value) if isinstance(value, Sequence | np.ndarray) else [value]
    if len(values) != len(names):
        raise ParameterError(name, f"has {len(values)} entries for {count(len(names), 'view')}.")
    return values
