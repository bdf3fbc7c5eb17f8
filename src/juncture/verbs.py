"""The verbs over every kind of model: their signatures and their documentation.

A kind of model registers what the verbs do with it in the file `verbs.py` of its folder, which the table of kinds names
(`base/kinds.py`). It is imported when a verb meets the first model of that kind: most programs use few kinds, and
importing stays light.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

from numpy.random import Generator

from juncture.base.dispatch import lazy_dispatch, refuse_model, what_it_does
from juncture.base.kinds import KINDS, LAID_OUT_BY_LAYER, verb_modules
from juncture.base.methods import MethodList
from juncture.base.options import as_seed
from juncture.errors import Unsupported

if TYPE_CHECKING:
    from juncture.families.family import Family
    from juncture.graphs.directed import DirectedGraph
    from juncture.graphs.undirected import UndirectedGraph
    from juncture.variables import Model

PUBLIC_NAMES = {"FactorProduct": ("MarkovNetwork", "FactorGraph")}  # of a class that is a base of these


def refuse_structure(verb: str, structure: Any) -> Unsupported:
    """The error of a verb that cannot learn this structure: it names the kinds that can be learned, and a remedy."""
    if isinstance(structure, type) and structure.__name__ in {*LAID_OUT_BY_LAYER, *KINDS}:
        return Unsupported(
            f"{verb} takes a {structure.__name__} and not its class: data do not imply its structure, the model says it"
        )
    taken = kinds_taken(verb)
    shelf = [kind for kind in taken if KINDS.get(kind, "").startswith("juncture.supervised.")]
    names = [name for kind in taken if kind not in shelf for name in PUBLIC_NAMES.get(kind, (kind,))]
    way = ""
    if hasattr(structure, "consistent_extension"):
        way = ": take consistent_extension() of it"
    elif hasattr(structure, "fit"):
        way = ": it learns by a method of its own, fit"
    supervised = ", or a regression or classifier of jt.supervised" if shelf else ""
    return Unsupported(f"{verb} takes one of {', '.join(names)}{supervised}; got {type(structure).__name__}{way}")


def kinds_taken(verb: str) -> list[str]:
    """The kinds that a verb takes, in the order of the table: those whose modules, imported here, register it."""
    table = (*LAID_OUT_BY_LAYER, *KINDS)
    for name in table:
        for module in verb_modules(name):
            import_module(module)
    registered = {kind.__name__ for kind in globals()[verb].dispatcher.registry}
    return [name for name in table if name in registered]


@lazy_dispatch(verb_modules)
def infer(  # noqa: PLR0913 (one verb, many options)
    model: Model,
    evidence: Any = None,
    *,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: str = "error",
    memory_limit: int | None = None,
    budget: float | None = None,
    rng: Any = None,
    **options: Any,
) -> Any:
    """Posterior beliefs of a model given evidence.

    Parameters
    ----------
    model
        A `BayesianNetwork`, `MarkovNetwork` or `FactorGraph`; or a `HiddenMarkovModel`, `MarkovChain`,
        `LinearGaussianStateSpace`, `ConditionalRandomField`, `Mixture`, `FactorAnalysis`, `ProbabilisticPCA` or
        `LatentDirichletAllocation`, whose options are listed below.
    evidence
        A mapping from names to states is one row. A frame, a `Dataset`, a list of mappings or an `Evidence` is many
        rows.
    targets
        The variables whose marginals are wanted; all by default.
    method
        "auto", "exact", or the name of an algorithm. For networks it is an exact engine ("junction-tree",
        "variable-elimination", "enumeration"), an approximate one ("loopy", "bounded-clique-tree", "mini-bucket",
        "tree-reweighted", "mean-field"), or a configured engine. "auto" is exact where that fits, and otherwise
        approximates with a warning. Further names are "gaussian-elimination" for networks of real variables,
        "strong-junction-tree" for networks of both kinds, "forward-backward" for a chain, also of labels, "kalman" for
        a `LinearGaussianStateSpace`, "enumeration" for a `Mixture`, and "gaussian" for a `FactorAnalysis`.
    on_impossible
        "warn" gives rows or sequences of probability zero NaN and one warning; "raise" raises `ImpossibleEvidence`, as
        a single one does in any case.
    extra
        "error" or "ignore": what happens to columns that are not variables of the model.
    memory_limit, budget
        In bytes, and in seconds, planning included. An exact answer that is predicted to need more raises `TooLarge`;
        "auto" then approximates, for networks of variables with states. Approximate engines stop within the budget.
    rng
        For engines of networks that draw at random: a seed or a `numpy.random.Generator`.
    **options
        Further options of the kind, such as `lengths`; `jt.methods(model)` lists them.

    Returns
    -------
    Beliefs
        of a network: marginals, joints and `log_evidence`.
    ChainBeliefs
        of a `HiddenMarkovModel` or a `MarkovChain`, for one sequence; a list for many. They hold `filtered`,
        `smoothed` and `predicted` distributions; `beliefs["state"]["wet"]` is (step,). The option `lengths` cuts one
        stacked array into sequences; `group` names the column of a table (a frame, a file, a query or a source) whose
        cells say which sequence a row belongs to, `beliefs.key` is that cell. `targets` and `extra` are for networks.
        Of a `ConditionalRandomField` they hold the distributions of the labels given all steps.
    StateSpaceBeliefs
        of a `LinearGaussianStateSpace`: filtered, smoothed and predicted means and covariances. It has the options
        `lengths` and `group`, too.
    MixtureBeliefs
        of a `Mixture`, for rows: the responsibilities of the components, `beliefs["component"]`.
    BoltzmannBeliefs
        of a `RestrictedBoltzmannMachine`, for rows: the hidden units, and the holes of the visible ones.

    Examples
    --------
    >>> import juncture as jt
    >>> beliefs = jt.infer(jt.example("asia"), {"xray": "yes"})
    >>> round(beliefs["lung"]["yes"], 4)
    0.4887
    """
    raise refuse_model("infer", model)


@lazy_dispatch(verb_modules)
def most_probable(  # noqa: PLR0913 (one verb, many options)
    model: Model,
    evidence: Any = None,
    *,
    k: int | None = None,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: str = "error",
    memory_limit: int | None = None,
    budget: float | None = None,
    rng: Any = None,
    **options: Any,
) -> Any:
    """The most probable assignment given evidence.

    Parameters
    ----------
    model, evidence, on_impossible, extra, memory_limit, budget, rng
        As in `infer`.
    method
        As in `infer`, but "viterbi" for a `HiddenMarkovModel`, a `MarkovChain` or a `ConditionalRandomField`.
    k
        Return a list of the k best assignments, the best first.
    targets
        Maximise over these variables and sum out the others (marginal MAP).
    **options
        As in `infer`.

    Returns
    -------
    MostProbable or MostProbableRows
        of a network: the `assignment`, its `log_prob` given the evidence, and its `log_joint`.
    MostProbablePath
        of a chain or of labels given their steps: the `path` of states; a list for many sequences. The options are
        `lengths`, `group`, `k`, and `trellis=True`, which keeps the trellis.
    MostProbableStates
        of a `LinearGaussianStateSpace`: the path of the smoothed means. The options are `lengths` and `group`.
    MostProbable or MostProbableRows
        of a `Mixture`: the most probable component of each row.

    All have `log_prob`, log p(it | evidence), `log_joint`, log p(it, evidence), `method` and `exact`.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.example("asia")
    >>> jt.most_probable(model, {"xray": "yes"}).assignment["lung"]
    'yes'
    >>> jt.most_probable(model, {"xray": "yes"}, targets=["lung", "bronc"]).assignment
    {'lung': 'no', 'bronc': 'no'}
    """
    raise refuse_model("most_probable", model)


def keeps_seed(draw: Any) -> Any:
    """The verb whose draws keep their seed: `rng=drawn.seed` draws them again. An array has no place for one."""

    @wraps(draw)
    def call(*arguments: Any, **options: Any) -> Any:
        if isinstance(options.get("rng"), Generator):
            return draw(*arguments, **options)
        seed = as_seed(options.get("rng"))
        return keep_seed(draw(*arguments, **{**options, "rng": seed}), seed)

    return call


def keep_seed(drawn: Any, seed: int) -> Any:
    if isinstance(drawn, list):
        return [keep_seed(each, seed) for each in drawn]
    return drawn if getattr(drawn, "seed", seed) is not None else drawn.with_seed(seed)


@keeps_seed
@lazy_dispatch(verb_modules)
def sample(
    model: Model | Family, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto", **options: Any
) -> Any:
    """Rows or sequences drawn from a model.

    Parameters
    ----------
    model
        Any model.
    n
        The number of rows; for models of sequences the number of steps of one sequence, or a list of numbers for a
        list of sequences.
    given
        One row of evidence, or for models of sequences one sequence of observations: draw from the posterior.
    rng
        A seed or a `numpy.random.Generator`; the same seed gives the same draws. Without one a seed is drawn, which the
        draws keep: `rng=drawn.seed` draws them again.
    method
        As in `infer`, for draws from the posterior.
    **options
        Further options of the kind, such as the `covariates` of a `LinearGaussianStateSpace`.

    Returns
    -------
    Dataset
        of a network or a `Mixture`: one row a draw. The columns of a mixture are "x", or "x0", "x1", … where a row has
        several numbers; with `given`, "component".
    Sequence
        of a model of sequences: `states` and `observations`; with `given`, an array of paths. A
        `LinearGaussianStateSpace` with inputs takes the `covariates` of its steps.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.sample(jt.example("asia"), 1000, given={"xray": "yes"}, rng=0)
    Dataset(1,000 rows of 8 variables: asia, tub, smoke, lung, bronc, either, xray, dysp)
    """
    raise refuse_model("sample", model)


@lazy_dispatch(verb_modules)
def log_prob(
    model: Model | Family, rows: Any, y: Any = None, *, method: Any = "auto", extra: str = "error", **options: Any
) -> Any:
    """The log-probability of each row, with missing cells summed out.

    Parameters
    ----------
    model
        Any model.
    rows
        Of a network, a frame, a mapping of columns or a source gives an array and a mapping of states a float. Of a
        `HiddenMarkovModel`, a `MarkovChain` or a `LinearGaussianStateSpace`, a sequence gives a float and a list of
        sequences an array; the option `lengths` cuts one stacked array into sequences, and with `group`, the name of a
        column, a table is read block by block, one number for each of its sequences in order. Of a `Mixture`, an array
        of rows.
    y
        For a model of a target given inputs: the target of each row, or the name of its column.
    method, extra, **options
        As in `infer`; `extra` is for networks.

    Returns
    -------
    float or numpy.ndarray
        log p(row), one number a row or a sequence.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.example("asia")
    >>> round(jt.log_prob(model, {"xray": "yes", "lung": "no"}), 4)
    -2.8755
    >>> jt.log_prob(model, {"xray": ["yes", "no"], "lung": ["no", None]}).round(4)
    array([-2.8755, -0.1169])
    """
    raise refuse_model("log_prob", model)


@lazy_dispatch(verb_modules)
def online_filter(model: Model, *, lag: int = 0) -> Any:
    """A filter before its first observation; `filter.step(observation)` returns the filter after it.

    Parameters
    ----------
    model
        A `HiddenMarkovModel` or a `LinearGaussianStateSpace`.
    lag
        How many steps the smoothed distribution `lagged` stays behind.

    Returns
    -------
    ChainFilter or KalmanFilter
        with `num_steps`, `log_evidence` and the `filtered`, `predicted` and `lagged` distributions of the state; for a
        state space their means and covariances.

    Examples
    --------
    >>> import juncture as jt
    >>> weather = jt.HiddenMarkovModel([0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]])
    >>> jt.online_filter(weather).step(1).step(1).filtered.round(3)
    array([0.071, 0.929])
    """
    raise Unsupported(
        f"online_filter takes a HiddenMarkovModel or a LinearGaussianStateSpace; got {type(model).__name__}"
    )


@lazy_dispatch(verb_modules)
def fit(
    model: Model | Family | DirectedGraph | UndirectedGraph | type[Any],
    data: Any,
    y: Any = None,
    *,
    prior: Any = None,
    method: Any = "auto",
    weights: Any = None,
    rng: Any = None,
    progress: Any = None,
    **options: Any,
) -> Any:
    """Learn a model of the given structure from data.

    `jt.methods(model)` lists the methods of learning and all options for a kind of model.

    Parameters
    ----------
    model
        What is known before: a model, whose kind and structure stay, and where iterations start. A graph of variables:
        a `DirectedGraph` gives a `BayesianNetwork`, an `UndirectedGraph` of real numbers the Gaussian `MarkovNetwork`
        of maximum likelihood. Or a class, where the data imply the structure, as in
        `jt.fit(jt.supervised.LogisticRegression, X, y)`.
    data
        Rows: a frame, a mapping of columns, a `Dataset`, a file, or a source that is read block by block; or sequences.
        Holes and latent variables are completed by expectation maximisation.
    y
        For a model of a target given inputs: one target a row, or the name of the column of the table that has them.
    prior
        Of a network a pseudo-count per cell, `BDeu`, `K2`, `Dirichlet`, or a mapping from child to these. A `Logistic`
        takes a `Gaussian` with mean 0 for its weights, a `LinearGaussian` a `NormalInverseGamma` for its intercept and
        variance, which holds its slopes near 0 with the same strength. For every kind of model a `Dirichlet` (and a
        number, which stands for one) adds its concentration to the counts: the mean of the posterior; `point="mode"`
        adds 1 less.
    method
        The name of a method of learning, or a learner with its options, such as
        `jt.ExpectationMaximization(max_steps=50)`.
    weights
        The weight of each row, or of each sequence; or the name of the column that has them. A row of weight 2 counts
        as two rows.
    rng
        A seed or a `numpy.random.Generator`, for starts and draws.
    progress
        A function that is called after each step with its number and the objective.
    **options
        Further options of the kind. For networks: `variables` declares states, also of latent variables. `latent` names
        variables whose columns, if there are any, are not used. `missing` is a marker of missing values, such as "?" or
        -999, or a list of markers. `fixed` names children whose conditionals are kept. `point` is "mean" or "mode" of
        the posterior. `on_unseen` is "uniform" or "error", for configurations of the parents that no row has. `engine`
        is the engine of the E-step, as `method` in `infer`. Where EM learns, `history=True` keeps the model of each
        step in `fitted.history`.

    Returns
    -------
    Fit
        The `model`, its `log_likelihood`, the `trace` of the objective, and the (expected) `statistics`.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = {"rain": ["yes", "no", "no", "yes"], "wet": ["yes", "no", None, "yes"]}
    >>> model = jt.fit(jt.DirectedGraph.parse("rain -> wet"), rows, prior=1.0).model
    >>> model["rain"].to_dict()
    {'no': 0.5, 'yes': 0.5}
    """
    raise refuse_structure("fit", model)


@lazy_dispatch(verb_modules)
def statistics(model: Model | Family | DirectedGraph | UndirectedGraph | type[Any], data: Any, **options: Any) -> Any:
    """The sufficient statistics of complete data; those of two files or batches add up to those of all rows.

    Parameters
    ----------
    model
        A `BayesianNetwork` or a `DirectedGraph`; a `MarkovNetwork` or a `FactorGraph`; or a `HiddenMarkovModel` or
        `MarkovChain`.
    data
        Rows without holes, in memory, in a file or as a source; or sequences whose states are all labelled.
    **options
        `variables` declares states; `weights` are those of the rows (or the name of their column) or of the sequences;
        `lengths` cuts one stacked array into sequences.

    Returns
    -------
    NetworkStatistics, FactorStatistics, HiddenMarkovStatistics or MarkovChainStatistics

    Examples
    --------
    >>> import juncture as jt
    >>> graph, rows = jt.DirectedGraph.parse("a -> b"), {"a": [0, 0, 1], "b": [0, 1, 1]}
    >>> jt.statistics(graph, rows) + jt.statistics(graph, rows)
    NetworkStatistics(2 families, weight 6)
    """
    raise refuse_structure("statistics", model)


@lazy_dispatch(verb_modules)
def estimate(
    model: Model | Family | DirectedGraph | UndirectedGraph | type[Any],
    statistics: Any,
    prior: Any = None,
    **options: Any,
) -> Any:
    """The model that sufficient statistics lead to: maximum likelihood, or a point of the posterior with a prior.

    Parameters
    ----------
    model
        A `BayesianNetwork` or a `DirectedGraph`; a `MarkovNetwork` or a `FactorGraph`; or a `HiddenMarkovModel` or
        `MarkovChain`.
    statistics
        Those of `jt.statistics` for the same structure.
    prior
        A pseudo-count per cell, `BDeu`, `K2`, `Dirichlet`, or a mapping from child to these. For a
        `HiddenMarkovModel` a pseudo-count or a `HiddenMarkovPrior`.
    **options
        `point`, `on_unseen` and `fixed`, as in `fit`. Conditionals that are tied to a fixed one are fixed too.

    Returns
    -------
    BayesianNetwork, MarkovNetwork, FactorGraph, HiddenMarkovModel or MarkovChain

    Examples
    --------
    >>> import juncture as jt
    >>> graph, rows = jt.DirectedGraph.parse("a -> b"), {"a": [0, 0, 1], "b": [0, 1, 1]}
    >>> jt.estimate(graph, jt.statistics(graph, rows), prior=1.0)["a"].values
    array([0.6, 0.4])
    """
    raise refuse_structure("estimate", model)


VERBS = ("infer", "most_probable", "sample", "log_prob", "online_filter", "fit", "statistics", "estimate")


def methods(model: Model | Family | DirectedGraph | UndirectedGraph | type[Any]) -> MethodList:
    """What the verbs take for a kind of model: the names of `method=`, and the options with their defaults.

    Parameters
    ----------
    model
        A model, or the class of one.

    Returns
    -------
    MethodList
    -------
        which prints as a list of calls; `names`, `options` and `descriptions` hold them by verb.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.methods(jt.supervised.LogisticRegression).names["fit"]
    ('auto', 'newton')
    >>> "forward-backward" in jt.methods(jt.HiddenMarkovModel).names["infer"]
    True
    """
    kind = model if isinstance(model, type) else type(model)
    found = {verb: what_it_does(globals()[verb], kind) for verb in VERBS}
    known = {verb: implementation for verb, implementation in found.items() if implementation is not None}
    if not known and not any(base.__name__ in KINDS for base in kind.__mro__):
        raise refuse_model("methods", model)
    return MethodList.of(kind, known)
