"""`Beliefs`: the answer of every engine, with the method that gave it, and the checks of impossible evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from juncture.base.options import as_generator, as_seed, used_seed
from juncture.base.values import has_same_content, number_of
from juncture.data.dataset import Dataset
from juncture.data.findings import Findings
from juncture.errors import InvalidData, UnknownVariable, Unsupported
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Answers, Diagnostics, Engine, Query
from juncture.inference.engines.posterior_gaussians import summarize
from juncture.inference.engines.row_factors import RowFactors, join_frames, marginals_frame, moments_frame, wide_frame
from juncture.inference.engines.verb_options import check_evidence, draw_posterior, impossible_indices
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.runtime.memory import check_memory
from juncture.variables import Scope, State

if TYPE_CHECKING:
    import pandas as pd

    from juncture.components.mixture import Mixture
    from juncture.drawing.diagram import Drawing
    from juncture.networks.bayesian_network import Network


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs:
    """Posterior marginals, joints and the log-probability of the evidence, for one row of evidence or many.

    `beliefs["lung"]` is a marginal; `infer` makes beliefs.

    Attributes
    ----------
    model
        The model.
    engine
        The engine that ran, with its options.
    targets
        The names of the variables that can be asked for.
    answers
        The answers of the engine.
    is_single
        Whether the evidence is one row, whose answers have no row axis.
    seed
        The seed of an engine that drew at random: `rng=beliefs.seed` repeats the answer. None where nothing was drawn.
    views, flat
        A short cut to single marginals: where each marginal lies in `flat`, the array of all of them.
    """

    model: Network
    engine: Engine
    targets: tuple[str, ...]
    answers: Answers
    is_single: bool
    views: Mapping[str, tuple[Scope, slice]] = field(default_factory=dict)
    flat: np.ndarray = field(default_factory=lambda: np.empty(0))
    seed: int | None = None

    @classmethod
    def of(cls, model: Network, engine: Engine, query: Query, rng: Any = None) -> Beliefs:
        """The beliefs from a run of an engine, with the seed or generator of a user where it draws at random."""
        if not engine.draws_at_random:
            answers = engine.ask(model, query)
            return cls(model, engine, query.targets, answers, query.findings.is_single)
        seed = as_seed(rng)
        generator = as_generator(seed)
        answers = engine.ask(model, replace(query, rng=generator))
        used = seed if engine.draws_itself else used_seed(seed, generator)
        return cls(model, engine, query.targets, answers, query.findings.is_single, seed=used)

    def __eq__(self, other: object) -> bool:
        """Whether the question, the engine and all numbers are the same, to the last bit."""
        if not isinstance(other, Beliefs):
            return NotImplemented
        return self is other or (
            (self.targets, self.is_single, self.engine) == (other.targets, other.is_single, other.engine)
            and self.findings == other.findings
            and self.model == other.model
            and has_same_content(self.diagnostics, other.diagnostics)
            and has_same_content(self.log_evidence, other.log_evidence)
            and all(has_same_content(self.numbers_of(name), other.numbers_of(name)) for name in self.targets)
        )

    def __hash__(self) -> int:
        return hash((self.targets, self.is_single, self.findings.names))

    def numbers_of(self, name: str) -> Any:
        """Return the marginal of a variable, (row, state); of a real variable its distribution."""
        if self.model.variable(name).is_real:
            return self.answers.distribution((name,), self.is_single)
        return self.answers.marginal((name,))

    @property
    def diagnostics(self) -> Diagnostics:
        """How far the answer can be trusted, by the engine that ran."""
        return self.answers.diagnostics

    @property
    def exact(self) -> bool:
        """Whether the answer is exact, but for rounding."""
        return self.answers.diagnostics.exact

    @property
    def converged(self) -> bool:
        """Whether the engine reached its end by its own stopping rule."""
        return self.answers.diagnostics.converged

    @property
    def findings(self) -> Findings:
        """The evidence, coded."""
        return self.answers.findings

    @property
    def method(self) -> str:
        """The engine that ran."""
        return self.engine.name

    @property
    def log_evidence(self) -> Any:
        """Log p(evidence), a float or one number a row; log Z(evidence) for undirected models.

        None, or NaN among many rows, where messages contradict each other, which gives no estimate.
        """
        values = self.answers.log_evidence
        if not self.is_single:
            return values
        return None if math.isnan(values[0]) else float(values[0])

    @cached_property
    def impossible(self) -> tuple[int, ...]:
        """The rows whose evidence has probability zero."""
        return impossible_indices(self.answers.possible_evidence())

    def __getitem__(self, name: str) -> Any:
        """The marginal of one variable: a `Factor`, one for each row of many; of a real one a `Gaussian`.

        Of a real variable in a network that also has variables with states it is a `RealMarginal`, the exact mixture.
        """
        if isinstance(name, str) and (view := self.views.get(name)) is not None:
            return Factor.trusted(view[0], self.flat[view[1]])
        if name in self and self.model.variable(name).is_real:
            return self.answers.distribution((name,), self.is_single)
        return self.joint(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.targets

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def joint(self, *names: str) -> Any:
        """The posterior over these variables together, in this order."""
        for name in names:
            if not isinstance(name, str):
                raise InvalidData(f"joint takes names one by one, as in joint('a', 'b'); got {name!r}")
            self._check_target(name)
        if len(set(names)) < len(names):
            raise InvalidData(f"a joint names each variable once; got {', '.join(names)}")
        scope = Scope(self.model.variable(name) for name in names)
        if any(variable.is_real for variable in scope):
            return self.answers.distribution(names, self.is_single)
        check_joint(scope, self.findings.num_rows)
        values = self.answers.marginal(names)
        return Factor(scope, values[0]) if self.is_single else RowFactors(scope, values)

    @cached_property
    def array(self) -> np.ndarray:
        """The marginals of all nodes of a `PairwiseNetwork`: (*shape, state), as (height, width, state) of a grid.

        With many rows of evidence it is (row, *shape, state).
        """
        if not isinstance(self.model, PairwiseNetwork) or len(self.targets) < self.model.num_nodes:
            raise Unsupported("array holds the marginals of all nodes of a PairwiseNetwork; here beliefs[name] is one")
        nodes = self.answers.all_marginals()
        if nodes is None:
            nodes = np.stack([self.answers.marginal((name,)) for name in self.model.names], axis=1)
        shaped = nodes.reshape(-1, *self.model.shape, self.model.num_states)
        return shaped[0] if self.is_single else shaped

    def mixture(self, name: str) -> Mixture:
        """The marginal of a real variable given one row of evidence, as a `Mixture` of Gaussians.

        Components that weigh less than 1e-15 are left out.
        """
        if isinstance(name, str) and name in self and not self.model.variable(name).is_real:
            raise InvalidData(
                f"{name!r} has states, and beliefs[{name!r}] is its table; mixtures are of real variables"
            )
        from juncture.inference.engines.posterior_mixtures import as_mixture

        return as_mixture(self[name], name)

    def _check_target(self, name: str) -> None:
        if name not in self.targets:
            self.model.variable(name)
            raise UnknownVariable(f"{name!r} was not among the targets of this query; add it to targets=")

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → state → probability (one number, or one a row); of a real variable, its mean and its variance."""
        return {name: summarize(self[name]) for name in self.targets}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, state and probability, with the row first when there are many.

        Where all variables are real: of variable, mean and variance. Where some are, it has all these columns.
        """
        real = [name for name in self.targets if self.model.variable(name).is_real]
        unit, summaries = None if self.is_single else "row", self.to_dict()
        moments = moments_frame({name: cast("Any", summaries[name]) for name in real}, unit) if real else None
        if moments is not None and len(real) == len(self.targets):
            return moments
        tables = marginals_frame({name: summaries[name] for name in self.targets if name not in real}, unit)
        return tables if moments is None else join_frames([tables, moments])

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per row of evidence, with the index of its frame, and a column for each state.

        The columns are named "variable=state"; those of a real variable "mean of variable" and "variance of variable".
        """
        return wide_frame({name: self[name] for name in self.targets}, self.findings.index)

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` rows of all variables drawn from the posterior, given one row of evidence."""
        return draw_posterior(self.engine, self.model, self.findings, n, rng)

    @cached_property
    def conflict(self) -> Any:
        """How much the findings contradict each other: log Π p(finding) / p(evidence); above 0 they do.

        Nothing was observed or only one thing: 0.
        """
        total = self.log_evidence_of(self.findings.only())
        singles = [self.log_evidence_of(self.findings.only(name)) - total for name in self.findings.names]
        values = np.sum(singles, axis=0, initial=0.0) - (self.answers.log_evidence - total)
        values = np.where(np.isneginf(self.answers.log_evidence), np.inf, values)
        return float(values[0]) if self.is_single else values

    def log_evidence_of(self, findings: Findings) -> np.ndarray:
        """Log p of other findings, by the same engine; one number a row."""
        return self.engine.ask(self.model, Query(findings)).log_evidence

    def with_evidence(self, evidence: Mapping[str, Any]) -> Beliefs:
        """New beliefs with more findings; these stay as they are. A mapping goes to every row."""
        more = as_findings(evidence, self.model.variables)
        if more.is_single and not self.is_single:
            more = more.repeat(self.findings.num_rows)
        findings = self.findings.merge(more)
        beliefs = Beliefs.of(self.model, self.engine, Query(findings, self.targets))
        check_possible(beliefs)
        return beliefs

    def __repr__(self) -> str:
        from juncture.inference.engines.display import beliefs_text

        return beliefs_text(self)

    def to_diagram(self) -> Drawing:
        """One row: the model with a bar per state in its nodes; many: the distributions of the first rows.

        One row of a large grid: an image of the probability of each state but the first.
        """
        from juncture.inference.engines.display import rows_diagram, table_shares
        from juncture.networks.picture import show_beliefs

        alone, model = self.is_single, self.model
        if alone and isinstance(model, PairwiseNetwork) and model.is_image and len(self.targets) == model.num_nodes:
            shown = enumerate(model.states)
            from juncture.drawing.rasters import Rasters

            return Rasters.of({f"p({state})": self.array[..., code] for code, state in shown if code > 0})
        if self.is_single:
            return show_beliefs(self.model.to_diagram(), self)
        tables = [name for name in self.targets if not self.model.variable(name).is_real]
        parts = (table_shares(self[name].scope, self[name].values) for name in tables)
        return rows_diagram(parts, self.findings.num_rows, self.findings.index, len(tables))

    def _repr_html_(self) -> str:
        from juncture.inference.engines.display import beliefs_html

        return beliefs_html(self)


def check_joint(scope: Scope, num_rows: int) -> None:
    """Raise `TooLarge` for a joint table that would not fit in memory."""
    what = f"the joint of {number_of(len(scope), 'variable')} for {number_of(num_rows, 'row')}"
    check_memory(8 * 4 * scope.size * num_rows, what, "ask for fewer variables")


def check_possible(beliefs: Beliefs, on_impossible: str = "raise") -> None:
    """Raise for a single impossible row, warn (or raise, on request) for some among many.

    An engine that answers each question alone may find p(evidence) too large; its answers then check themselves.
    """
    if beliefs.answers.checks_itself:
        return
    known = beliefs.answers.possible_evidence()
    if beliefs.is_single and known[0] > -math.inf:
        return
    check_evidence(
        known,
        lambda row: explain(beliefs, row),
        is_single=beliefs.is_single,
        on_impossible=on_impossible,
    )


def explain(beliefs: Beliefs, row: int) -> str:
    findings = beliefs.findings.row(row)

    def is_possible(some: Findings) -> bool:
        try:
            return bool(beliefs.engine.ask(beliefs.model, Query(some)).possible_evidence()[0] > -math.inf)
        except Unsupported:  # without a number that the engine needs: the finding stays
            return True

    clash = minimal_clash(findings, is_possible)
    if not clash.names:
        return "the model itself gives every assignment the weight zero"
    described = [clash.describe(name) for name in clash.names]
    return f"{described[0]} cannot occur" if len(described) == 1 else f"{', '.join(described)} cannot occur together"


def minimal_clash(findings: Findings, is_possible: Callable[[Findings], bool]) -> Findings:
    """Findings of which none can be left out: each is dropped in turn, and kept if that makes the rest possible."""
    for name in findings.names:
        fewer = findings.without(name)
        if not is_possible(fewer):
            findings = fewer
    return findings
