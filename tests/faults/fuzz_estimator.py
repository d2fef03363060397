"""Random fits: labels, or an error of ours; nothing changed, and the same from ``predict``."""

import copy
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview import LMVSC, load
from manyview.engines import Disk, Memory
from tests.faults.cases import WrongError, arguments, conclude, run_cases

ODD_NUMBERS = [0, -1, 1.5, True, None, "x", np.nan, np.inf, 10**9, [], [3, -1]]


def pick(rng, options):
    return options[rng.integers(len(options))]


def make_view(rng, n):
    """A view of any kind of numbers, whole or not."""
    d = int(pick(rng, [1, 1, 2, 3, 8, 30]))
    X = rng.normal(size=(n, d)) + 4 * np.eye(3, d)[rng.integers(0, 3, n)] * (rng.random() < 0.5)
    kind = rng.integers(14)
    if kind == 0:
        X = rng.poisson(1.0, size=(n, d)).astype(pick(rng, [np.uint8, np.int64, np.float32]))
    elif kind == 1:
        X = np.zeros((n, d))
    elif kind == 2:
        X[:, 0] = 7.0
    elif kind == 3:
        X = np.repeat(X[: max(n // 5, 1)], 5, axis=0)[:n]
        X = np.concatenate([X, X[: n - len(X)]]) if len(X) < n else X
    elif kind == 4:
        X *= pick(rng, [1e-200, 1e-151, 1e-140, 1e140, 1e151, 1e155, 1e300])
    elif kind == 5:
        X[rng.integers(n), rng.integers(d)] = pick(rng, [np.nan, np.inf, -np.inf, 1e200])
    elif kind == 6:
        X[rng.random(n) < 0.3] = np.nan
    elif kind == 7:
        X = rng.integers(0, 2, (n, d)).astype(bool)
    elif kind == 8:
        X = np.asfortranarray(X.astype(np.float32))
    elif kind == 9:
        X[:] = np.nan
    elif kind == 10:
        X = X.astype(np.float16)
    if rng.random() < 0.25 and X.dtype != np.float16:
        X = sparse.csr_array(np.where(rng.random((n, d)) < 0.7, 0, X))
        X = X.asformat(pick(rng, ["csr", "csc", "coo", "lil"]))
        if rng.random() < 0.1 and X.format in ("csr", "csc") and X.nnz:
            X.indices[rng.integers(X.nnz)] = pick(rng, [-1, 10**6])
    return X


def make_parameters(rng):
    """Parameters that a user may choose, one of them now and then wrong."""
    given = {"n_clusters": int(pick(rng, [1, 2, 3, 3, 3, 5, 40])), "n_jobs": 1, "random_state": 0}
    choices = {
        "n_anchors": [3, 8, 30, [5, 9], "auto"], "alpha": [0.0, 1e-6, 0.01, 1.0, 1e6, "auto"],
        "locality": [0.0, 0.1, "auto"], "fusion": ["auto", "late", "early", "both"],
        "scaling": ["standard", "normal-scores", "hellinger", "unit", "energy", "log",
                    "clr", "lognorm", "tf-idf", None],
        "n_repeats": [1, 2], "view_weights": ["auto", "equal", "agreement", "amgl"],
        "n_components": [1, 2, 5, "auto"], "n_neighbors": [1, 3, None, "auto"],
        "n_axes": [1, 5, None, "auto"], "anchor_method": ["kmeans", "kmeans-all", "random"],
        "max_iter": [1, 20],
    }  # fmt: skip
    given |= {name: pick(rng, values) for name, values in choices.items() if rng.random() < 0.4}
    given.setdefault("n_repeats", 1)
    if rng.random() < 0.15:
        given[pick(rng, [*choices, "random_state", "n_jobs", "tol", "n_clusters"])] = pick(
            rng, ODD_NUMBERS
        )
    return given


def same(a, b):
    if not sparse.issparse(a):
        return _equal(a, b)
    names = {"coo": ("row", "col"), "lil": ("rows",)}.get(a.format, ("indices", "indptr"))
    places = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
    return places and (a.format == "lil" or _equal(a.data, b.data))


def _equal(a, b):
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def fit(views, parameters, engine):
    model = LMVSC(**parameters, engine=engine)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(views)
    for warning in caught:
        ours = issubclass(warning.category, UserWarning) or warning.category is ConvergenceWarning
        if not ours:
            place = f"{Path(warning.filename).name}, line {warning.lineno}"
            raise WrongError(f"{warning.category.__name__}: {warning.message} ({place})")
    return model


def check_model(model, views, folder, rng):
    n, k = views[0].shape[0], model.n_clusters_
    labels = model.labels_
    if labels.shape != (n,) or labels.min() < 0 or labels.max() >= k:
        raise WrongError(f"labels of shape {labels.shape} from {labels.min()} to {labels.max()}")
    if not np.isfinite(model.embedding_).all():
        raise WrongError("an embedding that is not finite")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not np.array_equal(model.predict(views), labels):
            raise WrongError("predict gives other labels")
        if rng.random() < 0.3:
            model.save(folder / "m.mv")
            if not np.array_equal(load(folder / "m.mv").predict(views), labels):
                raise WrongError("a loaded model gives other labels")


def main():
    options = arguments(3000)
    folder = Path(tempfile.mkdtemp(prefix="manyview-faults-"))
    fit([np.random.default_rng(0).normal(size=(60, 3))] * 2, {"n_clusters": 2, "n_jobs": 1}, "auto")

    def judge(case, rng):
        n = int(pick(rng, [1, 2, 5, 20, 60, 120]))
        views = [make_view(rng, n) for _ in range(pick(rng, [1, 1, 2, 3]))]
        parameters = make_parameters(rng)
        given, kept = copy.deepcopy(views), copy.deepcopy(parameters)
        engine = Disk("100 MB") if case % 4 == 0 else "auto"
        try:
            model = fit(views, parameters, engine)
        except (ValueError, TypeError) as error:
            if len(str(error)) < 20:
                raise WrongError(f"a message that says little: {error!r}") from error
            outcome = "refused"
        else:
            check_model(model, views, folder, rng)
            if case % 4 == 0:
                other = fit(views, parameters, Memory())
                if not np.array_equal(other.labels_, model.labels_):
                    raise WrongError("other labels from memory")
            outcome = "labels"
        if not all(map(same, views, given)) or repr(parameters) != repr(kept):
            raise WrongError("the input was changed")
        return outcome

    outcomes, wrong = run_cases(judge, options)
    conclude("estimator", options, outcomes, wrong)


if __name__ == "__main__":
    main()
