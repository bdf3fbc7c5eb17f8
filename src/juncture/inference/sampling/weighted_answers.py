"""The answers of weighted draws: self-normalised estimates p(state | evidence) ≈ Σ w 1[state] / Σ w, and their errors.

The standard error is that of the delta method for a ratio: Var = Σ w² (1[state] - p)² / (Σ w)². Joints and rows are
drawn again when they are asked for, from the same generators: draws are not kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, NotConvergedWarning, Unsupported, warn_user
from juncture.inference.engines.contract import Answers, Diagnostics, Engine, Request
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.importance_weights import chi_square, has_reliable_errors, pareto_k
from juncture.inference.sampling.weighted_draws import Tally, WeightedRun, join_batches
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class WeightedAnswers(Answers):
    """Estimates from weighted draws for each row of evidence."""

    run: WeightedRun
    tallies: Sequence[Tally]  # (row,)
    scope: Scope  # of the nodes, all with states; the first are the variables of the model
    findings: Findings
    diagnostics: Diagnostics
    engine_name: str

    @property
    def checks_itself(self) -> bool:
        """Always: that no draw has a weight does not prove that the evidence is impossible."""
        return True

    @cached_property
    def log_evidence(self) -> np.ndarray:
        return np.array([part.log_evidence for part in self.tallies])

    @cached_property
    def node_beliefs(self) -> np.ndarray:
        """(row, state of all nodes); NaN in a row without weights."""
        return np.array([beliefs_of(part, self.run.state_starts) for part in self.tallies])

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        nodes = [self.scope.axis(name) for name in names]
        if len(nodes) == 1:
            start, stop = self.run.state_starts[nodes[0] : nodes[0] + 2]
            return self.node_beliefs[:, start:stop]
        return np.array([self.joint(row, nodes) for row in range(len(self.tallies))])

    def joint(self, row: int, nodes: Sequence[int]) -> np.ndarray:
        """p(nodes | evidence of a row), an axis for each node."""
        shape = tuple(self.scope[node].num_states for node in nodes)
        part, counts = self.tallies[row], np.zeros(math.prod(shape))
        if part.is_empty:
            return np.full(shape, np.nan)
        for batch in self.run.batches(row):
            cells = np.ravel_multi_index(tuple(batch.codes[list(nodes)]), shape) if nodes else 0 * batch.codes[0]
            counts += np.bincount(cells, np.exp(batch.log_weights - part.log_scale), minlength=len(counts))
        return (counts / counts.sum()).reshape(shape)

    def distribution(self, names: tuple[str, ...], is_single: bool) -> Any:
        """The marginal of a real variable: the draws as points, each with its weight."""
        from juncture.inference.engines.posterior_mixtures import RealMarginal

        if len(names) > 1:
            raise Unsupported(
                f"the engine {self.engine_name!r} has marginals of real variables, not joints; draw rows by jt.sample"
                " and look at these"
            )
        values, logs = self.real_draws(names[0])
        tops = np.array([[part.log_scale] for part in self.tallies])
        weights = np.exp(logs - np.where(np.isneginf(tops), 0.0, tops))
        weights /= weights.sum(axis=1, keepdims=True)
        points = [weights, values, np.zeros_like(values)]
        return RealMarginal(names[0], *(each[0] if is_single else each for each in points))

    def real_draws(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The draws of a real variable, and the logarithms of their weights, (row, draw)."""
        batches = [join_batches(list(self.run.batches(row))) for row in range(len(self.tallies))]
        values = np.array([batch.reals[name] for batch in batches])
        return values, np.array([batch.log_weights for batch in batches])

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Rows drawn anew from the weighted draws, with replacement: no more different ones than there are draws."""
        part = self.tallies[0]
        weights = np.exp(part.log_weights - part.log_scale)
        chosen = rng.choice(part.num_draws, num_rows, p=weights / weights.sum())
        batch = join_batches(list(self.run.batches(0)))
        columns = dict(zip(self.scope.names, batch.codes[:, chosen], strict=True))
        columns.update({name: values[chosen] for name, values in batch.reals.items()})
        return {variable.name: columns[variable.name] for variable in self.findings.variables}

    def draws(self) -> Draws:
        """The draws given a single row of evidence, with their weights."""
        batch = join_batches(list(self.run.batches(0)))
        columns = {**dict(zip(self.scope.names, batch.codes, strict=True)), **batch.reals}
        names = [variable.name for variable in self.findings.variables]
        logs = batch.log_weights
        return Draws(
            {name: columns[name][np.newaxis] for name in names},
            self.findings.variables,
            None if (logs == logs[0]).all() else logs[np.newaxis],
        )

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer mode")

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer expected")


def beliefs_of(part: Tally, state_starts: np.ndarray) -> np.ndarray:
    """(state of all nodes,): the share of the weights that each state has."""
    if part.is_empty:
        return np.full(state_starts[-1], np.nan)
    totals = np.add.reduceat(part.sums, state_starts[:-1]) if len(state_starts) > 1 else np.empty(0)
    return np.asarray(part.sums / np.repeat(totals, np.diff(state_starts)))


def errors_of(part: Tally, beliefs: np.ndarray) -> np.ndarray:
    """The standard error of each share, with what one effective draw counts added to it.

    So a state that no draw has, or only draws of little weight, has an error that allows for those that were missed;
    all the more where a draw that was missed may weigh more than all draws together.
    """
    if part.is_empty:
        return np.full(len(beliefs), np.nan)
    variances = ((1.0 - 2.0 * beliefs) * part.squares + beliefs**2 * part.square) / part.total**2
    one_draw = part.square / part.total**2
    return np.asarray(np.sqrt(np.maximum(variances, 0.0) + one_draw**2 + part.missed_share**2))


def make_answers(
    run: WeightedRun, tallies: Sequence[Tally], scope: Scope, findings: Findings, engine: Engine, repeat: Engine | None
) -> WeightedAnswers:
    """The answers with their diagnostics; warns of weights that vary too much, refuses draws without any weight."""
    check_weights(tallies, findings, engine.name)
    if any(part.num_exact for part in tallies):
        run = replace(run, replaced=[part.log_weights for part in tallies])  # those of draws that count
    answers = WeightedAnswers(run, tallies, scope, findings, Diagnostics(exact=False), engine.name)
    found = diagnose(answers, repeat)
    missed = max((part.missed_share for part in tallies), default=0.0)
    if missed > 0.0:
        warn_user(
            f"the draws of {engine.name!r} cannot tell their error: by the tables of the model, a draw may weigh more"
            f" than {number_of(tallies[0].num_draws, 'draw')} of the largest weight that was met, so that a rare cause"
            " may have most of the evidence; take more draws, or method='importance'",
            NotConvergedWarning,
        )
    elif not found.converged:
        warn_user(
            f"the weights of {engine.name!r} vary too much for their errors to be trusted:"
            f" {number_of(tallies[0].num_draws, 'draw')} count as {found.effective_sample_size:.3g}, and Pareto's k is"
            f" {found.pareto_k:.2g}; take more draws, or a better proposal",
            NotConvergedWarning,
        )
    return replace(answers, diagnostics=found)


def diagnose(answers: WeightedAnswers, repeat: Engine | None) -> Diagnostics:
    """Of many rows the smallest effective sample size, and the largest chi-square and Pareto's k."""
    parts = [part for part in answers.tallies if not part.is_empty]
    worst = max((pareto_k(part.log_weights) for part in parts), default=-math.inf)
    is_reliable = all(part.missed_share == 0.0 and has_reliable_errors(part.log_weights) for part in parts)
    errors = np.array([part.log_evidence_error for part in answers.tallies])
    return Diagnostics(
        exact=False,
        converged=is_reliable,
        steps=max((part.num_draws for part in answers.tallies), default=0),
        standard_errors=standard_errors(answers),
        effective_sample_size=min((part.effective_sample_size for part in parts), default=0.0),
        chi_square=max((chi_square(part.log_weights) for part in parts), default=0.0),
        pareto_k=worst,
        log_evidence_error=float(errors[0]) if answers.findings.is_single else errors,
        engine=repeat,
    )


