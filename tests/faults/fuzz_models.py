"""Damaged model files: refused, or they answer as the whole one; forged ones end, at least."""

import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

from manyview import LMVSC, load
from manyview.errors import ModelFileError
from manyview.pipeline.persistence import seal
from tests.faults.cases import WrongError, arguments, conclude, run_cases
from tests.faults.mutations import mutate

ODD = [
    None,
    True,
    -1,
    0,
    1,
    2**70,
    1e308,
    float("nan"),
    "",
    "x",
    [],
    {},
    [[]],
    {"array": "array_0"},
]


def make_views():
    rng, groups = np.random.default_rng(0), np.arange(60) % 3
    return [np.abs(3 * np.eye(3, d)[groups] + 0.3 * rng.normal(size=(60, d))) for d in (4, 3)]


def make_models(views):
    """Whole model files of several kinds, each with its labels."""
    made = []
    for options in (
        {"scaling": "standard"},
        {"scaling": "normal-scores", "n_neighbors": 3, "n_axes": None},
        {"scaling": None, "n_components": 3, "view_weights": [0.3, 0.7]},
    ):
        model = LMVSC(3, n_anchors=8, n_repeats=2, random_state=0, n_jobs=1, **options).fit(views)
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder, "m.mv"))
            made.append((Path(folder, "m.mv").read_bytes(), model.labels_))
    return made


def mutate_leaf(value, rng):
    """JSON with one of its values another, wherever it is."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[rng.integers(len(value))]
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: mutate_leaf(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = int(rng.integers(len(value)))
        return [mutate_leaf(v, rng) if i == place else v for i, v in enumerate(value)]
    return ODD[rng.integers(len(ODD))]


def mutate_array(content, rng):
    """An array with one number another, or of another shape or type."""
    array = np.array(np.load(io.BytesIO(content), allow_pickle=False))
    kind = rng.integers(4)
    if kind == 0 and array.size and array.dtype.kind == "f":
        array.flat[rng.integers(array.size)] = [np.nan, np.inf, -1e300, 0.0, 1e-300][
            rng.integers(5)
        ]
    elif kind == 1 and array.size and array.dtype.kind in "iu":
        array.flat[rng.integers(array.size)] = [-1, 2**31 - 1, 7][rng.integers(3)]
    elif kind == 2:
        array = array.T if array.ndim != 1 else array[:-1]
    else:
        array = array.astype([np.float32, np.int64, "S8"][rng.integers(3)])
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def mutate_members(content, rng, *, is_sealed):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    digest = members.pop("digest.json")
    name = "model.json" if rng.random() < 0.5 else list(members)[rng.integers(len(members))]
    if name == "model.json":
        members[name] = json.dumps(mutate_leaf(json.loads(members[name]), rng)).encode()
    elif rng.random() < 0.1:
        del members[name]
    else:
        members[name] = mutate_array(members[name], rng)
    members["digest.json"] = seal(members) if is_sealed else digest
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, part in members.items():
            archive.writestr(member, part)
    return buffer.getvalue()


def main():
    options = arguments(2000)
    warnings.simplefilter("ignore")
    views = make_views()
    models = make_models(views)
    folder = Path(tempfile.mkdtemp(prefix="manyview-faults-"))

    def judge(case, rng):
        content, labels = models[rng.integers(len(models))]
        is_sealed = case % 3 == 2
        if case % 3 == 0:
            content = mutate(content, rng)
        else:
            content = mutate_members(content, rng, is_sealed=is_sealed)
        path = folder / "m.mv"
        path.write_bytes(content)
        try:
            model = load(path)
        except ModelFileError:
            return "refused"
        if not is_sealed:
            if not np.array_equal(model.predict(views), labels):
                raise WrongError("other labels")
            return "same labels"
        try:
            found = model.predict(views)
        except (ValueError, TypeError) as error:
            return f"forged: {type(error).__name__} when used"
        if found.shape != labels.shape or found.min() < 0 or found.max() >= model.n_clusters_:
            raise WrongError("labels that there are not")
        return "forged: labels"

    outcomes, wrong = run_cases(judge, options)
    conclude("models", options, outcomes, wrong)


if __name__ == "__main__":
    main()
