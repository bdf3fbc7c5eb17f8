"""Classifiers by Bayesian networks as scikit-learn's estimators, the tree-augmented one among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_kind
from juncture.data.dataset import Dataset, as_table
from juncture.data.findings import Findings, drop_unobserved
from juncture.data.missingness import has_hole
from juncture.data.rows import default_names
from juncture.data.tables.cells import unmask
from juncture.data.tables.coding import warn_unseen
from juncture.data.tables.labels import label_array, sorting_key
from juncture.data.tables.table import Table
from juncture.errors import ImpossibleEvidenceWarning, InvalidData, Unsupported, hint, warn_user
from juncture.estimators.reading import (
    QueryRows,
    Reading,
    accuracy,
    check_known_columns,
    class_column,
    class_variable,
    draw_seed,
    find_class,
    has_names,
    read_table,
    row_weights,
    validate_table,
)
from juncture.graphs.directed import DirectedGraph
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import Query
from juncture.inference.engines.relevance import ancestral_part, relevant_evidence
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.learning.networks.expectation import number_rows
from juncture.learning.structure.learn import SEARCHES, learn_structure
from juncture.learning.structure.searches.trees import TreeAugmented
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics import stable
from juncture.numerics.stable import log_sum_exp
from juncture.variables import Scope, Variable
from juncture.verbs import fit, infer


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network that predicts the class, or any other of its variables, from any columns.

    Text and booleans are states, and numbers are cut into intervals (see `discretize`). Cells may be missing (NaN,
    None), also in `y`: rows without a class are learned from too. States that no row of `fit` had are taken as missing,
    with a warning. The columns of a plain array are called x0, x1 and so on. All that is learned, the intervals and the
    structure too, is learned in `fit`, so that cross-validation sees only the rows of its training parts.

    Parameters
    ----------
    structure
        A `DirectedGraph` or a `BayesianNetwork` over the names of the columns and of the class; or "hill-climbing",
        "tan" (tree-augmented naive Bayes), "auto" or another search of `learn_structure`, by name or as an object such
        as `jt.HillClimbing(score="bdeu")`, which learns the structure from the rows. Where cells are missing,
        "hill-climbing" is structural EM, and "exact" uses the score "node-average". None and "naive" make the class
        the only parent of all columns.
    prior, method
        As in `fit`.
    target
        The name of the class. None takes the name of `y`, else the only node of the structure that is not a column,
        else "y".
    variables
        Declares latent variables, and states that may not all be in the rows.
    discretize
        Columns of numbers are cut into this many intervals of equal frequency, or as a `Discretizer` says. A column of
        no more different whole numbers than that is left as it is. None takes all whole numbers as states; columns of
        other numbers stay real, and are linear functions of their real parents with Gaussian noise, in each class.
    random_state
        The seed for latent variables, and for searches of a structure.

    Attributes
    ----------
    model_
        The `BayesianNetwork`.
    fit_
        The `Fit`.
    classes_
        The classes, sorted.
    target_
        The name of the class.
    discretizer_
        The fitted discretizer.
    n_features_in_, feature_names_in_
        The number of columns, and their names if they have any.

    Examples
    --------
    >>> rows = {"rain": [1, 1, 0, 0, 1, 0], "wet": ["yes", "yes", "no", "no", "no", None]}
    >>> classifier = BayesianNetworkClassifier(target="rain").fit(rows)
    >>> classifier.predict({"wet": ["yes", "no", None]}).tolist()
    [1, 0, 0]
    """

    def __init__(
        self,
        structure: Any = None,
        target: str | None = None,
        *,
        prior: Any = 1.0,
        method: Any = "em",
        variables: Any = None,
        discretize: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.target = target
        self.prior = prior
        self.method = method
        self.variables = variables
        self.discretize = discretize
        self.random_state = random_state

    @staticmethod
    def from_model(model: BayesianNetwork, target: str) -> BayesianNetworkClassifier:
        """A classifier that is a given network, as if it had been fitted."""
        check_kind(model, BayesianNetwork, "the model of a classifier")
        variables = declared_variables(model, None)
        check_class(model.variable(target))
        features = [name for name in variables if name != model.variable(target).name]
        made = BayesianNetworkClassifier(model, target)
        made.n_features_in_, made.feature_names_in_ = len(features), np.array(features, dtype=object)
        made._adopt(model, target, Reading(variables))
        return made

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the network from rows; without `y`, the target's column of `X` is the class."""
        check_kind(self.target, (str, type(None)), "the target")
        table = self._table(X, reset=True)
        if y is None:
            target, column = str(self.target), find_class(table, self.target)
        else:
            target = target_name(self.structure, self.target, y, table.cells)
            column = class_column(y, target)
        if len(column) != table.num_rows:
            raise InvalidData(f"y has {len(column)} rows, X has {table.num_rows}: they must be as many")
        features = [name for name in table.cells if name != target]
        if not features:
            raise InvalidData("X has no columns: give at least 1")
        if has_names(X):
            self.n_features_in_, self.feature_names_in_ = len(features), np.array(features, dtype=object)
        rows = Table(table.cells | {target: column}, table.num_rows, table.files)
        declared = declared_variables(self.structure, self.variables)
        declared.setdefault(target, class_variable(column, target))
        check_class(declared[target])
        self._learn(rows, target, declared, row_weights(sample_weight, X))
        return self

    def _learn(self, rows: Table, target: str, declared: dict[str, Variable], weights: Any) -> None:
        structure = find_structure(self.structure, target, (name for name in rows.cells if name != target))
        table = rows.only(name for name in nodes_of(structure) if name in rows.cells)
        reading, data = read_table(table, declared, target, self.discretize, weights)
        if not is_given(self.structure):
            check_rows_of_classes(data, target, self.prior)
        structure = self._refine(structure, data, target)
        latent = [
            variable
            for variable in Scope(() if self.variables is None else self.variables)
            if variable.name not in rows.cells
        ]
        rng = draw_seed(self.random_state)
        self.fit_ = fit(structure, data, prior=self.prior, variables=latent, method=self.method, rng=rng)
        self._adopt(self.fit_.model, target, reading)

    def _refine(self, structure: Any, data: Dataset, target: str) -> Any:
        """The structure that is learned, where the rows have a say in it."""
        if self.structure is None or self.structure == NAIVE or is_given(self.structure):
            return structure
        return learn_graph(self.structure, data, target, draw_seed(self.random_state))

    def _adopt(self, model: BayesianNetwork, target: str, reading: Reading) -> None:
        self.model_, self.target_, self.reading_ = model, target, reading
        self.discretizer_ = reading.discretizer
        self.classes_ = label_array(sorted(model.variable(target).labels, key=sorting_key))

    def _table(self, X: Any, *, reset: bool) -> Table:
        """The columns of X by name; those of a plain array are called as those of `fit` were, else x0, x1 and so on."""
        if not has_names(X):
            array = validate_table(self, unmask(X), dtype=None, ensure_all_finite="allow-nan", reset=reset)
            return as_table(array, list(getattr(self, "feature_names_in_", default_names(array.shape[1]))))
        table = as_table(X)
        if not reset:
            names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
            check_known_columns(table.cells, {*names, *self.model_.variables.names}, self.target_)
        return table

    def predict(self, X: Any, target: str | None = None) -> np.ndarray:
        """The most probable state of the class, or of another target, in each row."""
        values = self.predict_proba(X, target)
        return np.asarray(self._states_of(target)[values.argmax(axis=1)])

    def predict_proba(self, X: Any, target: str | None = None) -> np.ndarray:
        """p(class | row) as (row, state), in the order of `classes_`; of another target, in the order of its states.

        Columns may be left out of a frame, and cells may be missing; what X says of the target itself is not used.
        """
        check_is_fitted(self)
        variable = self.model_.variable(self.target_ if target is None else target)
        check_class(variable)
        rows = QueryRows(self.reading_, self._table(X, reset=False))
        values = probabilities(self.model_, variable.name, rows)
        warn_unseen(rows.unseen)
        return values[:, [variable.code(state) for state in self._states_of(target)]]

    def predict_log_proba(self, X: Any, target: str | None = None) -> np.ndarray:
        """The logarithms of `predict_proba`."""
        return stable.log(self.predict_proba(X, target))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted rightly, among those that say their class."""
        check_is_fitted(self)
        column = find_class(self._table(X, reset=False), self.target_) if y is None else class_column(y, self.target_)
        return accuracy(column, self.model_.variable(self.target_), self.predict(X), sample_weight)

    def _states_of(self, target: str | None) -> np.ndarray:
        if target is None or target == self.target_:
            return self.classes_
        return label_array(self.model_.variable(target).labels)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags


@dataclass(eq=False, repr=False)
class TreeAugmentedNaiveBayes(BayesianNetworkClassifier):
    """Tree-augmented naive Bayes (TAN): each column has the class and at most one other column as parents.

    `jt.TreeAugmented` learns the tree among the columns. The attributes are those of `BayesianNetworkClassifier`.

    Parameters
    ----------
    prior
        A pseudo-count for each cell, also for the classes.
    target, method, variables, discretize, random_state
        As in `BayesianNetworkClassifier`.
    tree_score
        The score of the tree, as in `jt.TreeAugmented`. The default, "aic", leaves out edges that cost more parameters
        than they gain: with few rows it is naive Bayes. "log-likelihood" joins all columns, as Friedman's TAN does.

    Examples
    --------
    >>> rows = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]] * 5
    >>> TreeAugmentedNaiveBayes().fit(rows, ["same", "same", "other", "other"] * 5).predict([["b", "b"]]).tolist()
    ['same']
    """

    structure = None

    prior: Any = 1.0
    _: KW_ONLY
    target: str | None = None
    method: Any = "em"
    variables: Any = None
    discretize: Any = 5
    random_state: Any = 0
    tree_score: Any = "aic"

    def _refine(self, structure: Any, data: Dataset, target: str) -> Any:
        return learn_structure(data, TreeAugmented(target=target, score=self.tree_score), rng=0)


def probabilities(model: BayesianNetwork, target: str, rows: QueryRows) -> np.ndarray:
    """p(target | row) as (row, state).

    Rows that are alike where it matters are asked about once. Rows that the model holds for impossible get the
    target's distribution without evidence, with one warning that counts them.
    """
    if any(variable.is_real for variable in model.variables):
        values = mixed_probabilities(model, target, rows)
        return replace_impossible(values, target, np.arange(len(rows)), lambda: posterior_alone(model, target))
    relevant = relevant_evidence(model.graph, target, rows.names - {target}, rows.is_complete)
    if not relevant:
        return np.repeat(class_probabilities(model, target, {}, 1), len(rows), axis=0)
    data = Dataset.from_codes(map(model.variable, relevant), {name: rows.codes(name) for name in relevant})
    group, first = number_rows(data)
    values = class_probabilities(model, target, dict(data.take(first).columns), len(first))
    return replace_impossible(values, target, group, lambda: class_probabilities(model, target, {}, 1))[group]


def class_probabilities(model: BayesianNetwork, target: str, codes: dict[str, np.ndarray], num_rows: int) -> np.ndarray:
    """What the exact engine answers, NaN for rows of probability zero."""
    findings = Findings(tuple(model.variables), drop_unobserved(codes), num_rows=num_rows)
    values: np.ndarray = Beliefs.of(model, JunctionTree(), Query(findings, (target,)))[target].values
    return values


def posterior_alone(model: BayesianNetwork, target: str) -> np.ndarray:
    """The distribution of a target in a network with real variables, without evidence."""
    return posterior(ancestral_part(model, (target,)), target, {}, 1)


def replace_impossible(
    values: np.ndarray, target: str, group: np.ndarray, alone: Callable[[], np.ndarray]
) -> np.ndarray:
    """The values, with the target's own distribution in place of rows of NaN."""
    impossible = np.isnan(values[:, 0])
    if not impossible.any():
        return values
    rows = np.flatnonzero(impossible[group])
    warn_user(
        f"{len(rows)} of {len(group)} rows have probability zero under the model, the first is row {rows[0]};"
        f" they get the distribution that {target!r} has without evidence",
        ImpossibleEvidenceWarning,
    )
    return np.where(impossible[:, np.newaxis], alone(), values)


