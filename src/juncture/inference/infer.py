"""`infer`: a model and evidence in, beliefs out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from juncture.checks import check_choice
from juncture.data.dataset import Extra
from juncture.errors import Unsupported
from juncture.evidence import as_findings
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.impossible import check_possible
from juncture.inference.methods import engine_for
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.options import as_names
from juncture.verbs import taught_by


@taught_by(
    {
        "HiddenMarkovModel": "juncture.sequences.hidden_markov.infer",
        "MarkovChain": "juncture.sequences.markov_chains.infer",
        "Mixture": "juncture.latent.mixtures.infer",
        "LinearGaussianStateSpace": "juncture.sequences.state_space.infer",
    }
)
@singledispatch
def infer(
    model: Any,
    evidence: Any = None,
    *,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: Extra = "error",
    memory_limit: int | None = None,
) -> Any:
    """All posterior marginals of a model given evidence; with `targets`, only of these.

    Of a `BayesianNetwork` or a product of factors, evidence is a mapping (one row), or a frame, `Dataset`, list of
    mappings or `Evidence` (many rows). `method` is a name or an engine; with `on_impossible="raise"` rows of
    probability zero raise instead of having NaN with a warning; `extra` says what becomes of columns that are no
    variables; `memory_limit` in bytes refuses what would need more. The answer is `Beliefs`.

    Models in time order take a sequence, or a list of many and give a list; their options are others. Of a
    `HiddenMarkovModel` or a `MarkovChain`, `lengths` cuts one stacked array into sequences, and `on_impossible` is as
    above: the answer is `ChainBeliefs`, with `smoothed`, `filtered` and `predicted` laws. Of a
    `LinearGaussianStateSpace`, `lengths`: `StateSpaceBeliefs`, with their means and covariances. Of a `Mixture`, rows
    and `on_impossible`: `MixtureBeliefs` about the component.
    """
    raise Unsupported(f"infer takes a model; got {type(model).__name__}")


@infer.register(BayesianNetwork)
@infer.register(FactorProduct)
def infer_factors(
    model: Any,
    evidence: Any = None,
    *,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: Extra = "error",
    memory_limit: int | None = None,
) -> Beliefs:
    check_choice(on_impossible, ("warn", "raise"), "on_impossible")
    engine = engine_for(method, memory_limit)
    if targets is None and type(evidence) is dict:
        answers = engine.answer_at_once(model, evidence)
        if answers is not None:
            beliefs = Beliefs(model, engine, answers.targets, answers, True, answers.views, answers.marginals[0])
            check_possible(beliefs)
            return beliefs
    findings = as_findings(evidence, model.variables, extra=extra)
    beliefs = Beliefs.of(model, engine, findings, as_targets(model, targets))
    check_possible(beliefs, on_impossible)
    return beliefs


def as_targets(model: Any, targets: Sequence[str] | None) -> tuple[str, ...]:
    """The names asked for, each known to the model; all variables when none are named."""
    if targets is None:
        return tuple(model.variables.names)
    return tuple(model.variable(name).name for name in as_names(targets, "targets"))
