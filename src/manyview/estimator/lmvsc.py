"""LMVSC: parameters, validation, fitted attributes; no mathematics."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from manyview.checks import check_count, wrong_seed
from manyview.engines import choose_engine
from manyview.engines.base import Run
from manyview.engines.dask_graphs import append_rows
from manyview.engines.progress import progress_for
from manyview.explain.cautions import cautions_of_advice, cautions_of_labels, warn_of_cautions
from manyview.explain.explanation import Explanation, explain_rows
from manyview.explain.features import measure_importances
from manyview.machine import count_jobs
from manyview.pipeline import fit as pipeline
from manyview.pipeline import persistence
from manyview.pipeline import update as updating
from manyview.pipeline.choices import (
    Choices,
    describe_encodings,
    describe_solver,
    describe_update,
    warn_of_doubts,
)
from manyview.pipeline.choices import explain as explain_choices
from manyview.pipeline.groups import Groups, correct_rows, measure_mixing, read_groups
from manyview.pipeline.label_free import score_without_labels
from manyview.pipeline.model import FittedModel
from manyview.pipeline.model_fields import FITTED
from manyview.pipeline.outcome import Outcome
from manyview.pipeline.predict import cut_known, map_rows
from manyview.pipeline.settings import read_known, read_weights, resolve
from manyview.pipeline.stream import StreamStart
from manyview.pipeline.sureness import as_sparse
from manyview.sources.packing import digest
from manyview.views import frames
from manyview.views.columns import as_wide, count_columns, find_columns
from manyview.views.container import Views
from manyview.views.ids import append_ids
from manyview.views.matching import (
    align_columns,
    drop_empty_views,
    encode_like,
    is_single,
    match_views,
    read_like,
    refuse_other_columns,
    split_views,
    warn_of_encodings,
    warn_of_silent_views,
)

logger = logging.getLogger("manyview")

_OF_A_STREAM = (
    "model_", "hierarchy_", "cluster_centers_", "anchors_", "scaling_", "n_clusters_",
    "view_weights_", "inertia_", "singular_values_", "_n_features_out",
)  # fmt: skip


class LMVSC(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Large-scale multi-view subspace clustering, in time linear in the number of samples.

    Every view gets a sparse graph between its rows and a few anchors: each row's weights over the
    anchors that represent it best (Eq. 6 of the paper). The graphs are put side by side; their
    leading left singular vectors embed the rows (Proposition 1), beside each row's shares in
    communities of anchors, and k-means on the embedding gives the labels. It starts once, from centres
    that are merged by the tree or the links between them. What is left on "auto" is chosen by the rows,
    and ``choices_`` says why. If nothing about graphs was set, and clusters are evident, because k-means
    finds them far apart or rows fall, or are bound, into so many pieces, these are the answer.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=8
        Number of clusters. Of several, the largest is fitted, and ``cuts_`` has the labels for all of
        them. "auto" suggests one, from the silhouette of the embedding and the
        modularity of the graph of a few rows; see ``suggestion_`` for the evidence.
    views : mapping of str to columns, default=None
        Splits one wide array or data frame into views, as
        :class:`~sklearn.compose.ColumnTransformer` does: names of columns, places, a slice, a mask, or
        a callable that is given ``X`` and says which. Then every tool of scikit-learn that takes one
        array applies. None takes several views as they come: a list, a dict, :class:`Views`.
    categories : {"auto", "strict", "refuse"} or mapping of str to str, default="auto"
        What becomes of columns of tables that hold no numbers. "auto" makes each level of a text-valued,
        categorical or boolean column a column of zeros and ones (rare levels share one, missing values
        have one), ordered levels and days numbers, and leaves out identifiers, free text and constants,
        with a warning. "strict" refuses what would be left out, "refuse" all such columns. A mapping of
        names or patterns says it for single columns: "encode" makes levels of a column, also of numbers;
        "drop" leaves it out; "keep" uses it whatever it looks like; "*" may have one of the words above.
        New rows are encoded as in the fit; levels that were not there then are like rare ones.
    n_anchors : int, sequence of int or "auto", default="auto"
        Anchors of each view; several numbers make several graphs of each view, fused like more
        views. "auto" is 300, but at most a third of the rows (in text, over 93 % zeros, a tenth, and
        two a cluster); where rows use their nearest anchors only, a seventh of the rows (a 35th for 100
        clusters or more) within 1000 and 2000, or two a cluster, but at most a sixth of the rows.
        There are at least ``n_clusters``.
    alpha : float, sequence of float or "auto", default="auto"
        Ridge on the graph weights, relative to the view's energy: the mean squared norm of its centred
        rows. More spreads each row over more anchors. "auto" is 0.01, or 0.1 where rows use their
        nearest anchors only.
    locality : float or "auto", default="auto"
        Penalty on the squared distances of a row to the anchors it uses, relative to how well they
        represent it; 0 in the paper. "auto" is 0.03, or 0 where rows use their nearest anchors only.
    scaling : str or None, for all views or one per view, default="auto"
        "auto", "standard", "normal-scores", "mixed", "hellinger", "unit", "energy", "log", "clr",
        "lognorm", "tf-idf" or None. How columns are scaled, in this order: to mean 0 and variance 1; to
        normal quantiles of their ranks; the same, but columns of zeros and ones by one number ("auto"
        in tables with categories); square roots, rows to unit length (word counts); rows to unit
        length; only by one number per view; log(1 + x), to mean 0 and variance 1 (counts); logarithms
        less their mean in each row (proportions, proteins of cells); log(1 + x) of rows brought to the
        same total (genes); rare columns weighted up, rows to unit length (peaks); or not at all. All
        but None end with unit mean squared norm per view. "auto"
        tries what the view looks like ("hellinger" if it is mostly zero and never negative, or nearly
        all zero, else "normal-scores"), "standard", and if nothing is negative "log" and "clr", on at
        most 4000 rows, unless views are counts of molecules in cells, which are known by their look. It
        takes what makes the spectrum fall most after the k-th value, if that is
        clear, else what gives labels of the greatest modularity, logarithms where they are about as
        good. Text stays as it looks; so does every view where ``n_components`` or anchors are given.
    fusion : {"auto", "late", "early", "both"}, default="auto"
        One graph per view as in the paper, one graph of all views side by side, or both, half the
        weight each: what only some views see is averaged away in the first and kept in the second.
        "auto" is "both" ("late" where anchors are given).
    n_repeats : int or "auto", default="auto"
        Number of anchor seeds, at most 1000; their embeddings are put side by side. "auto" is 3, and
        up to 9 for fewer than 2000 rows, which vary more and cost little; 2 for 100 000 rows or more;
        1 where 100 clusters or more are asked for (2 for fewer than 5000 rows), or where the spectrum
        has a clear gap after as many vectors as clusters; fewer than 3 for very wide views (1 where
        anchors are given).
    view_weights : {"auto", "equal", "agreement", "amgl"} or sequence of float, default="auto"
        Weight of each view: all alike; by how far its graph agrees with the others' (views of noise
        get none); by the rule of AMGL; or given. "auto" is "agreement", which needs three views.
    n_components : int or "auto", default="auto"
        Singular vectors kept. "auto" keeps as many as clusters where the spectrum falls clearly after
        them; else half as many again (at most 20 more), leaves out those that sit on a handful of
        rows, and weights each by the power 1.5 of its squared singular value. A number keeps that many
        of the leading ones as they are, without communities of anchors beside them.
    anchor_method : {"kmeans", "kmeans-all", "random"} or sequence of arrays, default="kmeans"
        Anchors by k-means on a bounded sample (32 rows an anchor), by k-means on all rows, random
        rows, or given: one array (m, d) per view.
    n_neighbors : int, None or "auto", default="auto"
        How many anchors a row may use: its nearest; None is all, as in the paper. "auto" is 3 from
        5000 rows on, but None for text and for given anchors.
    n_axes : int, None or "auto", default="auto"
        Principal axes of each scaled view that rows are turned to, and that are evened out a little;
        None leaves columns as they are. "auto" is 50, but None for text, for tables with categories and
        without scaling.
    max_iter : int, default=100
        Most iterations of the final k-means.
    tol : float, default=1e-4
        Relative tolerance of the final k-means.
    outliers : {"keep", "mark"}, default="keep"
        Whether rows that are explained badly by what explains the others get a cluster all the same, or
        the label -1; they then count nothing in scaling, anchors and centres. ``outlier_score_`` says
        how odd rows are either way.
    random_state : int, RandomState, Generator or None, default=None
        Seed. The same seed gives the same labels whatever ``n_jobs`` or ``engine``.
    n_jobs : int or None, default=None
        Threads; None or -1 is all cores that this process may use.
    engine : {"auto", "memory", "disk", "dask"} or an engine object, default="auto"
        Where rows live and who computes on them. "auto" is "dask" for Dask arrays, "disk" if a view
        is in a file, else "memory".
    verbose : int or a progress object, default=0
        1 shows progress on a terminal or below a notebook's cell: the stage, how much is done of all,
        and the time left. Or an object with methods ``start(stage, total)``, ``advance(steps)`` and
        ``finish()``, and if wanted ``plan(costs)`` and ``say(text)``, that is told instead.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int32
        Cluster of each row, -1 for those that are marked as outliers; a Dask array with the Dask engine.
    confidence_ : ndarray of shape (n,)
        How probable each row's cluster is, from 1 / k to 1: the largest number of its
        :meth:`predict_proba`. A Dask array with the Dask engine.
    hierarchy_ : ndarray of shape (l - 1, 4)
        Tree of the clusters and of finer ones, its l leaves, as SciPy writes linkages; see :meth:`cut`.
    leaves_ : ndarray of shape (n,), int32
        The leaf of this tree that each row belongs to, -1 for those that are marked as outliers; a Dask
        array with the Dask engine. There is none beyond 3000 clusters, where there is no tree.
    cuts_ : dict of int to ndarray of shape (n,)
        With several ``n_clusters``, the labels for each number.
    outlier_score_ : ndarray of shape (n,)
        How odd each row is, from 0 to 1; see :meth:`outlier_scores`. A Dask array with the Dask engine.
    embedding_ : ndarray of shape (n, c)
        Spectral embedding of the rows, that of each anchor seed beside the others, and their shares in
        communities of anchors; a Dask array with the Dask engine. From the disk engine, both are
        memory maps if they are large. In single precision if it is wider than 512 columns.
    anchors_ : list of ndarray of shape (m, d)
        Anchors of each graph, in the columns' own units if the scaling of its views is linear
        ("standard", "energy", None), else scaled.
    cluster_centers_ : ndarray of shape (k, c)
        Cluster centres in the embedding.
    singular_values_ : ndarray of shape (s,)
        Of the fused graph (of the first repeat, if there are several), descending; there are some to
        spare.
    inertia_ : float
        Sum of squared distances of embedding rows to their centre.
    n_iter_ : int
        Sweeps of the final k-means over all rows.
    view_weights_ : ndarray of shape (v,)
        Weight of each view; they sum to one.
    scaling_ : list of (str or None)
        How each view was scaled.
    cautions_ : list of str
        What to be wary of: clusters that are empty, tiny or nearly all rows; after :meth:`report`, also
        those that other seeds do not find again, and more. They are warned about, too.
    feature_importances_ : list of ndarray of shape (d,)
        For each view how much each column tells clusters apart: its variance between clusters as a share
        of all, relative to the view's other columns. Where views are in memory.
    groups_ : Groups
        With ``groups``, how views were scaled, and the mean of each group that was taken off.
    batch_mixing_ : float
        With ``groups``, how little clusters tell of them: from 0, if one follows from the other, to 1.
    choices_ : list of dict
        What was chosen for every parameter left on "auto": ``parameter``, ``value`` and ``why``. Fewer
        anchors than ``n_anchors`` are told there, too.
    n_clusters_ : int
        Number of clusters.
    suggestion_ : Suggestion or None
        With ``n_clusters="auto"``, the curves it was decided from and the runners-up.
    n_views_, view_names_, n_features_per_view_, n_features_in_
        What was fitted.
    model_ : FittedModel
        The arrays that predicting needs, and what they make of rows.
    feature_names_per_view_ : list of (list of str, or None)
        Names of each view's columns, where it has them; those of new rows are brought into this order.
    encodings_ : list of (Encoding or None)
        For views with columns that are no numbers, what became of each column.
    ids_ : ndarray of shape (n,), or None
        Names of the rows, if the input has them; see :meth:`labels_series`.
    view_columns_ : dict of str to list of int
        With ``views``, the places of each view's columns.
    stage_seconds_ : dict
        Seconds spent in each stage; compiling, which happens once a machine, is one of its own.
    stage_memory_ : dict
        Most bytes that this process held during each stage, its input included. Empty unless the engine
        was asked to watch, as by ``engine=Memory(track_memory=True)``, and the system tells. Workers of
        a cluster are not counted.
    solver_report_ : dict
        Rows solved, mean number of anchors a row uses in each graph, rows not solved to tolerance.

    See Also
    --------
    manyview.baselines : other methods that take the same views.
    manyview.compose.per_view : a transformer for each view, in pipelines.
    manyview.select.compare : settings compared without labels.

    Notes
    -----
    In every view X, scaled, and in all of them side by side, each row x is written by m anchors A:

    .. math::

       \min_z \|x - A^T z\|^2 + \alpha \|z\|^2 + \gamma \sum_j z_j \|x - a_j\|^2,
       \quad z \ge 0, \ 1^T z = 1

    (:math:`\gamma = 0` is the paper's Eq. 6). Rows z form Z, whose columns are divided by the roots of
    their sums. The left singular vectors of these matrices side by side are the leading eigenvectors of
    the averaged n x n graph :math:`Z \Sigma^{-1} Z^T`, which is never formed; k-means on their rows
    gives the labels.

    References
    ----------
    Z. Kang, W. Zhou, Z. Zhao, J. Shao, M. Han, Z. Xu. Large-scale Multi-view Subspace Clustering in
    Linear Time. AAAI 2020.

    Examples
    --------
    >>> from manyview import LMVSC, datasets, metrics
    >>> views = datasets.digits_views()
    >>> model = LMVSC(n_clusters=10, random_state=0).fit(views)
    >>> model.labels_.shape
    (1797,)
    >>> bool(metrics.accuracy(views.target, model.labels_) > 0.8)
    True
    """

    def __init__(
        self,
        n_clusters: Any = 8,
        *,
        views: Any = None,
        categories: Any = "auto",
        n_anchors: Any = "auto",
        alpha: Any = "auto",
        locality: float | str = "auto",
        scaling: Any = "auto",
        fusion: str = "auto",
        n_repeats: int | str = "auto",
        view_weights: Any = "auto",
        n_components: int | str = "auto",
        anchor_method: Any = "kmeans",
        n_neighbors: int | str | None = "auto",
        n_axes: int | str | None = "auto",
        max_iter: int = 100,
        tol: float = 1e-4,
        outliers: str = "keep",
        random_state: Any = None,
        n_jobs: int | None = None,
        engine: Any = "auto",
        verbose: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.categories = categories
        self.n_anchors = n_anchors
        self.alpha = alpha
        self.locality = locality
        self.scaling = scaling
        self.fusion = fusion
        self.n_repeats = n_repeats
        self.view_weights = view_weights
        self.n_components = n_components
        self.anchor_method = anchor_method
        self.n_neighbors = n_neighbors
        self.n_axes = n_axes
        self.max_iter = max_iter
        self.tol = tol
        self.outliers = outliers
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.verbose = verbose

    @classmethod
    def as_published(
        cls,
        n_clusters: int,
        n_anchors: int,
        alpha: float,
        *,
        variant: str = "paper",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> LMVSC:
        """The published method: raw features, absolute alpha, and the k-means of the authors' script.

        That k-means starts ten times from random rows, goes on until no label changes or for a hundred
        rounds, gives empty clusters the rows farthest from their centre, and keeps the run with the
        least sum of plain, not squared, distances. It finds the anchors of each view, from all rows, and
        the labels, from the embedding.

        Parameters
        ----------
        n_clusters, n_anchors, alpha
            As in the paper, which tries m in k, 50, 100 and alpha in .001 to 10, and keeps the best
            by the true labels.
        variant : {"paper", "released"}
            What the paper's text does, or what the authors' script does: it leaves out the degree
            scaling Sigma^-1/2, and seeds the k-means of every view alike, so that all of them start from
            the same samples.
        random_state, n_jobs
            As in the constructor.

        Returns
        -------
        PublishedLMVSC
            An estimator with these parameters and no others.

        Examples
        --------
        >>> LMVSC.as_published(7, 50, 0.1, variant="released").get_params()["variant"]
        'released'
        """
        from manyview.estimator.published import PublishedLMVSC  # which is made of this class

        model = PublishedLMVSC(
            n_clusters, n_anchors, alpha, variant=variant, random_state=random_state, n_jobs=n_jobs
        )
        model._parameters()  # refuses what the paper does not do
        return model

    def _parameters(self) -> dict[str, Any]:
        """All that decides a fit, by name."""
        params: dict[str, Any] = self.get_params(deep=False)
        return params

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        partial_labels: Any = None,
    ) -> LMVSC:
        """Cluster the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, list or dict of them, AnnData, MuData or Views
            One 2-D array is one view; several describe the same rows in the same order. A sample may
            lack views, but not all: a row of NaN, or ``Views(..., present=...)``. A view that no sample
            has is left out, with a warning.
        y : ignored
            For scikit-learn's conventions.
        sample_weight : array of shape (n,), optional
            How much each row counts, in every stage: a row of weight 2 counts like two rows, one of
            weight 0 not at all, though it gets a label. How odd rows are is told by those that count,
            each once.
        groups : array of shape (n,), optional
            Where each row is from, such as a batch, donor or study, if that is not to decide its
            cluster. Views are scaled, wide ones turned to 50 principal axes, and the mean of its group,
            over all of the group's rows, is taken off each row. Groups whose rows are of quite different
            kinds are brought too near each other by this: compare with and without. Every row must have
            all views. New rows need their ``groups``, too: those of a group that was not there are
            scaled as all rows together, with a warning.
        partial_labels : array of shape (n,), optional
            The cluster of rows where it is known, from 0 to ``n_clusters - 1``, and -1 where it is not.
            Centres start near such rows and are kept near them, and clusters have the numbers that are
            given; a row that lies elsewhere may get another label all the same. Never needed.

        Returns
        -------
        LMVSC
            This estimator.
        """
        columns = self._find_columns(X)
        given = self._encode(split_views(X, columns))
        views = drop_empty_views(given)
        settings = resolve(self._parameters(), given, views)
        weights = read_weights(sample_weight, views.n_rows, settings)
        names = None if groups is None else read_groups(groups, views.n_rows)
        known = read_known(partial_labels, views.n_rows, settings)
        engine = choose_engine(self.engine, views.arrays)
        seed = self._draw_seed()
        identity: dict[str, str | None] = {
            "random_state": None if self.random_state is None else str(seed),
            "view_names": digest(list(views.names)),  # each view's randomness is drawn by its name
            "sample_weight": digest(weights),
            "groups": digest(names),
            "partial_labels": digest(known),
            **{field.name: digest(getattr(settings, field.name)) for field in fields(settings)},
        }
        run, rng = self._run(identity), np.random.default_rng(seed)
        logger.info("fitting %r with %s on %s", settings, engine, views)
        with run.resources:
            result = pipeline.fit(
                views.arrays, views.names, settings,
                engine=engine, run=run, rng=rng, weights=weights, groups=names, hints=known,
            )  # fmt: skip
        # Only now, so that a fit that failed leaves an earlier one as it was.
        stale = (
            "_stream", "n_samples_seen_", "view_columns_", "outlier_score_", "leaves_", "cuts_",
            "feature_importances_", "groups_", "batch_mixing_",
        )  # fmt: skip
        for name in stale:
            self.__dict__.pop(name, None)
        self._record_columns(X, views, columns)
        self.__dict__.update(_attributes_of(result, result.groups))
        self.labels_, self.embedding_, self.ids_ = result.labels, result.embedding, views.ids
        if names is not None:
            self.batch_mixing_ = measure_mixing(names, np.asarray(result.labels))
        self.confidence_ = result.confidence
        if result.outlier_score is not None:
            self.outlier_score_ = result.outlier_score
        if result.leaves is not None:
            self.leaves_ = result.leaves
        self.n_iter_, self.suggestion_ = result.n_iter, result.suggestion
        self.stage_seconds_, self.stage_memory_ = result.stage_seconds, result.stage_memory
        self.solver_report_ = describe_solver(views, result)
        chosen = explain_choices(self._parameters(), views.names, result)
        self.choices_ = Choices([*describe_encodings(views), *chosen])
        self.cautions_ = cautions_of_labels(result.labels, self.n_clusters_)
        if views.is_in_memory:
            self.feature_importances_ = measure_importances(views, np.asarray(result.labels))
        if np.ndim(self.n_clusters):
            self.cuts_ = {int(n): self.cut(n) for n in self.n_clusters}
        warn_of_silent_views(views, self.view_weights_)
        warn_of_doubts(result)
        warn_of_cautions(self.cautions_)
        for choice in self.choices_:
            logger.info("chose %(parameter)s = %(value)r: %(why)s", choice)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> LMVSC:
        """Add a batch of rows of a stream; memory does not grow with the number of batches.

        Scaling and anchors come from the first rows: 256 for each anchor, 10 000 at least. Later rows
        are added to sums, and some of them kept in a reservoir of bounded size, on which centres are
        found. The model may be used at any time, also before there are so many; it is that of the rows
        seen so far, worked out when it is first asked for. There are no ``labels_`` and no
        ``embedding_``, because rows are not kept. ``fit`` starts anew, and so does ``partial_fit`` of a
        model that was loaded from a file: sums are not saved.

        Parameters
        ----------
        X : array, table, list or dict of them, or Views
            The same views in every batch; any number of rows.
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        LMVSC
            This estimator.

        Examples
        --------
        >>> from manyview import LMVSC, datasets, metrics
        >>> views = datasets.make_views(900, 3, (5, 8), random_state=0)
        >>> model = LMVSC(3, n_anchors=20, random_state=0)
        >>> for start in range(0, 900, 100):
        ...     model = model.partial_fit(views[start : start + 100])
        >>> model.n_samples_seen_, model.predict(views).shape
        (900, (900,))
        """
        params, stream = self._parameters(), self.__dict__.get("_stream")
        if stream is not None:
            stream.add(self.read_rows(X)[:], params)
        else:
            columns = self._find_columns(X)
            views = self._encode(split_views(X, columns))
            stream = StreamStart(params, views, seed=self._draw_seed())
            stream.add(views[:], params)
            stale = {n for n in vars(self) if n.endswith("_")} | set(_OF_A_STREAM)
            for name in stale - {"n_features_in_", "feature_names_in_"}:
                self.__dict__.pop(name, None)
            self._record_columns(X, views, columns)
        self._stream = stream
        self.n_samples_seen_ = stream.n_seen
        return self

    def update(self, X: Any, *, groups: Any = None) -> LMVSC:
        """Add new rows: clusters keep their numbers, and rows that nothing explains open new ones.

        A group of ten rows or more opens a cluster if anchors made from some of them explain the others
        much better than all known anchors do; of large inputs, 4000 rows are looked at. Other rows join
        the cluster that they are nearest to, and move its centre: centres are means of all rows, old and
        new. The old rows are not needed, so a model may come from a file. ``labels_``, ``confidence_``,
        ``outlier_score_``, ``leaves_`` and ``ids_`` keep what they had, and go on with the new rows.
        :meth:`predict` gives the new rows' ``labels_``; as centres move, it may say another cluster of a
        few rows that were there before. ``embedding_`` goes: use :meth:`transform`. The published method
        and streams cannot be updated.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.

        Returns
        -------
        LMVSC
            This estimator.

        Examples
        --------
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(600, 4, (6, 8), random_state=0)
        >>> known, new = views.target < 3, views.target == 3
        >>> model = LMVSC(3, random_state=0).fit(views[known]).update(views[new])
        >>> model.n_clusters_, len(model.labels_)
        (4, 600)
        """
        views, n_before = self.prepare_rows(X, groups), len(self.cluster_centers_)
        what = partial(updating.update, self.model_, view_weights=self.view_weights_)
        found = self._compute(what, views, is_lazy=False)
        known = getattr(self, "groups_", None)
        self.__dict__.update(attributes_of_model(found.model, known))
        for name in ("batch_mixing_", "embedding_", "cuts_", "feature_importances_"):
            self.__dict__.pop(name, None)
        for name in ("labels_", "confidence_", "outlier_score_", "leaves_"):
            if hasattr(self, name):
                setattr(self, name, append_rows(getattr(self, name), getattr(found, name[:-1])))
        self.ids_ = append_ids(self.ids_, views.ids)
        self.inertia_ += found.inertia
        self.choices_ = Choices(
            [*self.choices_, describe_update(views.n_rows, n_before, found.model)]
        )
        self.cautions_ = cautions_of_labels(self.labels_, self.n_clusters_)
        warn_of_cautions(self.cautions_)
        return self

    def __getattr__(self, name: str) -> Any:
        """Fitted attributes of a stream: of the rows seen so far, whenever they are asked for."""
        stream: StreamStart | None = self.__dict__.get("_stream")
        if stream is None or name not in _OF_A_STREAM:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            return _attributes_of(stream.outcome())[name]
        except ValueError as error:  # too few rows so far; hasattr asks for an AttributeError
            raise NotFittedError(str(error)) from error

    def _find_columns(self, X: Any) -> dict[str, list[int]] | None:
        """Places of each view's columns, if one wide array is to be split."""
        is_split = self.views is not None and not isinstance(X, Views)
        return find_columns(X, self.views) if is_split else None

    def _encode(self, views: Views) -> Views:
        """Views with numbers only; what is left out of them is warned about."""
        encoded = views.encoded(self.categories)
        warn_of_encodings(views, encoded, self.categories)
        return encoded

    def _record_columns(self, X: Any, views: Views, columns: dict[str, list[int]] | None) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_views_, self.view_names_ = views.n_views, list(views.names)
        self.n_features_per_view_ = list(views.n_features)
        self.n_features_in_ = sum(views.n_features)
        self.feature_names_per_view_ = [
            None if names is None else list(names) for names in views.feature_names
        ]
        self.encodings_ = list(views.encodings)
        if columns is not None:
            self.view_columns_ = columns
        if is_single(X, views) or columns is not None:  # scikit-learn's own bookkeeping
            validate_data(self, as_wide(X), reset=True, skip_check_array=True)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit; the embedding of the rows, shape (n, c).

        Parameters
        ----------
        X, y, fit_params
            As in :meth:`fit`.
        """
        return self._as_output(self.fit(X, **fit_params).embedding_, self.ids_)

    def predict(self, X: Any, *, groups: Any = None) -> npt.NDArray[np.int32]:
        """The cluster of each row of ``X``, which has the views that were fitted.

        A sample may lack some of them: a row of NaN, ``Views(..., present=...)``, or a dict without a
        view that no sample has.

        Parameters
        ----------
        X : array, data frame, list or dict of them, or Views
            The rows.
        groups : array of shape (n,), optional
            Where each row is from, of a model that was fitted with groups, and of no other. What was
            taken off a group in the fit is taken off its rows here. Rows of groups that were not there
            are scaled as all rows together, with a warning. All that takes rows takes these.

        Returns
        -------
        ndarray of shape (n,), int32
            For Dask arrays, a Dask array that is computed when it is asked for.
        """
        views = self.prepare_rows(X, groups)
        labels: npt.NDArray[np.int32] = self._map(self.model_.label, views, stage="labels")
        return labels

    def predict_with_confidence(self, X: Any, *, groups: Any = None) -> tuple[Any, Any]:
        """The cluster of each row of ``X``, and how probable it is, in one pass over the rows.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.

        Returns
        -------
        labels, confidence
            What :meth:`predict` gives, and the largest number of each row of :meth:`predict_proba`.
        """
        views = self.prepare_rows(X, groups)
        found = self._map(self.model_.label_surely, views, stage="labels")
        return found[:, 0].astype(np.int32), found[:, 1]

    def predict_proba(self, X: Any, *, top: int | None = None, groups: Any = None) -> Any:
        """How probable it is that each row of ``X`` belongs to each cluster.

        Probabilities fall with the squared distance to the cluster's centre in the embedding, so the
        most probable cluster is that of :meth:`predict`. How fast they fall is decided in the fit: as
        clusters that are Gaussian in the scaled columns, all with one covariance, would overlap. Where
        classes are like that, of the rows with confidence .8 eight in ten are right. No model knows
        of classes that its columns do not show.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        top : int, optional
            Keep so many of each row's largest probabilities, as a sparse matrix: for very many
            clusters.

        Returns
        -------
        ndarray or csr_array of shape (n, k)
            For Dask arrays, a Dask array that is computed when it is asked for; with ``top``, its
            blocks are sparse. Rows sum to one without ``top``, and to at most one with it.

        Examples
        --------
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(300, 3, (4, 5), random_state=0)
        >>> model = LMVSC(3, random_state=0).fit(views)
        >>> model.predict_proba(views).shape, model.predict_proba(views, top=2).nnz
        ((300, 3), 600)
        """
        views, k = self.prepare_rows(X, groups), len(self.cluster_centers_)
        if top is None:
            return self._map(self.model_.probabilities, views, stage="probabilities")
        n_top = min(check_count("top", top), k)
        packed = self._map(
            partial(self.model_.probabilities, top=n_top), views, stage="probabilities"
        )
        return as_sparse(packed, k)

    def cut(self, n_clusters: int, X: Any = None, *, groups: Any = None) -> Any:
        """The cluster of each row if there were ``n_clusters`` of them, without fitting again.

        Fewer clusters are merged ones, by Ward's criterion in the embedding; more are parts of them.
        All cuts are nested: none divides what a finer one keeps together. ``hierarchy_`` is the tree.

        Parameters
        ----------
        n_clusters : int
            How many; up to about eight times as many as were fitted, fewer where clusters have few
            rows.
        X, groups : optional
            Rows to label, as :meth:`predict` takes them; those that were fitted or added by default.

        Returns
        -------
        ndarray of shape (n,), int32
            ``labels_`` if the number is ``n_clusters_``. For Dask arrays a Dask array.

        Examples
        --------
        >>> import numpy as np
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(400, 4, (4, 5), random_state=0)
        >>> model = LMVSC(4, random_state=0).fit(views)
        >>> [len(np.unique(model.cut(n))) for n in (2, 4, 8)]
        [2, 4, 8]
        """
        check_is_fitted(self)
        n = check_count("n_clusters", n_clusters)
        if X is not None:
            views = self.prepare_rows(X, groups)
            cut = partial(self.model_.cut, groups=self.model_.groups(n))
            return self._map(cut, views, stage="labels")
        if not hasattr(self, "labels_"):
            raise ValueError("A stream keeps no labels of its rows: pass those to label, X.")
        return cut_known(self.model_, n, getattr(self, "leaves_", None))

    def outlier_scores(self, X: Any, *, groups: Any = None) -> Any:
        """How odd each row of ``X`` is, from 0 to 1: how badly anchors explain it.

        In each view, a row is written as a mixture of a few anchors that each stand for many rows.
        What is left of it is compared with what is left of rows that use the same anchors: how many
        deviations is the logarithm of the ratio above the middle? The root mean square of its views is
        how far out the row lies. 0 is as usual or better in every view, .5 the limit beyond which rows
        are marked with ``outliers="mark"``, and r / (1 + r) is r times as far out as that.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.

        Returns
        -------
        ndarray of shape (n,)
            For Dask arrays, a Dask array that is computed when it is asked for.

        Examples
        --------
        >>> import numpy as np
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(300, 3, (4, 5), random_state=0)
        >>> model = LMVSC(3, random_state=0).fit(views)
        >>> far = [100.0 + view[:1] for view in views.arrays]
        >>> bool(model.outlier_scores(far)[0] > 0.5)
        True
        """
        views = self.prepare_rows(X, groups)
        return self._map(self.model_.outlier_scores, views, stage="oddness")

    def score(self, X: Any, y: Any = None, *, groups: Any = None) -> float:
        """How good the clusters of ``X`` are, without labels: silhouette times modularity, 0 to 1.

        Larger is better, so that ``GridSearchCV`` works as it is; see
        :func:`manyview.select.label_free_score`.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        y : ignored
            For scikit-learn's conventions.
        """
        views = self.prepare_rows(X, groups)
        return score_without_labels(self.model_, views)

    def transform(self, X: Any, *, groups: Any = None) -> Any:
        """The embedding of each row of ``X``, shape (n, c).

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        """
        views = self.prepare_rows(X, groups)
        return self._as_output(self._map(self.model_.embed, views, stage="embedding"), views.ids)

    def _map(self, function: Callable[..., Any], views: Views, *, stage: str) -> Any:
        """What a function of tiles finds for each row."""
        return self._compute(partial(map_rows, function=function, stage=stage), views)

    def _compute(self, what: Callable[..., Any], views: Views, *, is_lazy: bool = True) -> Any:
        """What a function of the pipeline makes of rows."""
        warn_of_silent_views(views, self.view_weights_)
        engine, run = choose_engine(self.engine, views.arrays), self._run(is_lazy=is_lazy)
        with run.resources:
            return what(views.arrays, engine=engine, run=run)

    def _as_output(self, rows: Any, ids: Any) -> Any:
        """Rows with their ids where ``set_output`` asks for pandas; scikit-learn does the rest."""
        return frames.with_ids(rows, ids, _get_output_config("transform", self)["dense"])

    def labels_series(self, X: Any = None, *, groups: Any = None) -> Any:
        """The cluster of each row as a pandas Series whose index are the rows' ids.

        Parameters
        ----------
        X, groups : optional
            Rows to label, as :meth:`predict` takes them; those that were fitted by default.

        Examples
        --------
        >>> import pandas as pd
        >>> from manyview import LMVSC
        >>> table = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1]}, index=["a", "b", "c", "d"])
        >>> clusters = LMVSC(2, random_state=0).fit(table).labels_series()
        >>> bool(clusters["a"] == clusters["b"] != clusters["c"])
        True
        """
        labels, ids = self._labels_and_ids(X, groups)
        return frames.make_series(labels, ids, "cluster")

    def labels_frame(self, X: Any = None, *, groups: Any = None, kind: str = "pandas") -> Any:
        """Ids and clusters as two columns of a data frame.

        Parameters
        ----------
        X, groups : optional
            Rows to label, as :meth:`predict` takes them; those that were fitted by default.
        kind : {"pandas", "polars", "pyarrow"}
            Which library's.
        """
        labels, ids = self._labels_and_ids(X, groups)
        rows = np.arange(len(labels)) if ids is None else ids
        return frames.make_frame({"id": rows, "cluster": labels}, kind)

    def _labels_and_ids(self, X: Any, groups: Any) -> tuple[npt.NDArray[np.int32], Any]:
        check_is_fitted(self)
        if X is None:
            if not hasattr(self, "labels_"):
                raise ValueError("A stream keeps no labels of its rows: pass those to label, X.")
            return np.asarray(self.labels_), self.ids_
        views = self.read_rows(X)
        return np.asarray(self.predict(views, groups=groups)), views.ids

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON, no pickle. Read it with ``load``.

        Everything that predicting needs and the training labels are kept; the training embedding is
        not (``transform`` gives it again).

        Parameters
        ----------
        path : path-like
            The file to write.
        """
        check_is_fitted(self)
        params = self.get_params()
        if "views" in params:
            params["views"] = getattr(self, "view_columns_", None)
        fitted = {name: getattr(self, name) for name in FITTED if hasattr(self, name)}
        persistence.write_model(Path(path), self.model_, params=params, fitted=fitted)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        ids: Any = None,
        labels: Any = None,
        groups: Any = None,
        static: bool = False,
        force: bool = False,
    ) -> Path:
        """Write what was found as one HTML page that opens anywhere, also offline.

        Parameters
        ----------
        path : path-like
            The file to write.
        X : array, table, list or dict of them, or Views, optional
            The rows that were fitted. Without them the page leaves out what needs their columns: each
            view's own clusters, stability, and the columns that set clusters apart.
        ids : sequence of shape (n,), optional
            A name for each row.
        labels : sequence of shape (n,), optional
            True labels to compare with.
        groups : sequence of shape (n,), optional
            Where each row is from, if the model was fitted with groups and rows are given.
        static : bool, default=False
            Without any script: the map is a picture.
        force : bool, default=False
            Replace the file if it exists.

        Returns
        -------
        Path
            The file.
        """
        from manyview.report import build_summary, write_report

        summary = build_summary(self, X, ids=ids, labels=labels, groups=groups)
        new = [c for c in cautions_of_advice(summary["advice"]) if c not in self.cautions_]
        self.cautions_ = [*self.cautions_, *new]
        warn_of_cautions(new)
        return write_report(summary, path, static=static, force=force)

    def explain(
        self, X: Any = None, *, groups: Any = None, n_listed: int = 5, max_rows: int = 20_000
    ) -> Explanation:
        """Reasons: what sets clusters apart, what carries them, and which view says so.

        Parameters
        ----------
        X : array, data frame, list or dict of them, or Views, optional
            Rows to explain: those that were fitted, or new ones. Without them there are anchors only:
            features, and what the views say of each row, need the rows.
        groups : array of shape (n,), optional
            Where each row is from, if the model was fitted with groups. Features are those of the rows
            as they come.
        n_listed : int, default=5
            Features of each view, and anchors, listed for each cluster.
        max_rows : int, default=20000
            Rows looked at, at equal distances; all if there are fewer.

        Returns
        -------
        Explanation
            Tables ``features``, ``anchors`` and ``samples``; shows what matters when printed.

        Examples
        --------
        >>> from manyview import LMVSC, datasets
        >>> views = datasets.make_views(200, 3, (4, 5), random_state=0)
        >>> why = LMVSC(3, random_state=0).fit(views).explain(views)
        >>> why.samples["supported_by"][0] in ("view_0", "view_1", "all views")
        True
        """
        check_is_fitted(self)
        views = None if X is None else self.read_rows(X)
        given = None if groups is None or views is None else read_groups(groups, views.n_rows)

        def prepare(rows: Views, numbers: Any) -> Views:
            return self.prepare_rows(rows, None if given is None else given[numbers])

        return explain_rows(
            self.model_, views, prepare=prepare, n_listed=n_listed, max_rows=max_rows
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show a fitted model in a notebook by what it found, otherwise as scikit-learn does."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._card() or bundle["text/html"]
        return bundle

    def _repr_html_inner(self) -> str:
        return self._card() or str(super()._repr_html_inner())

    def _card(self) -> str | None:
        if not hasattr(self, "labels_"):  # not fitted, or a stream
            return None
        try:
            from manyview.report.render import show_card
        except ModuleNotFoundError:  # the report's libraries are optional
            return None
        return show_card(self)

    def read_rows(self, X: Any) -> Views:
        """Rows as the views and columns that were fitted, in their order; others are refused.

        Parameters
        ----------
        X : array, data frame, list or dict of them, or Views
            What :meth:`predict` takes.
        """
        check_is_fitted(self)
        names, widths = self.view_names_, self.n_features_per_view_
        places = None if isinstance(X, Views) else getattr(self, "view_columns_", None)
        if places is not None:
            count_columns(X)  # refuses what is not two-dimensional, then scikit-learn's own checks
            validate_data(self, as_wide(X), reset=False, skip_check_array=True)
        views = split_views(read_like(X, self.encodings_), places)
        views = match_views(views, names, widths, by_name=isinstance(X, Mapping))
        if places is None and is_single(X, views):
            validate_data(self, as_wide(X), reset=False, skip_check_array=True)
        views = encode_like(views, names, self.encodings_)
        views = align_columns(views, names, self.feature_names_per_view_)
        refuse_other_columns(views, names, widths)
        return views

    def prepare_rows(self, X: Any, groups: Any = None) -> Views:
        """Rows as the model takes them: those of :meth:`read_rows`, less what is common to their groups.

        Parameters
        ----------
        X, groups
            What :meth:`predict` takes.
        """
        views, known = self.read_rows(X), getattr(self, "groups_", None)
        if (known is None) != (groups is None):
            raise ValueError(
                "The model was fitted without groups: leave them out here, too."
                if known is None
                else "The model was fitted with groups: say where each row is from with groups=..."
            )
        if known is None:
            return views
        codes = known.codes_of(groups, views.n_rows)
        engine, run = choose_engine(self.engine, views.arrays), self._run(is_lazy=True)
        with run.resources:
            arrays = correct_rows(views.arrays, known, codes, engine=engine, run=run)
        return Views(dict(zip(views.names, arrays, strict=True)), ids=views.ids)

    def _run(self, identity: dict[str, str | None] | None = None, *, is_lazy: bool = False) -> Run:
        from manyview.simplex.jit import watched

        progress = progress_for(self.verbose)
        run = Run(count_jobs(self.n_jobs), progress, identity=identity, is_lazy=is_lazy)
        say = getattr(progress, "say", lambda text: None)
        run.notes["compiling"] = run.resources.enter_context(watched(say))
        return run

    def _draw_seed(self) -> int:
        if isinstance(self.random_state, np.random.Generator):
            return int(self.random_state.integers(np.iinfo(np.int32).max))
        try:
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except ValueError as error:
            raise wrong_seed(self.random_state) from error

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _attributes_of(outcome: Outcome, groups: Groups | None = None) -> dict[str, Any]:
    """Fitted attributes that a fit gives besides those of each row, by name."""
    return {
        **attributes_of_model(outcome.model, groups),
        "view_weights_": outcome.view_weights,
        "inertia_": outcome.inertia,
        "singular_values_": outcome.bases[0].singular_values,
    }


def attributes_of_model(model: FittedModel, groups: Groups | None = None) -> dict[str, Any]:
    """Fitted attributes that a model alone gives, and what is taken off rows before it, by name."""
    scalers = model.scalers if groups is None else groups.scalers
    return {
        **({} if groups is None else {"groups_": groups}),
        "model_": model,
        "n_clusters_": len(model.centers),
        "cluster_centers_": model.centers,
        "hierarchy_": None if model.hierarchy is None else model.hierarchy.tree,
        "anchors_": [model.anchors_in_units(graph) for graph in model.graphs],
        "scaling_": [scaler.kind for scaler in scalers],
        "_n_features_out": model.centers.shape[1],  # for get_feature_names_out
    }