def mixed_probabilities(model: BayesianNetwork, target: str, rows: QueryRows) -> np.ndarray:
    """p(target | row) as (row, state), NaN for impossible rows; rows with equal columns observed are asked together."""
    names = [name for name in model.variables.names if name in rows.names and name != target]
    columns = {name: rows.codes(name) for name in names}
    holes = np.array([has_hole(columns[name]) for name in names]).reshape(len(names), len(rows))
    values = np.empty((len(rows), model.variable(target).num_states))
    patterns, pattern_of = np.unique(holes, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        chosen = np.flatnonzero(pattern_of.reshape(-1) == number)
        observed = {name for name, is_hole in zip(names, pattern, strict=True) if not is_hole}
        relevant = relevant_evidence(model.graph, target, observed, lambda name: True)
        seen = {name: columns[name][chosen] for name in relevant}
        values[chosen] = posterior(ancestral_part(model, (target, *seen)), target, seen, len(chosen))
    return values


def posterior(part: BayesianNetwork, target: str, seen: dict[str, np.ndarray], num_rows: int) -> np.ndarray:
    """p(target | what is seen) as (row, state), NaN where no state is possible."""
    if set(part.variables.names) != {target, *seen}:
        data = Dataset.from_codes([part.variable(name) for name in seen], seen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleEvidenceWarning)  # who asks warns once, for all rows
            values: np.ndarray = infer(part, data, targets=[target])[target].values
        return values
    states = range(part.variable(target).num_states)
    log_joint = np.stack([part.log_joint_of({**seen, target: np.full(num_rows, one)}) for one in states], axis=1)
    total = log_sum_exp(log_joint, axis=1)[:, np.newaxis]
    is_possible = total > -np.inf
    return np.where(is_possible, np.exp(log_joint - np.where(is_possible, total, 0.0)), np.nan)


UNNAMED = "y"
NAIVE, TREE = "naive", "tree-augmented"
OTHER_NAMES = {"tan": TREE}
LEARNED = ("auto", "tan", *SEARCHES)
CLASSES = {"pc", "ges"}  # searches that leave directions open, unless options say otherwise
CLIMBING_WITH_HOLES = "structural-em"  # it climbs in each round


def nodes_of(structure: Any) -> tuple[str, ...]:
    if isinstance(structure, BayesianNetwork):
        return tuple(structure.variables.names)
    if not isinstance(structure, DirectedGraph):
        raise Unsupported(
            "a structure is a DirectedGraph, a BayesianNetwork, 'naive', the name of a search such as 'hill-climbing',"
            f" or a search such as jt.HillClimbing(); got {type(structure).__name__}"
        )
    return tuple(structure.nodes)


def is_given(structure: Any) -> bool:
    """Whether the structure is known before the rows; else naive Bayes, or a search, makes it from their columns."""
    if isinstance(structure, str) and structure != NAIVE and structure not in LEARNED:
        raise InvalidData(f"there is no structure {structure!r}; {hint(structure, (NAIVE, *LEARNED))}")
    is_search = isinstance(structure, str) or type(structure) in SEARCHES.values()
    return structure is not None and not is_search


def learn_graph(search: Any, data: Dataset, target: str, rng: Any) -> Any:
    """The graph that a search finds; one that is given by its name also takes missing cells, where it can."""
    options: dict[str, Any] = {}
    if not isinstance(search, str):
        if any(field.name == "directed" for field in fields(search)):
            options["directed"] = True
        return learn_structure(data, search, rng=rng, **options)
    name = OTHER_NAMES.get(search, search)
    options |= {"directed": True} if name in CLASSES else {"target": target} if name == TREE else {}
    if not data.is_complete:
        options |= {"score": "node-average"} if name == "exact" else {}
        name = CLIMBING_WITH_HOLES if name == "hill-climbing" else name
    return learn_structure(data, name, rng=rng, **options)


def target_name(structure: Any, target: str | None, y: Any, cells: Mapping[str, Any]) -> str:
    """The class: as it was named, as `y` is, or the one node of the structure that is no column."""
    nodes = nodes_of(structure) if is_given(structure) else None
    if name := target or name_of_labels(y, nodes):
        return name
    return default_name(cells) if nodes is None else find_missing_node(nodes, cells)


def find_structure(structure: Any, target: str, features: Iterable[str]) -> Any:
    """The structure that was given, which must have the class as a node, or that of naive Bayes over all columns."""
    if not is_given(structure):
        return DirectedGraph([(target, name) for name in features], [target])
    nodes = nodes_of(structure)
    if target not in nodes:
        raise InvalidData(f"the structure has no node {target!r}, the class; {hint(target, nodes)}")
    return structure


def name_of_labels(y: Any, nodes: Collection[str] | None) -> str | None:
    """The name that `y` has itself, if it can be that of the class."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name and (nodes is None or name in nodes) else None


def default_name(cells: Mapping[str, Any]) -> str:
    if UNNAMED in cells:
        raise InvalidData(f"the class has no name of its own, and X has a column {UNNAMED!r}; name it in target=")
    return UNNAMED


def find_missing_node(nodes: Iterable[str], cells: Mapping[str, Any]) -> str:
    found = [name for name in nodes if name not in cells]
    if len(found) != 1:
        names = ", ".join(map(repr, found[:5])) or "none"
        raise InvalidData(f"which node of the structure is the class? No column has {names}; name it in target=")
    return found[0]


def declared_variables(structure: Any, variables: Iterable[Variable] | None) -> dict[str, Variable]:
    """The variables whose states are known before the rows; a network's are."""
    model = structure.variables if isinstance(structure, BayesianNetwork) else ()
    return {variable.name: variable for variable in (*model, *Scope(() if variables is None else variables))}


def check_rows_of_classes(data: Dataset, target: str, prior: Any) -> None:
    """Refuse classes without rows from which columns of numbers could be learned, unless a prior stands for them."""
    codes, numbers = data.columns[target], [variable.name for variable in data.variables if variable.is_real]
    if not numbers or isinstance(prior, Mapping) or has_hole(codes).any():
        return
    if len(data) == 1:
        raise InvalidData(f"there is one sample: the column {numbers[0]!r} of numbers needs several rows of each class")
    counted = codes if data.weights is None else codes[data.weights > 0]
    missing = np.flatnonzero(np.bincount(counted, minlength=data.variable(target).num_states) == 0)
    if len(missing):
        label = data.variable(target).labels[missing[0]]
        raise InvalidData(
            f"the class {label!r} has no row that counts, so nothing is known of the column {numbers[0]!r} of numbers "
            "in it; leave the class out, or cut numbers into intervals with discretize=5"
        )


def check_class(variable: Variable) -> None:
    if variable.is_real:
        raise Unsupported(
            f"the class of a classifier has states; {variable.name!r} is real-valued: predict it by jt.infer"
        )
