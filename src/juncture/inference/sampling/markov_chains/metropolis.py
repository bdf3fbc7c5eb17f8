"""`Metropolis`: chains that propose a state and accept it with probability min(1, π(z) T(z, x) / (π(x) T(x, z))).

Only ratios of the product of factors are needed. By default each variable in turn is proposed another of its states,
all alike: cheaper than a Gibbs step where variables have many states, and better where it seldom stays. A model as
`proposal` draws whole assignments independently of the present one: good if that model is near the target. A user's
proposal may be anything that can be drawn and weighed. Metropolis et al. (1953); Hastings (1970).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from juncture.base.checks import shown
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, InvalidData, InvalidModel
from juncture.families.family import Distribution
from juncture.inference.engines.contract import Answers, Query, Question
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.sampling.markov_chains.blocks import BlockTransition, connecting_blocks
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine
from juncture.inference.sampling.markov_chains.chains import Chain, Spread, Transition
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.blocks import METROPOLIS
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.variables import State

SINGLE = "single"
Assignment = dict[str, State]


class Proposal(Protocol):
    """T(x, z): how a user's proposal leads from an assignment of the free variables to the next."""

    def sample(self, present: Assignment, rng: np.random.Generator) -> Assignment:
        """An assignment z drawn from T(x, ·); variables that it leaves out keep their states."""

    def log_prob(self, proposed: Assignment, present: Assignment) -> float:
        """Log T(x, z), up to a constant."""


