"""LMVSC: parameters, validation, fitted attributes; no mathematics."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import numpy as np

from manyview.engines import choose_engine
from manyview.estimator.growing import Growing, attributes_of
from manyview.explain.cautions import cautions_of_labels, warn_of_cautions
from manyview.explain.features import measure_importances
from manyview.pipeline import fit as pipeline
from manyview.pipeline.choices import (
    Choices,
    describe_encodings,
    describe_solver,
    warn_of_doubts,
)
from manyview.pipeline.choices import explain as explain_choices
from manyview.pipeline.groups import measure_mixing, read_groups
from manyview.pipeline.settings import read_known, read_weights, resolve
from manyview.sources.packing import digest
from manyview.views.matching import drop_empty_views, warn_of_silent_views

logger = logging.getLogger("manyview")


class LMVSC(Growing):
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
        modularity of the graph of a few rows, or, in narrow tables, from the valleys between clusters;
        see ``suggestion_`` for the evidence.
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
    scaling : str or None, for all views or one per view (a list, or a dict by name), default="auto"
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
    view_weights : {"auto", "equal", "agreement", "amgl"}, sequence of float, or dict, default="auto"
        Weight of each view: all alike; by how far its graph agrees with the others' (views of noise
        get none); by the rule of AMGL; or given, in order or by name (1 for those not named). "auto"
        is "agreement", which needs three views.
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
        None leaves columns as they are. "auto" is 50, fewer for counts of molecules in few cells,
        but None for text, for tables with categories and without scaling.
    max_iter : int, default=100
        Most iterations of the final k-means; two are enough for more than 200 clusters.
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
        :meth:`predict_proba`; of a row that is marked as an outlier, that of the cluster it would
        otherwise be in. A Dask array with the Dask engine.
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
        given, columns = self._read_new(X)
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
        self.__dict__.update(attributes_of(result, result.groups))
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

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit; the embedding of the rows, shape (n, c).

        Parameters
        ----------
        X, y, fit_params
            As in :meth:`fit`.
        """
        return self._as_output(self.fit(X, **fit_params).embedding_, self.ids_)
