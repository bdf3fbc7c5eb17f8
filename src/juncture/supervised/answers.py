"""What the verbs answer of every supervised model: the distribution of its target in each row, p(y | x).

Where a row has its target too, that is evidence: `log_evidence` is log p(y | x), else 0, and the answer is certain. Of
a joint model, which has a distribution of the inputs too, it is log p(x, y), else log p(x).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture import verbs
from juncture.base.checks import check_count
from juncture.base.dispatch import register
from juncture.base.kinds import PREDICTS_A_NUMBER, why_unanswered
from juncture.base.methods import register_methods
from juncture.base.options import Options, as_generator, as_seed, as_variable_names
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.data.findings import row_index
from juncture.data.rows import Rows, find_names
from juncture.data.tables.cells import unmask
from juncture.data.tables.table import as_column
from juncture.errors import InvalidData, UnknownVariable, Unsupported
from juncture.factors.conditional import draw_codes
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EXACT, Cost, Diagnostics, OneVariable
from juncture.inference.engines.display import rows_diagram, states_html, steps_html, table_shares
from juncture.inference.engines.ranked import RankedAnswers
from juncture.inference.engines.row_factors import RowFactors, marginals_frame, moments_frame, wide_frame
from juncture.inference.engines.verb_options import (
    check_evidence,
    check_limits,
    check_num_rows,
    check_policy,
    impossible_indices,
)
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.supervised.model import SupervisedModel, check_as_many, is_one_row, split_column
from juncture.variables import Scope

if TYPE_CHECKING:
    import pandas as pd

    from juncture.drawing.shares import ShareDiagram


@dataclass(frozen=True, eq=False, repr=False)
class TargetBeliefs(OneVariable):
    """The distribution of the target of each row: `beliefs["y"]`, or by the name that the target has.

    For classes it is a `Factor` of one row, and of many rows a table with one line each; for numbers a distribution
    such as a `Gaussian`, of many rows a batch.

    Attributes
    ----------
    model
        The regression or classifier.
    predicted
        (row, class): log p(class | row); or a batch of distributions.
    log_evidences
        (row,): log p(y | x) of rows that have their target, else 0; of a joint model log p(x, y), else log p(x).
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    index
        The index of the frame of pandas that the rows come from; else None.
    seed
        The seed of what was drawn at random, which repeats the answer as `rng=`; None where nothing was.
    """

    model: SupervisedModel
    predicted: Any
    log_evidences: np.ndarray
    is_single: bool
    method: str = "closed-form"
    diagnostics: Diagnostics = EXACT
    index: Any = None
    seed: int | None = None

    @property
    def variable(self) -> str:  # type: ignore[override]
        """The name of the target."""
        return str(self.model.target.name)

    @property
    def scope(self) -> Scope:
        return Scope([self.model.target])

    @property
    def log_evidence(self) -> Any:
        """log p(y | x): a float of one row, (row,) of many; 0 where the target is not given.

        Of a joint model log p(x, y), or log p(x) where the target is not given.
        """
        return float(self.log_evidences[0]) if self.is_single else self.log_evidences

    @property
    def impossible(self) -> tuple[int, ...]:
        """The rows whose target is impossible."""
        return impossible_indices(self.log_evidences)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(row, class): p(class | row); NaN where the target that was given is impossible."""
        if self.model.target.is_real:
            raise Unsupported(f"{self.variable!r} is a number, which has a density: ask beliefs[{self.variable!r}]")
        shares = np.exp(self.predicted)
        shares[list(self.impossible)] = np.nan
        return np.asarray(shares)

    @property
    def mean(self) -> Any:
        """The mean of a number: a float of one row, (row,) of many."""
        return self[self.variable].mean

    @property
    def standard_deviation(self) -> Any:
        """The standard deviation of a number: a float of one row, (row,) of many."""
        return np.sqrt(self[self.variable].variance)

    def __getitem__(self, name: str) -> Any:
        """p(target | row), by the name of the target."""
        self._check_variable(name)
        if self.model.target.is_real:
            return self.predicted[0] if self.is_single else self.predicted
        values = self.probabilities
        return Factor(self.scope, values[0]) if self.is_single else RowFactors(self.scope, values)

    def to_dict(self) -> dict[str, dict[Any, Any]]:
        """Name → class → probability (one number, or one a row); of a number, name → mean and variance."""
        marginal = self[self.variable]
        if self.model.target.is_real:
            return {self.variable: {"mean": marginal.mean, "variance": marginal.variance}}
        return {self.variable: marginal.to_dict()}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, class and probability, or of variable, mean and variance; of many rows with the row."""
        frame = moments_frame if self.model.target.is_real else marginals_frame
        return frame(self.to_dict(), None if self.is_single else "row")

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per row, with the index of the frame that was given."""
        return wide_frame({self.variable: self[self.variable]}, self.index)

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` draws of the target, given one row."""
        if not self.is_single:
            raise Unsupported("targets are drawn given one row; infer and sample once for each row")
        count, generator = check_num_rows(n), as_generator(rng)
        rows = np.zeros(count, np.int64)
        return Dataset.from_codes(
            self.scope, {self.variable: draw_targets(self.model, self.predicted[rows], generator)}
        )

    def __len__(self) -> int:
        return len(self.log_evidences)

    def to_diagram(self) -> ShareDiagram:
        """The probability of each class, for the first rows."""
        if self.model.target.is_real:
            raise Unsupported(f"{self.variable!r} is a number: jt.plot(model, X=…) draws it over one input")
        return rows_diagram([table_shares(self.scope, self.probabilities)], len(self), self.index)

    def _repr_html_(self) -> str:
        if not len(self):
            return f"<p><code>{escape(repr(self))}</code></p>"
        if self.model.target.is_real:
            pairs = zip(np.atleast_1d(self.mean), np.atleast_1d(self.standard_deviation), strict=True)
            cells = ((row, f"{mean:.4g} ± {deviation:.4g}") for row, (mean, deviation) in enumerate(pairs))
            return states_html(repr(self), ["row", self.variable], cells, len(self))
        return steps_html(repr(self), self.model.target.labels, self.probabilities, "row")

    def __repr__(self) -> str:
        rows = f"log_evidence={self.log_evidence:.6g}" if self.is_single else number_of(len(self), "row")
        kind = "exact" if self.exact else "approximate"
        return f"TargetBeliefs({self.variable}; {rows}; {kind}, by {self.method})"


def infer_target(  # noqa: PLR0913 (one verb, many options)
    model: SupervisedModel,
    evidence: Any,
    *,
    targets: Any = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: str = "error",
    budget: float | None = None,
    memory_limit: int | None = None,
    rng: Any = None,
    options: Options,
) -> TargetBeliefs:
    """The distribution of the target of one row of inputs, or of each of many."""
    algorithm = model.algorithm_of(method)
    check_policy(on_impossible)
    check_targets(model, targets)
    inputs, given = take_target(model, evidence)
    inputs, options = model.take_facts(inputs, options)
    rows, is_single = model.read_inputs(inputs, extra)
    if budget is not None or memory_limit is not None:
        check_cost(model, rows.shape[0], budget, memory_limit)
    seed = as_seed(rng) if algorithm in model.random_algorithms else None
    predicted, log_evidences = predict(model, rows, algorithm, seed, options)
    cause = "no class can have it" if model.has_inputs else f"{model.target.name!r} cannot be what it is there"
    if given is not None:
        log_evidences = log_evidences + score_targets(model, predicted, given)
        predicted = observe_classes(model, predicted, given)
    check_evidence(log_evidences, lambda _: cause, is_single=is_single, on_impossible=on_impossible, single="the row")
    index = None if is_single else row_index(evidence)
    diagnostics = model.diagnostics_of(algorithm)
    return TargetBeliefs(model, predicted, log_evidences, is_single, algorithm, diagnostics, index, seed)


def predict(model: SupervisedModel, rows: Any, algorithm: str, rng: Any, options: Options) -> tuple[Any, np.ndarray]:
    """What the model predicts of the target of each row, and (row,): log p(inputs), 0 where it has none.

    A kind that has options of predictions is given them.
    """
    given = {"options": options} if options.names() else {}
    return model.predict_joint(rows, method=algorithm, rng=rng, **given)


def check_targets(model: SupervisedModel, targets: Any) -> None:
    """Check that nothing but the target is asked for."""
    asked = [] if targets is None else as_variable_names(targets, "targets")
    unknown = [name for name in asked if name != model.target.name]
    if unknown:
        raise UnknownVariable.among(unknown[0], [model.target.name], where="what this model predicts")


def check_cost(model: SupervisedModel, num_rows: int, budget: Any, memory_limit: Any) -> None:
    """Raise `TooLarge` for a run beyond the limits."""
    numbers = float(max(1, model.num_parameters))
    check_limits(
        Cost(0, numbers, 8 * num_rows * numbers, num_rows * numbers),
        f"predictions of {number_of(num_rows, 'row')}", budget, memory_limit,
    )  # fmt: skip


def take_target(model: SupervisedModel, evidence: Any) -> tuple[Any, Any]:
    """The inputs, and the targets of the rows where the table has a column of the target's name, else None."""
    name = model.target.name
    if is_one_row(evidence):
        rest = {key: cell for key, cell in evidence.items() if key != name}
        return rest, [evidence[name]] if name in evidence else None
    names = find_names(Rows.of(evidence).data)
    if names is None or name not in names or name in model.inputs.names:
        return evidence, None
    return split_column(evidence, name)


def target_codes(model: SupervisedModel, given: Any) -> np.ndarray:
    """(row,): the code of the class of each row, or the number; -1 or NaN where it is missing."""
    column = as_column(unmask(given) if isinstance(given, np.ndarray) else given, model.target.name)
    return np.asarray(column.encode(model.target))


def score_targets(model: SupervisedModel, predicted: Any, given: Any) -> np.ndarray:
    """(row,): log p(y | x); 0 where the target is missing."""
    codes = target_codes(model, given)
    check_as_many(len(codes), len(predicted))
    missing = np.isnan(codes) if model.target.is_real else codes < 0
    scores = np.zeros(len(codes))
    known = np.flatnonzero(~missing)
    if model.target.is_real:
        scores[known] = predicted[known].log_prob(codes[known]) if len(known) else 0.0
    else:
        scores[known] = predicted[known, codes[known]]
    return scores


def observe_classes(model: SupervisedModel, predicted: Any, given: Any) -> Any:
    """The same predictions, certain where the class is given."""
    if model.target.is_real:
        raise Unsupported(
            f"the rows have the number {model.target.name!r}, which infer predicts: leave the column out, or ask"
            " jt.log_prob how probable it is"
        )
    codes = target_codes(model, given)
    known = np.flatnonzero(codes >= 0)
    certain = np.array(predicted)
    certain[known] = -np.inf
    certain[known, codes[known]] = 0.0
    return certain


def log_prob_target(
    model: SupervisedModel,
    rows: Any,
    y: Any = None,
    *,
    method: Any = "auto",
    extra: str = "error",
    rng: Any = None,
    options: Options,
) -> Any:
    """log p(y | x): a number for one row, an array for many; `y` is one target a row, or a column of the table.

    The target of one row may be the label of a class, where no column has this name. Of a joint model, such as a
    `GenerativeClassifier`, it is log p(x, y), and log p(x) without targets.
    """
    algorithm = model.algorithm_of(method, "log_prob")
    if isinstance(y, str) and not is_label(model, rows, y):
        inputs, given = split_column(rows, y)
    elif y is not None:
        inputs, given = rows, y
    else:
        inputs, given = take_target(model, rows)
        if given is None and not model.has_inputs and not isinstance(rows, Mapping) and not has_column_names(rows):
            raise InvalidData(
                f"log_prob of a {type(model).__name__} is that of the target given the inputs: give the targets as y="
            )
    inputs, options = model.take_facts(inputs, options)
    table, is_single = model.read_inputs(inputs, extra)
    if is_single and y is not None and np.ndim(y) == 0:
        given = [given]
    scores = np.zeros(table.shape[0])
    if given is not None or model.has_inputs:
        predicted, scores = predict(model, table, algorithm, rng, options)
        scores = scores if given is None else scores + score_targets(model, predicted, given)
    return float(scores[0]) if is_single else scores


def is_label(model: SupervisedModel, rows: Any, y: str) -> bool:
    """Whether a text is the class of one row, and no name of a column."""
    if y not in (model.target.states or ()):
        return False
    if is_one_row(rows):
        return y not in rows
    return y not in (find_names(Rows.of(rows).data) or ()) and model.read_inputs(rows, "ignore")[1]


def sample_target(
    model: SupervisedModel,
    n: Any,
    *,
    given: Any = None,
    rng: Any = None,
    method: Any = "auto",
    extra: str = "error",
    options: Options,
) -> Dataset:
    """Draws of the target: `n` given one row of inputs; or one for each row of a table in place of `n`."""
    algorithm = model.algorithm_of(method, "sample")
    if given is not None:
        beliefs = infer_target(model, given, method=algorithm, rng=rng, extra=extra, options=options)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    if np.ndim(n) == 0 and isinstance(n, int | float | np.number):
        raise InvalidData(
            f"a {type(model).__name__} is a distribution of {model.target.name!r} given inputs: give a table of inputs"
            " in place of the number, or one row as given="
        )
    inputs, options = model.take_facts(take_target(model, n)[0], options)
    rows, is_single = model.read_inputs(inputs, extra)
    if is_single:
        raise InvalidData("one row of inputs is given as given=, with the number of draws")
    generator = as_generator(rng)
    predicted, _ = predict(model, rows, algorithm, generator, options)
    drawn = draw_targets(model, predicted, generator)
    return model.dataset_of(rows, drawn)


def has_column_names(rows: Any) -> bool:
    """Whether a table has names of its columns."""
    return find_names(Rows.of(rows).data) is not None


def draw_targets(model: SupervisedModel, predicted: Any, generator: np.random.Generator) -> np.ndarray:
    """(row,): a code of a class, or a number, for each row."""
    if model.target.is_real:
        return np.asarray(predicted.sample(rng=generator), np.float64)
    return draw_codes(np.exp(predicted), generator)


def most_probable_target(  # noqa: PLR0913 (one verb, many options)
    model: SupervisedModel,
    evidence: Any,
    *,
    k: int | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: str = "error",
    budget: float | None = None,
    memory_limit: int | None = None,
    rng: Any = None,
    options: Options,
) -> MostProbable | MostProbableRows | list[MostProbable]:
    """The most probable class of one row, or of each of many; with `k` a list of the k best of one row."""
    if model.target.is_real:
        raise Unsupported(PREDICTS_A_NUMBER)
    algorithm = model.algorithm_of(method, "most_probable")
    beliefs = infer_target(
        model, evidence, method=algorithm, on_impossible=on_impossible, extra=extra, budget=budget,
        memory_limit=memory_limit, rng=rng, options=options,
    )  # fmt: skip
    if k is not None:
        return best_classes(beliefs, check_count(k, "k", least=1))
    if beliefs.is_single:
        return best_classes(beliefs, 1)[0]
    codes, log_prob = beliefs.predicted.argmax(axis=1), beliefs.predicted.max(axis=1)
    codes[list(beliefs.impossible)], log_prob[list(beliefs.impossible)] = -1, np.nan
    chosen = Dataset.from_codes(beliefs.scope, {beliefs.variable: codes})
    log_joint = np.where(np.isnan(log_prob), -np.inf, log_prob + beliefs.log_evidences)
    return MostProbableRows(chosen, log_prob, log_joint, beliefs.impossible, beliefs.method)


def best_classes(beliefs: TargetBeliefs, k: int) -> list[MostProbable]:
    """The classes of one row, best first; impossible ones are left out."""
    if not beliefs.is_single:
        raise InvalidData("k goes with one row; ask for the k best of each row alone")
    logs, labels = beliefs.predicted[0], beliefs.model.target.labels
    evidence = float(beliefs.log_evidences[0])
    return RankedAnswers(
        MostProbable({beliefs.variable: labels[code]}, float(logs[code]), float(logs[code]) + evidence, beliefs.method)
        for code in np.argsort(-logs, kind="stable")[:k].tolist()
        if logs[code] > -np.inf
    )


def register_answers(kind: type, options: type[Options] = Options) -> None:
    """Let the verbs answer for a kind of supervised models, whose predictions may have options."""
    register(verbs.infer, kind, infer_target, options)
    register(verbs.log_prob, kind, log_prob_target, options)
    register(verbs.sample, kind, sample_target, options)
    if why_unanswered(kind, "most_probable") is None:
        register(verbs.most_probable, kind, most_probable_target, options)
        register_methods(kind, "most_probable", *kind.algorithms)  # type: ignore[attr-defined]
    for verb in ("infer", "log_prob", "sample"):
        register_methods(kind, verb, *kind.algorithms)  # type: ignore[attr-defined]