@dataclass(frozen=True)
class Metropolis(ChainEngine):
    """Metropolis-Hastings sampling.

    Parameters
    ----------
    draws, chains, warmup, thin, progress, memory_limit
        As in `Gibbs`.
    proposal
        "single": each variable in turn is proposed another state, and together those that zeros would keep in place;
        a model over the same variables, whose draws are
        proposed whatever the present state is (an independence chain); or an object with the methods
        `sample(present, rng)`, an assignment drawn from T(present, ·), and `log_prob(proposed, present)`, log T. Both
        take mappings from the names of the unobserved variables to states. A step that cannot be taken back,
        T(x, z) > 0 and T(z, x) = 0, raises `InvalidModel`.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((3, 3), coupling=0.3, field=0.1)
    >>> beliefs = jt.infer(model, method=jt.Metropolis(draws=2000), rng=0)
    >>> error = abs(beliefs["x1_1"][1] - jt.infer(model)["x1_1"][1])
    >>> bool(error < 4 * beliefs.diagnostics.standard_error("x1_1")[1])
    True
    """

    proposal: Any = field(default=SINGLE)
    name: ClassVar[str] = "metropolis"

    def __post_init__(self) -> None:
        super().__post_init__()
        is_known = self.proposal == SINGLE if isinstance(self.proposal, str) else is_proposal(self.proposal)
        if not is_known:
            raise InvalidData(
                'proposal is "single", a model, or an object with the methods sample(present, rng) and'
                f" log_prob(proposed, present); got {shown(self.proposal)}"
            )

    def transition(self, model: Network, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
        cover = connecting_blocks(target)
        steps = BlockTransition(target, cover.blocks, kept_nodes, rule=METROPOLIS)
        if isinstance(self.proposal, str):
            return steps, cover.is_irreducible
        if isinstance(self.proposal, BayesianNetwork | FactorProduct):
            return IndependenceTransition.of(model, target, kept_nodes, self.proposal), True
        return ProposalTransition(model, steps, self.proposal), True if not target.zero_factors else None


def is_proposal(proposal: Any) -> bool:
    """Whether an object is a model, or can be drawn from and weighed."""
    if isinstance(proposal, type):
        return False
    return isinstance(proposal, BayesianNetwork | FactorProduct | Distribution)


@dataclass(frozen=True, eq=False)
class ProposalTransition:
    """Metropolis-Hastings with a user's proposal: one step a sweep."""

    model: Network
    steps: BlockTransition  # of single nodes, for the start
    proposal: Proposal

    @property
    def target(self) -> Target:
        return self.steps.target

    @property
    def work(self) -> float:
        return 1.0e4 + self.steps.work

    @property
    def num_kept(self) -> int:
        return self.steps.num_kept

    @cached_property
    def free(self) -> list[tuple[int, Any]]:
        """The unobserved variables of the model and their nodes."""
        return [(node, one) for node, one in enumerate(self.model.variables) if self.target.fixed[node] < 0]

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        if self.target.arrays.num_nodes > len(self.model.variables):
            raise InvalidModel(
                "a user's proposal takes models whose conditionals are tables; this one has hidden variables: use"
                ' proposal="single"'
            )
        return self.steps.start(rng, spread)

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        log_present = self.target.log_joint(chain.codes)
        for sweep in range(num_sweeps):
            codes, log_ratio = self.propose(chain.codes, chain.rng)
            log_proposed = self.target.log_joint(codes)
            uniform = chain.rng.random()
            if np.log(max(uniform, 1e-300)) < log_proposed - log_present + log_ratio:
                chain.codes[:], log_present = codes, log_proposed
            if len(kept) and (sweep + 1) % thin == 0:
                kept[sweep // thin] = chain.codes[self.steps.kept_nodes]

    def propose(self, codes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """The codes of a proposed state z, and log T(z, x) - log T(x, z)."""
        present = self.decode(codes)
        proposed = {**present, **self.proposal.sample(dict(present), rng)}
        forward = float(self.proposal.log_prob(dict(proposed), dict(present)))
        backward = float(self.proposal.log_prob(dict(present), dict(proposed)))
        if not forward > -np.inf:
            raise InvalidModel(f"the proposal drew {proposed} from {present}, but its log_prob of that is {forward:g}")
        if not backward > -np.inf:
            raise InvalidModel(
                f"the proposal leads from {present} to {proposed} and never back: T(x, z) > 0 needs T(z, x) > 0"
            )
        return self.encode(proposed, codes), backward - forward

    def decode(self, codes: np.ndarray) -> Assignment:
        return {variable.name: variable.labels[codes[node]] for node, variable in self.free}

    def encode(self, assignment: Assignment, codes: np.ndarray) -> np.ndarray:
        found = codes.copy()
        unknown = set(assignment) - {variable.name for _, variable in self.free}
        if unknown:
            raise InvalidData(f"the proposal names {min(unknown)!r}, which is observed or no variable")
        for node, variable in self.free:
            found[node] = variable.code(assignment[variable.name])
        return found


DRAWS = frozenset({Question.DRAWS, Question.LOG_EVIDENCE})
ATTEMPTS = 1000  # draws, to find a start
BLOCK = 256  # steps whose proposals are drawn at once, by a generator of their own
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class IndependenceTransition:
    """Steps to draws of another model, given the same evidence."""

    model: Network
    target: Target
    kept_nodes: np.ndarray
    proposal: Any
    answers: Answers  # of the proposing model, given the evidence

    @classmethod
    def of(cls, model: Network, target: Target, kept_nodes: np.ndarray, proposal: Any) -> IndependenceTransition:
        own, theirs = model.variables, proposal.variables
        if set(own.names) != set(theirs.names) or any(proposal.variable(one.name) != one for one in own):
            raise InvalidModel("a proposing model has the same variables as the model, with the same states")
        if target.arrays.num_nodes > len(own):
            raise InvalidModel("a proposing model takes models whose conditionals are tables")
        starts = target.arrays.state_starts
        fields = {one.name: target.field[starts[node] : starts[node + 1]] for node, one in enumerate(own)}
        soft = {name: np.exp(logs - logs.max())[np.newaxis] for name, logs in fields.items() if logs.any()}
        findings = Findings(tuple(theirs), likelihoods=soft)
        plan = JunctionTree().compile(proposal, findings.names, theirs.names)
        return cls(model, target, kept_nodes, proposal, plan.run(proposal, Query(findings, questions=DRAWS)))

    @property
    def work(self) -> float:
        return 100.0 * self.target.arrays.num_nodes

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        if self.answers.log_evidence[0] == -np.inf:
            raise ImpossibleEvidence("the evidence has probability zero in the proposing model")
        codes, log_ratios = self.propose(ATTEMPTS, rng)
        found = np.flatnonzero(log_ratios > -np.inf)
        if not len(found):
            raise ImpossibleEvidence(
                f"none of {ATTEMPTS} draws of the proposing model has positive probability in the model"
            )
        return codes[found[0]]

    def propose(self, num_draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(draw, node) codes, and (draw,) log π / q up to a constant."""
        columns = self.answers.sample(num_draws, rng)
        codes = np.stack([columns[name] for name in self.model.variables.names], axis=1).astype(np.int64)
        return codes, self.log_ratios(codes)

    def log_ratios(self, codes: np.ndarray) -> np.ndarray:
        """(assignment,): log π - log q, up to a constant; the likelihood of the evidence is in both."""
        columns = {name: codes[:, node] for node, name in enumerate(self.model.variables.names)}
        return self.target.log_joints(codes) - self.proposal.log_joint_of(columns) - self.log_fields(codes)

    def log_fields(self, codes: np.ndarray) -> np.ndarray:
        return np.asarray(self.target.field[self.target.arrays.state_starts[:-1] + codes].sum(axis=1))

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        present, end = float(self.log_ratios(chain.codes[np.newaxis])[0]), chain.num_sweeps + num_sweeps
        for block in range(chain.num_sweeps // BLOCK, -(-end // BLOCK)):
            child = np.random.default_rng([*chain.keys.tolist(), block])
            codes, log_ratios = self.propose(BLOCK, child)
            thresholds = np.log(np.maximum(child.random(BLOCK), TINY))
            for step in range(max(0, chain.num_sweeps - block * BLOCK), min(BLOCK, end - block * BLOCK)):
                if thresholds[step] < log_ratios[step] - present:
                    chain.codes[:], present = codes[step], log_ratios[step]
                done = block * BLOCK + step + 1 - chain.num_sweeps
                if len(kept) and done % thin == 0:
                    kept[done // thin - 1] = chain.codes[self.kept_nodes]
