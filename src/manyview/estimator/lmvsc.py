"""LMVSC: parameters, validation, fitted attributes; no mathematics."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import Any

import numpy as np

from manyview import explain, pipeline
from manyview.engines import choose_engine
from manyview.estimator.growing import Growing, attributes_of
from manyview.explain.cautions import cautions_of_labels, warn_of_cautions
from manyview.sources.packing import digest
from manyview.views.matching import drop_empty_views, warn_of_silent_views

logger = logging.getLogger("manyview")


class LMVSC(Growing):
    r"""Large-scale multi-view subspace clustering, in time linear in the number of samples.

    Each view gets a few hundred anchors, and each row is written as a mixture of them (Eq. 6 of the
    paper). These weights form a sparse graph between rows and anchors. The leading left singular
    vectors of all graphs side by side place the rows in an embedding (Proposition 1), together with
    each row's shares in communities of anchors. K-means on the embedding gives the labels. Whatever is
    left on "auto" is chosen from the data, without labels; ``choices_`` says what and why. If no
    setting of the graphs was touched and the clusters are plain to see, because they lie far apart or
    the rows fall into that many pieces, no graph is built.

    Parameters
    ----------
    n_clusters : int, sequence of int or "auto", default=8
        Number of clusters. With several numbers, the largest is fitted and ``cuts_`` holds the labels
        for each. "auto" suggests a number from a few rows; ``suggestion_`` holds the evidence.
    views : mapping of str to columns, default=None
        How to split one wide array or data frame into views: for each view, the names or positions of
        its columns, a slice, a mask, or a function of ``X``, as in
        :class:`~sklearn.compose.ColumnTransformer`. This makes every tool of scikit-learn that passes
        one array work. None takes several views as they come: a list, a dict or :class:`Views`.
    categories : {"auto", "strict", "refuse"} or mapping of str to str, default="auto"
        What to do with columns of a table that are not numbers. "auto" turns text, categories and
        booleans into one column of zeros and ones per level (rare levels share one; missing ones have
        their own), turns ordered categories and dates into numbers, and leaves out identifiers, free
        text and constants, with a warning. "strict" refuses instead of leaving out; "refuse" accepts
        numbers only. A mapping from column names or patterns decides for single columns: "encode" (one
        column per level, even for numbers), "drop" or "keep"; its key "*" may be one of the three
        words above. New rows are encoded as in the fit; a level that was not there counts as rare.
    n_anchors : int, sequence of int or "auto", default="auto"
        Anchors of each view. Several numbers make several graphs of each view. "auto" is 300, but at
        most a third of the rows (in text, with over 93 % zeros, a tenth, or two per cluster). Where
        rows use only their nearest anchors, it is a seventh of the rows (a 35th for 100 clusters or
        more, but at most ten per cluster), at least 1000 or two per cluster, at most 2000, and never
        more than a sixth of the rows. There are always at least ``n_clusters``.
    alpha : float, sequence of float or "auto", default="auto"
        Ridge on the weights: larger values spread each row over more anchors. It is relative to the
        view's energy, the mean squared norm of its centred rows. "auto" is 0.01, or 0.1 where rows use
        only their nearest anchors.
    locality : float or "auto", default="auto"
        Penalty on using anchors far from the row; 0 in the paper. "auto" is 0.03, or 0 where rows use
        only their nearest anchors.
    scaling : str or None, for all views or one per view (a list, or a dict by name), default="auto"
        How columns are scaled:

        - "standard": mean 0 and variance 1
        - "normal-scores": ranks turned into normal quantiles
        - "mixed": normal scores, but columns of zeros and ones share one factor (for tables with
          categories)
        - "hellinger": square roots, then rows of unit length (word counts)
        - "unit": rows of unit length
        - "energy": one factor per view
        - "log": log(1 + x), then "standard" (counts)
        - "clr": logarithms minus their mean in each row (proportions, proteins of cells)
        - "lognorm": log(1 + x) of rows with equal totals (genes)
        - "tf-idf": rare columns weighted up, then rows of unit length (peaks)
        - None: not at all

        All but None end with a mean squared norm of 1 in each view. "auto" tries those that suit the
        view on at most 4000 rows, and keeps the one that shows the clusters best; the guide on
        settings explains how. Text and counts of molecules are recognised, and nothing is tried for
        them, or where ``n_components`` or anchors are given.
    fusion : {"auto", "late", "early", "both"}, default="auto"
        "late": one graph per view, as in the paper. "early": one graph of all views side by side.
        "both": half the weight each, because averaging over views hides what only some of them see.
        "auto" is "both" ("late" where anchors are given).
    n_repeats : int or "auto", default="auto"
        Number of anchor seeds, at most 1000; their embeddings are put side by side. "auto" is 3, and up
        to 9 for fewer than 2000 rows, which vary more and cost little. It is 2 for 100 000 rows or
        more, of which the second has a say on the sample alone; 1 for 100 clusters or more (2 for fewer
        than 5000 rows); 1 where the spectrum has a clear gap after as many vectors as clusters; fewer
        than 3 for extremely wide views; and 1 where anchors are given.
    view_weights : {"auto", "equal", "agreement", "amgl"}, sequence of float, or dict, default="auto"
        "equal" weights, or "agreement" of each view's graph with the others (views of noise get none),
        or the rule of "amgl", or numbers, in order or by name (1 for views not named). "auto" is
        "agreement", which needs three views or more.
    n_components : int or "auto", default="auto"
        Number of singular vectors. "auto" keeps as many as clusters if the spectrum has a clear gap
        there. Otherwise it keeps half as many again (at most 20 more), skips vectors that live on a
        handful of rows, and weights each by the power 1.5 of its squared singular value. A number
        keeps that many leading vectors, unweighted, and no communities of anchors.
    anchor_method : {"kmeans", "kmeans-all", "random"} or sequence of arrays, default="kmeans"
        Anchors from k-means on a sample (32 rows per anchor), from k-means on all rows, or random
        rows. Or the anchors themselves: one array (m, d) per view.
    n_neighbors : int, None or "auto", default="auto"
        Let each row use only this many anchors, the nearest. None lets it use all, as in the paper.
        "auto" is 3 from 5000 rows on, but None for text and for given anchors.
    n_axes : int, None or "auto", default="auto"
        Rotate each scaled view to this many principal axes and even them out a little. None leaves the
        columns as they are. "auto" is 50, or as many as clusters up to 200 if these are more (fewer for
        counts of molecules in few cells), but None for text, for tables with categories and without
        scaling.
    max_iter : int, default=100
        Maximum number of iterations of the final k-means. With more than 200 clusters it stops after
        two.
    tol : float, default=1e-4
        Relative tolerance of the final k-means.
    outliers : {"keep", "mark"}, default="keep"
        "mark" gives the label -1 to rows that fit in nowhere, and ignores them in scaling, anchors and
        centres. "keep" gives them a cluster like all others. Either way, ``outlier_score_`` says how
        odd each row is.
    random_state : int, RandomState, Generator or None, default=None
        Seed. The same seed gives the same labels, whatever ``n_jobs`` or ``engine``.
    n_jobs : int or None, default=None
        Number of threads; None or -1 uses all cores that this process may use. With more than one,
        some steps of a fit run beside others: for a moment up to twice as many, and one, are at work.
    engine : {"auto", "memory", "disk", "dask"} or an engine object, default="auto"
        Where the rows live and who computes on them. "auto" is "dask" for Dask arrays, "disk" if a
        view is in a file, and "memory" otherwise.
    verbose : int or a progress object, default=0
        1 shows the stage, the share done and the time left, on a terminal or below a notebook's cell.
        You can also pass an object with methods ``start(stage, total)``, ``advance(steps)`` and
        ``finish()``, and optionally ``plan(costs)`` and ``say(text)``.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int32
        Cluster of each row, or -1 if it was marked as an outlier.
    confidence_ : ndarray of shape (n,)
        How probable each row's cluster is, from 1 / k to 1: the largest of its :meth:`predict_proba`.
        For a marked outlier, that of the cluster it would be in.
    hierarchy_ : ndarray of shape (l - 1, 4)
        Tree of the clusters and of finer ones, its l leaves, as a SciPy linkage; see :meth:`cut`.
    leaves_ : ndarray of shape (n,), int32
        The leaf of this tree that each row belongs to, or -1 for a marked outlier. Missing beyond 3000
        clusters, where there is no tree.
    cuts_ : dict of int to ndarray of shape (n,)
        The labels for each number, if ``n_clusters`` has several.
    outlier_score_ : ndarray of shape (n,)
        How odd each row is, from 0 to 1; see :meth:`outlier_scores`.
    embedding_ : ndarray of shape (n, c)
        Coordinates of the rows: the spectral embedding from each anchor seed, then the shares in
        communities of anchors. With two seeds on "auto" for 100 000 rows or more: the embedding from
        the first seed, then each row's shares in the clusters of its anchors' rows. Single precision
        beyond 128 columns.
    anchors_ : list of ndarray of shape (m, d)
        Anchors of each graph: in the units of the columns if the scaling is linear ("standard",
        "energy", None), otherwise scaled.
    cluster_centers_ : ndarray of shape (k, c)
        Cluster centres in the embedding.
    singular_values_ : ndarray of shape (s,)
        Singular values of the fused graph of the first anchor seed, descending, with a few to spare.
    inertia_ : float
        Sum of squared distances of embedding rows to their centre.
    n_iter_ : int
        Sweeps of the final k-means over all rows.
    view_weights_ : ndarray of shape (v,)
        Weight of each view; they sum to one.
    scaling_ : list of (str or None)
        How each view was scaled.
    cautions_ : list of str
        What to be wary of, also given as warnings: clusters that are empty, tiny or hold nearly all
        rows. :meth:`report` adds clusters that other seeds do not find, and more.
    feature_importances_ : list of ndarray of shape (d,)
        For each view in memory, how well each column separates the clusters: the share of its variance
        that lies between clusters, relative to the view's other columns.
    groups_ : Groups
        If ``groups`` were given: how views were scaled, and the mean that was subtracted from each
        group.
    batch_mixing_ : float
        If ``groups`` were given: how well they are mixed within clusters, from 0 (one follows from the
        other) to 1.
    choices_ : list of dict
        What was chosen for every parameter left on "auto": ``parameter``, ``value`` and ``why``. Also
        mentions it if there are fewer anchors than ``n_anchors``.
    n_clusters_ : int
        Number of clusters.
    suggestion_ : Suggestion or None
        With ``n_clusters="auto"``, the curves behind the number, and the runners-up.
    n_views_, view_names_, n_features_per_view_, n_features_in_
        What was fitted.
    model_ : FittedModel
        The arrays behind :meth:`predict`.
    feature_names_per_view_ : list of (list of str, or None)
        Column names of each view that has them. Columns of new rows are matched to them.
    encodings_ : list of (Encoding or None)
        What became of each column, for views with columns that are not numbers.
    ids_ : ndarray of shape (n,), or None
        Names of the rows, if the input has them; see :meth:`labels_series`.
    view_columns_ : dict of str to list of int
        The positions of each view's columns, if ``views`` was set.
    stage_seconds_ : dict
        Seconds spent in each stage. Compiling, which happens once per machine, is a stage of its own.
    stage_memory_ : dict
        Peak memory of this process in each stage, in bytes, input included. Empty unless you ask for
        it, as in ``engine=Memory(track_memory=True)``. Workers of a cluster are not counted.
    solver_report_ : dict
        Rows solved, mean number of anchors that a row uses in each graph, rows not solved to
        tolerance.

    See Also
    --------
    manyview.baselines : other methods that take the same views.
    manyview.compose.per_view : a transformer for each view, in pipelines.
    manyview.select.compare : settings compared without labels.

    Notes
    -----
    With the Dask engine, every attribute with one entry per row is a Dask array. With the disk engine,
    labels and embedding are memory maps if they are large.

    In every scaled view X, and in all views side by side, each row x is a mixture of m anchors A:

    .. math::

       \min_z \|x - A^T z\|^2 + \alpha \|z\|^2 + \gamma \sum_j z_j \|x - a_j\|^2,
       \quad z \ge 0, \ 1^T z = 1

    (:math:`\gamma = 0` is the paper's Eq. 6). Rows z form Z, whose columns are divided by the roots of
    their sums. The left singular vectors of these matrices side by side are the leading eigenvectors
    of the averaged n x n graph :math:`Z \Sigma^{-1} Z^T`, which is never formed; k-means on their rows
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

        That k-means starts ten times from random rows and stops when no label changes, or after a
        hundred rounds. An empty cluster takes the row farthest from its centre. The run with the
        smallest sum of plain (not squared) distances is kept. It finds both the anchors, from all rows
        of a view, and the labels, from the embedding.

        Parameters
        ----------
        n_clusters, n_anchors, alpha
            As in the paper, which tries m in k, 50, 100 and alpha in .001 to 10, and keeps the best
            by the true labels.
        variant : {"paper", "released"}
            The paper's text, or the authors' script. The script leaves out the degree scaling
            Sigma^-1/2, and gives the k-means of every view the same seed, so that all views start from
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
            lack views, but not all: a row of NaN, or ``Views(..., present=...)``. A view that no
            sample has is left out, with a warning.
        y : ignored
            For scikit-learn's conventions.
        sample_weight : array of shape (n,), optional
            How much each row counts in every stage: a row of weight 2 counts like two rows, a row of
            weight 0 not at all, though it gets a label. Outlier scores ignore weights other than 0.
        groups : array of shape (n,), optional
            Where each row comes from, such as a batch, donor or study, if this should not influence
            its cluster. After scaling (and rotating wide views to at most 50 principal axes), the mean
            of its group is subtracted from each row. This brings groups too close together if they hold
            quite different kinds of rows: compare with and without. Every row must have all views. New
            rows need their ``groups``, too; those of an unknown group are scaled like all rows
            together, with a warning.
        partial_labels : array of shape (n,), optional
            The cluster of each row that is known, from 0 to ``n_clusters - 1``, and -1 for all others.
            Centres start at the known rows and stay near them, and clusters keep the numbers you gave.
            A known row that lies elsewhere may still get another label.

        Returns
        -------
        LMVSC
            This estimator.
        """
        given, columns = self._read_new(X)
        views = drop_empty_views(given)
        settings = pipeline.settings.resolve(self._parameters(), given, views)
        weights = pipeline.known_rows.read_weights(sample_weight, views.n_rows, settings)
        names = None if groups is None else pipeline.groups.read_groups(groups, views.n_rows)
        known = pipeline.known_rows.read_known(partial_labels, views.n_rows, settings)
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
            result = pipeline.fit.fit(
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
            self.batch_mixing_ = pipeline.groups.measure_mixing(names, np.asarray(result.labels))
        self.confidence_ = result.confidence
        if result.outlier_score is not None:
            self.outlier_score_ = result.outlier_score
        if result.leaves is not None:
            self.leaves_ = result.leaves
        self.n_iter_, self.suggestion_ = result.n_iter, result.suggestion
        self.stage_seconds_, self.stage_memory_ = result.stage_seconds, result.stage_memory
        choices = pipeline.choices
        self.solver_report_ = choices.describe_solver(views, result)
        chosen = choices.explain(self._parameters(), views.names, result)
        self.choices_ = choices.Choices([*choices.describe_encodings(views), *chosen])
        self.cautions_ = cautions_of_labels(result.labels, self.n_clusters_)
        if views.is_in_memory:
            self.feature_importances_ = explain.measure_importances(
                views, np.asarray(result.labels)
            )
        if np.ndim(self.n_clusters):
            self.cuts_ = {int(n): self.cut(n) for n in self.n_clusters}
        warn_of_silent_views(views, self.view_weights_)
        choices.warn_of_doubts(result)
        warn_of_cautions(self.cautions_)
        for choice in self.choices_:
            logger.info("chose %(parameter)s = %(value)r: %(why)s", choice)
        return self

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the cluster of each row, ``labels_``.

        Parameters
        ----------
        X, y, fit_params
            As in :meth:`fit`.
        """
        return self.fit(X, **fit_params).labels_

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the embedding of the rows, shape (n, c).

        Parameters
        ----------
        X, y, fit_params
            As in :meth:`fit`.
        """
        return self._as_output(self.fit(X, **fit_params).embedding_, self.ids_)