def standard_errors(answers: WeightedAnswers) -> dict[str, np.ndarray]:
    """Name → (state,) or (row, state); 0 for an observed variable. Of a real variable that of its mean."""
    starts, findings = answers.run.state_starts, answers.findings
    pairs = zip(answers.tallies, answers.node_beliefs, strict=True)
    errors = np.array([errors_of(part, beliefs) for part, beliefs in pairs])
    found = {}
    for variable in findings.variables:
        if variable.is_real:
            found[variable.name] = real_errors(answers, variable.name)
            continue
        node = answers.scope.axis(variable.name)
        own = errors[:, starts[node] : starts[node + 1]]
        if variable.name in findings.codes:
            own = np.where(findings.is_observed(variable.name)[:, np.newaxis], 0.0, own)
        found[variable.name] = own[0] if findings.is_single else own
    return found


def real_errors(answers: WeightedAnswers, name: str) -> np.ndarray:
    """The standard error of the mean of a real variable, by the delta method."""
    values, logs = answers.real_draws(name)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-1e300))
    weights /= weights.sum(axis=1, keepdims=True)
    means = (weights * values).sum(axis=1, keepdims=True)
    errors = np.sqrt((weights**2 * (values - means) ** 2).sum(axis=1))
    errors[[part.missed_share > 0.0 for part in answers.tallies]] = np.inf
    return np.asarray(errors[0] if answers.findings.is_single else errors)


def check_weights(tallies: Sequence[Tally], findings: Findings, name: str) -> None:
    """Raise for a single row of evidence with which no draw agrees; warn of some among many."""
    empty = [row for row, part in enumerate(tallies) if part.is_empty]
    if not empty:
        return
    draws = number_of(tallies[empty[0]].num_draws, "draw")
    advice = "it is impossible, or too rare for this engine: method='importance' or 'exact' may tell"
    if findings.is_single:
        raise ImpossibleEvidence(f"none of {draws} of {name!r} agrees with the evidence; {advice}")
    warn_user(
        f"none of {draws} of {name!r} agrees with the evidence of {number_of(len(empty), 'row')} of {len(tallies)}, the"
        f" first is row {empty[0]}; {advice}; their answers are NaN and `impossible` holds their indices",
        ImpossibleEvidenceWarning,
    )
